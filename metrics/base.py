"""What every metric is: statistics per hypothesis that add up, and two ways to turn them into a score.

A metric works on token ids. `prepare` digests the references once; `statistics` may then be called on any number of
hypotheses, in any blocks. Corpus score = score of the summed statistics, so that a bootstrap, a line search or a pool
BLEU is a sum of rows. A metric that does not decompose has statistics (score, 1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.text import CandidatePairs, Corpus, References, Vocabulary, check_parallel

ROUNDING = 1e-12  # relative: scores that are equal by calculation, whatever the order of their sums, differ by less
LARGEST = 1e100  # of weights, settings and given scores: products and sums of a few such numbers do not overflow


def number_in(text: str) -> float | None:
    """The number that `text` is; None if it is none, not finite, or of a size above `LARGEST`."""
    try:
        value = float(text)
    except ValueError:
        return None
    plain = text.isascii() and "_" not in text  # other digits, and digits in groups, are Python's alone
    return value if plain and abs(value) <= LARGEST else None


def nearly_equal(first: float, second: float) -> bool:
    """Whether two scores differ by no more than `ROUNDING`."""
    return abs(first - second) <= ROUNDING * max(abs(first), abs(second))


def without_rounding(scores: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    """The same scores, those along `axis` that differ by no more than `ROUNDING` being the same number.

    Which is the smallest of them, each compared with the next larger. NaN stay what they are.
    """
    scores = np.moveaxis(np.asarray(scores, dtype=np.float64), axis, -1)
    order = np.argsort(scores, axis=-1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=-1)
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(ordered[..., 1:]), np.abs(ordered[..., :-1]))
        tied = np.diff(ordered, axis=-1) <= ROUNDING * size
    places = np.arange(scores.shape[-1]) * np.ones(scores.shape, dtype=np.int64)
    places[..., 1:][tied] = 0
    first = np.maximum.accumulate(places, axis=-1)
    merged = np.empty_like(scores)
    np.put_along_axis(merged, order, np.take_along_axis(ordered, first, axis=-1), axis=-1)
    return np.moveaxis(merged, -1, axis)


@dataclass(frozen=True)
class Signature:
    """All that makes a number reproducible, on one line: ``NAME|key:value|...|version:X``.

    Attributes:
        name: the metric's name, ``PABC4``.
        settings: every setting that changes the number, in a fixed order.
    """

    name: str
    settings: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        parts = [self.name, *(f"{key}:{value}" for key, value in self.settings), f"version:{version()}"]
        return "|".join(parts)

    def with_settings(self, settings: Mapping[str, str]) -> Signature:
        """The same signature with more settings behind its own (number of references, tokeniser, case)."""
        return Signature(self.name, self.settings + tuple(settings.items()))


def version() -> str:
    """This package's version."""
    return metadata.version("lasw")


@dataclass(frozen=True)
class Display:
    """How people read a score: an error rate is the rate, of which less is better, not one minus it.

    Attributes:
        scale: scores are multiplied by it.
        lower: the score is one minus an error rate, and the rate is what is read.
    """

    scale: float = 100.0
    lower: bool = False

    @property
    def better(self) -> str:
        """Which of two numbers is better: the ``lower`` or the ``higher``."""
        return "lower" if self.lower else "higher"

    @property
    def arrow(self) -> str:
        """The same as a mark behind a name."""
        return "↓" if self.lower else "↑"

    def value(self, score: Any) -> Any:
        """What is read of a score, before it is multiplied."""
        return 1 - score if self.lower else score

    def score(self, score: Any) -> Any:
        """What is read of a score, or of an array of them."""
        return self.scale * self.value(score)

    def difference(self, difference: Any) -> Any:
        """What is read of a difference of scores: that of a better error rate is below 0."""
        return (-self.scale if self.lower else self.scale) * difference

    def ends(self, low: float, high: float) -> tuple[float, float]:
        """Both ends of an interval of scores, the smaller number first."""
        first, second = sorted((self.score(low), self.score(high)))
        return first, second


