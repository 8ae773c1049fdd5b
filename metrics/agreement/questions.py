"""Statistics by name, asked of one set of judgements: what people say is prepared once, for all metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.correlation import Correlation
from lasw.metrics.agreement.statistics import (
    SEGMENTS,
    STATISTICS,
    SYSTEMS,
    Asked,
    Rated,
    Statistic,
    Swaps,
    Values,
)
from lasw.metrics.errors import UserError

Floats = NDArray[np.float64]
Key = tuple[str, str]  # level and coefficient
Resample = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Measure:
    """One statistic of a metric's agreement with people.

    Attributes:
        correlation: of the data as they are.
        resample: from how often each of u units is drawn, (b, u), to (b,) correlations, NaN where undefined.
        scores: (n,) the metric's numbers, where the correlation is Pearson's, which Williams' test needs; else None.
        average: how things were grouped.
        groups: how many groups the value is the mean of.
        details: further numbers, by name.
        swaps: from several of it, one a metric, to the differences of the permutation test; None where there is none.
    """

    correlation: Correlation
    resample: Resample
    scores: Floats | None = None
    average: str = "none"
    groups: int = 1
    details: dict[str, float] = field(default_factory=dict)
    swaps: Callable[[Sequence[Measure]], Swaps | None] | None = None
    values: Values | None = None

    @property
    def linear(self) -> bool:
        """Whether it is Pearson's."""
        return self.scores is not None


@dataclass(frozen=True, eq=False)
class Systems:
    """What there is of whole systems, by how often each segment is drawn.

    Attributes:
        metric: (b, units) to (b, S) scores.
        people: (b, units) to (b, S) scores, NaN where people gave none.
        segments: (S, n) the metric's scores of segments, None if unknown.
    """

    metric: Resample
    people: Resample
    segments: Floats | None = None


class Questions:
    """What is asked of one set of judgements.

    Args:
        asked: statistics; those without an average get the customary one, of preferences ``none``.
        rated: what people say of segments.
        systems: (S,) people's scores of systems, NaN where there is none; None if there are no systems.
        segments: (S, n) their marks by system and segment, if known.

    Raises:
        UserError: none of a statistic's levels is there, or preferences are to be grouped by system.
    """

    def __init__(
        self, asked: Sequence[Asked], rated: Rated, systems: Floats | None, segments: Floats | None = None
    ) -> None:
        self._rated = rated
        self._kept = np.flatnonzero(~np.isnan(systems)) if systems is not None else np.empty(0, np.int64)
        self._systems = None
        if systems is not None:
            marks = None if segments is None else segments[self._kept]
            self._systems = _of_systems(systems[self._kept], marks)
        self._asked = [_settled(one, rated) for one in asked]
        for one in asked:
            if not any(self._has(STATISTICS.find(one.name), level) for level in (SEGMENTS, SYSTEMS)):
                found = f"statistic {one.name} of {'preferences' if rated.marks is None else 'marks'}"
                remedy = "name the systems in the table" if rated.marks is not None else "it needs marks"
                raise UserError(found, expected="judgements that have it", remedy=remedy)

    def measures(self, sentences: Floats, systems: Systems | None) -> dict[Key, Measure]:
        """Every statistic of one metric, of segments first.

        Args:
            sentences: (c,) its scores of the rated things.
            systems: what it says of systems; None if nothing.
        """
        measures: dict[Key, Measure] = {}
        for one in self._asked:
            statistic = STATISTICS.find(one.name)()
            if self._has(type(statistic), SEGMENTS):
                measures[SEGMENTS, one.name] = _measure(statistic, Values(sentences), self._rated, one)
        for one in self._asked:
            statistic = STATISTICS.find(one.name)()
            if systems is not None and self._has(type(statistic), SYSTEMS):
                measures[SYSTEMS, one.name] = self._of_systems(statistic, systems, replace(one, average="none"))
        return measures

    def _has(self, statistic: type[Statistic], level: str) -> bool:
        if level == SYSTEMS:
            return level in statistic.levels and self._systems is not None
        return level in statistic.levels and (self._rated.marks is not None or statistic.of_pairs)

    def _of_systems(self, statistic: Statistic, systems: Systems, asked: Asked) -> Measure:
        rated, kept = self._systems, self._kept
        assert rated is not None
        segments = None if systems.segments is None else systems.segments[kept]
        once = systems.metric(np.ones((1, self._rated.units)))[0, kept]
        measure = _measure(statistic, Values(once, segments), rated, asked)

        def resample(counts: Floats) -> Floats:
            rows = zip(systems.metric(counts)[:, kept], systems.people(counts)[:, kept], strict=True)
            return np.array([_value(statistic, metric, people, asked) for metric, people in rows])

        return replace(measure, resample=resample if statistic.resamples else measure.resample)


def _settled(asked: Asked, rated: Rated) -> Asked:
    if rated.marks is not None:
        average = asked.average or STATISTICS.find(asked.name).average
        if average == "system" and not rated.systems:
            raise UserError("--average system", expected="judgements that name systems")
        return replace(asked, average=average)
    if asked.average == "system":
        raise UserError("--average system of preferences", expected="none or item", remedy="they are between systems")
    return replace(asked, average=asked.average or "none")


def _of_systems(scores: Floats, segments: Floats | None) -> Rated:
    item = np.zeros(len(scores), dtype=np.int64)
    return Rated(len(scores), scores, item, 1, of_systems=True, segments=segments)


def _measure(statistic: Statistic, values: Values, rated: Rated, asked: Asked) -> Measure:
    finding = statistic.find(values, rated, asked)

    def resample(counts: Floats) -> Floats:
        return statistic.resampled(values, rated, asked, counts)

    def swaps(several: Sequence[Measure]) -> Swaps | None:
        return statistic.swaps([one.values for one in several if one.values is not None], rated, asked)

    linear = asked.name == "pearson" and asked.average == "none"
    scores = values.metric if linear else None
    found = (finding.correlation, resample, scores, asked.average, finding.groups, finding.details)
    return Measure(*found, swaps=swaps, values=values)


def _value(statistic: Statistic, metric: Floats, people: Floats, asked: Asked) -> float:
    """Of systems in one resampled set, in which some may have no score of people."""
    there = ~np.isnan(people)
    value = statistic.find(Values(metric[there]), _of_systems(people[there], None), asked).correlation.value
    return np.nan if value is None else value
