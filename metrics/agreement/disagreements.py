"""Where a metric and people disagree most: translations (or pairs of them), with their texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.direct_assessment import DirectAssessment
from lasw.metrics.agreement.marked import MarkedSystems
from lasw.metrics.agreement.people import Judged, people_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Translation:
    """One translation.

    Attributes:
        system: or several, or nothing if unknown.
        segment: 0-based.
        text: the translation.
        reference: the first.
        score: the metric's.
        mark: people's, None where they compared.
    """

    system: str
    segment: int
    text: str
    reference: str
    score: float
    mark: float | None


def largest_disagreements(data: Judged, scores: Floats, count: int) -> tuple[list[tuple[Translation, ...]], ...]:
    """The `count` largest disagreements of a kind, each kind's largest first.

    Args:
        data: with texts.
        scores: (c,) the metric's, of the rated things.
        count: how many.

    Returns:
        Of marks: translations that the metric puts far too high, and far too low, by the share of translations below
        them on either scale. Of preferences: pairs of which people prefer the first and the metric the second,
        by how much.
    """
    rated = people_of(data).rated
    if rated.marks is not None:
        lead = _shares(scores) - _shares(rated.marks)
        order = np.argsort(-lead, kind="stable")
        high = [k for k in order.tolist()[:count] if lead[k] > 0]
        low = [k for k in order.tolist()[::-1][:count] if lead[k] < 0]
        return tuple([(_translation(data, k, scores, rated.marks),) for k in part] for part in (high, low))
    pairs = rated.compared
    assert pairs is not None
    ahead = np.flatnonzero(pairs.sign > 0)
    lead = scores[pairs.second[ahead]] - scores[pairs.first[ahead]]
    order = np.argsort(-lead, kind="stable")
    kept = ahead[order[lead[order] > 0]]
    both = dict.fromkeys(zip(pairs.first[kept].tolist(), pairs.second[kept].tolist(), strict=True))  # of several judges
    return ([tuple(_translation(data, k, scores, None) for k in pair) for pair in list(both)[:count]],)


def _shares(values: Floats) -> Floats:
    """(c,) the share of values below each, equal ones counting half."""
    from scipy.stats import rankdata

    return np.asarray((rankdata(values) - 0.5) / len(values))


def _translation(data: Judged, thing: int, scores: Floats, marks: Floats | None) -> Translation:
    evaluation = data.evaluation
    mark = None if marks is None else float(marks[thing])
    score = float(scores[thing])
    if isinstance(data, DirectAssessment):
        system = " ".join(name for name, gave in zip(data.systems, data.gave[:, thing], strict=True) if gave)
        texts = (evaluation.systems[0].text(thing), evaluation.references.corpora[0].text(thing))
        return Translation(system, int(data.segments[thing]), *texts, score, mark)
    if isinstance(data, MarkedSystems):
        system_place, segment = (int(x[thing]) for x in np.nonzero(~np.isnan(data.marks)))
    else:
        system_place, segment = divmod(thing, len(evaluation.references))
    texts = (evaluation.systems[system_place].text(segment), evaluation.references.corpora[0].text(segment))
    return Translation(data.systems[system_place], segment, *texts, score, mark)