def labels(specs: Sequence[str], displays: Sequence[Display]) -> list[str]:
    """What a table calls metrics: as they were asked for, with arrows where not all are better if higher."""
    arrows = any(one.lower for one in displays)
    return [f"{spec} {one.arrow}" if arrows else spec for spec, one in zip(specs, displays, strict=True)]


class Lookup(NamedTuple):
    """A file of word vectors, and the words that a token is looked up as; None: as it is."""

    path: str
    words: Callable[[str], list[str]] | None = None


class Metric(ABC):
    """A metric with fixed settings; higher is better.

    Scores of BLEU-like metrics are in [0, 1]. Where a person reads them they are multiplied by `display_scale`, and
    error rates, whose scores are one minus the rate, are read as rates (`error_rate`): see `display`.
    """

    name: str
    display_scale: float = 100.0
    error_rate: bool = False

    @property
    def display(self) -> Display:
        """How people read its scores."""
        return Display(self.display_scale, self.error_rate)

    @property
    def of_words(self) -> bool:
        """Whether it compares words: then texts that are cut into words in unlike ways have nothing in common."""
        return True

    @property
    def compares(self) -> bool:
        """Whether it looks at references; mostly."""
        return True

    def lookups(self) -> tuple[Lookup, ...]:
        """The word vectors that it needs; mostly none."""
        return ()

    def signature(self) -> Signature:
        """All settings of this metric that change its scores: by default the fields of the dataclass that it is."""
        names: list[str] = [setting.name for setting in fields(self)] if is_dataclass(self) else []
        name = f"1-{self.name}" if self.error_rate else self.name
        return Signature(name, tuple((name, self.shown(name)) for name in names))

    def displayed_signature(self) -> Signature:
        """All that makes a number reproducible that people read: that of an error rate is the rate's."""
        return Signature(self.name, self.signature().settings) if self.error_rate else self.signature()

    def shown(self, setting: str) -> str:
        """What the signature says of a setting; override for files, which their content tells apart."""
        value = getattr(self, setting)
        return f"{value:g}" if isinstance(value, float) else str(value) or "none"

    def statistics_key(self) -> str:
        """Metrics with the same key have the same statistics, which then need computing only once."""
        return str(self.signature())

    @abstractmethod
    def prepare(self, references: References) -> Any:
        """Digest the references once; what comes back goes into `statistics`."""

    @abstractmethod
    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """Additive statistics of each hypothesis.

        Args:
            hypotheses: n sentences, over the references' vocabulary.
            prepared: what `prepare` gave.
            owner: (n,) the segment that each hypothesis translates, in [0, number of segments).

        Returns:
            (n, k) int32 or float64.
        """

    @abstractmethod
    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) corpus scores of m sums of statistics (m, k)."""

    def corpus_score(self, total: NDArray[Any]) -> float:
        """The score of statistics summed over a corpus, (k,)."""
        return float(self.corpus_scores(np.asarray(total)[None])[0])

    def sentence_scores(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) scores of single sentences from their statistics (n, k); override where one is no corpus of its own."""
        return self.corpus_scores(statistics)

    @property
    def by_segment(self) -> bool:
        """Whether a segment's statistics depend on nothing but the segment, not on the other references."""
        return False

    def prepare_pairs(self, vocabulary: Vocabulary) -> Any:
        """What `pair_statistics` and `aggregated_statistics` may keep of the words that come up; mostly nothing."""
        return None

    def pair_statistics(self, pairs: CandidatePairs, prepared: Any) -> NDArray[Any]:
        """(P, k) statistics of every hypothesis against every single reference of its sentence.

        Override where pairs that share texts can be counted faster than one by one; the statistics stay the same.

        Args:
            pairs: of one sentence; of any number of them if `by_segment`.
            prepared: what `prepare_pairs` gave for their vocabulary.
        """
        references = self.prepare(References((pairs.references,)))
        return self.statistics(pairs.hypotheses.take(pairs.hypothesis), references, pairs.reference)

    def aggregated_statistics(
        self, pairs: CandidatePairs, weights: NDArray[np.float64], prepared: Any
    ) -> NDArray[np.float64]:
        """(n, k) statistics of each hypothesis against one reference that stands for all of its sentence.

        N-grams, and the length, are as many in it as in the references on average (Vamvas & Sennrich 2024).

        Args:
            pairs: as of `pair_statistics`.
            prepared: as of `pair_statistics`.
            weights: (m,) of the references, 1 in sum for each sentence.

        Raises:
            UserError: there is nothing in this metric that could be averaged.
        """
        raise UserError(f"{self.name} has no aggregated references", expected="BLEU, another of SIMPBLEU, CHRF")

    def remarks(self, total: NDArray[Any]) -> tuple[str, ...]:
        """What a person should know about the corpus score of `total`, one line each; mostly nothing."""
        return ()

    def score_gradient(self, total: NDArray[Any]) -> NDArray[np.float64]:
        """(k,) the corpus score's derivative in each statistic of `total`; 0 where there is none to be had.

        Central differences whose steps are relative, so that no count changes sign; override where it can be exact.

        Args:
            total: (k,) float64, not necessarily whole numbers.
        """
        at = np.asarray(total, dtype=np.float64)
        # The cube root of the precision balances what the step leaves out against what the subtraction loses.
        step = np.cbrt(np.finfo(np.float64).eps) * np.where(at != 0, np.abs(at), 1.0)
        upper, lower = at + np.diag(step), at - np.diag(step)
        with np.errstate(all="ignore"):
            scores = self.corpus_scores(np.vstack([upper, lower]))
            slope = (scores[: len(at)] - scores[len(at) :]) / (np.diag(upper) - np.diag(lower))
        return np.where(np.isfinite(slope), slope, 0.0)


class MeanMetric(Metric):
    """A metric that does not decompose: statistics (n, 2) float64, score and 1; the corpus score is the mean."""

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) means; of nothing 0."""
        return mean(totals)


def mean(sums: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) sums over numbers of (m, 2) sums and numbers; of nothing 0."""
    sums = np.asarray(sums, dtype=np.float64)
    return np.asarray(np.divide(sums[:, 0], sums[:, 1], out=np.zeros(len(sums)), where=sums[:, 1] > 0))


def with_ones(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2) the statistics of a `MeanMetric` from (n,) scores."""
    return np.column_stack([scores, np.ones_like(scores)])


@dataclass(frozen=True)
class Evaluation:
    """S systems over n segments.

    Attributes:
        references: of n segments.
        systems: S corpora of n sentences over the references' vocabulary.

    Raises:
        UserError: a system has another number of lines than the references.
    """

    references: References
    systems: tuple[Corpus, ...]
    _statistics: dict[str, list[NDArray[Any]]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for system in self.systems:
            check_parallel(self.references.corpora[0], system)

    def __repr__(self) -> str:
        return f"Evaluation({len(self.systems)} systems, {len(self.references)} segments)"

    @classmethod
    def from_lines(cls, references: Sequence[str] | References, *systems: Sequence[str]) -> Evaluation:
        """Of strings, a line a segment.

        Args:
            references: n lines; more than one reference by `References.from_lines`.
            systems: n hypotheses each.

        Raises:
            UserError: a system has another number of lines than the references.
            TypeError: something is one string, or holds no strings.
        """
        given = references if isinstance(references, References) else References.from_lines(references)
        return cls(given, tuple(Corpus.from_lines(lines, given.vocabulary) for lines in systems))

    def statistics(self, metric: Metric) -> list[NDArray[Any]]:
        """Statistics (n, k) of each system, shared by metrics with the same `statistics_key`."""
        key = metric.statistics_key()
        if key not in self._statistics:
            prepared = metric.prepare(self.references)
            owner = np.arange(len(self.references), dtype=np.int32)
            self._statistics[key] = [metric.statistics(system, prepared, owner) for system in self.systems]
        return self._statistics[key]

    def corpus_scores(self, metric: Metric) -> NDArray[np.float64]:
        """(S,) corpus scores."""
        return metric.corpus_scores(np.stack([x.sum(axis=0) for x in self.statistics(metric)]))

    def sentence_scores(self, metric: Metric) -> NDArray[np.float64]:
        """(S, n) sentence scores."""
        return np.stack([metric.sentence_scores(x) for x in self.statistics(metric)])
