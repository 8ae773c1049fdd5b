"""MIX: a weighted sum of metrics as a metric, ``MIX:BLEU=0.5:TER=0.5``.

A term is a specification with `=` and its weight behind it, terms have colons between: in
``MIX:PABC4:alpha=3:bp=plain=0.7:TER=0.3`` the first term is PABC4:alpha=3:bp=plain. A term ends where a weight stands,
which is the second `=` of an option or the first of a name. Weights may be negative; they are not normalised, so 1 is
the score of a perfect text only where they sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import LARGEST, Lookup, Metric, Signature
from lasw.metrics.errors import UserError
from lasw.metrics.registry import metric
from lasw.metrics.text import CandidatePairs, Corpus, References, Vocabulary

_GRAMMAR = "MIX:SPEC=WEIGHT:SPEC=WEIGHT, as MIX:BLEU=0.5:PABC4:alpha=3=0.5"


@dataclass(frozen=True)
class Mixture(Metric):
    """The weighted sum of the scores of several metrics, by sentence and by corpus.

    Args:
        metrics: two or more, or one to be scaled.
        weights: as many numbers, of size at most `LARGEST`.

    Statistics: those of the metrics side by side, float64.

    Raises:
        UserError: no metrics, another number of weights, or a weight that is no such number.
    """

    metrics: tuple[Metric, ...]
    weights: tuple[float, ...]

    name = "MIX"

    def __post_init__(self) -> None:
        if not self.metrics or len(self.metrics) != len(self.weights):
            raise UserError(
                f"MIX of {len(self.metrics)} metrics and {len(self.weights)} weights", expected="one weight a metric"
            )
        for weight in self.weights:
            if not abs(weight) <= LARGEST:  # NaN is not
                raise UserError(f"MIX: weight {weight}", expected=f"a number from {-LARGEST:g} to {LARGEST:g}")

    @classmethod
    def from_text(cls, text: str) -> Mixture:
        """The metric whose terms are ``SPEC=WEIGHT:SPEC=WEIGHT``.

        Raises:
            UserError: not of this form, or a term is no metric.
        """
        metrics: list[Metric] = []
        weights: list[float] = []
        term: list[str] = []
        for part in text.split(":"):
            rest, equals, last = part.rpartition("=")
            if equals and (not term or "=" in rest):
                metrics.append(_inner(":".join([*term, rest])))
                weights.append(_number(last))
                term = []
            else:
                term.append(part)
        if term:
            raise UserError(f"MIX: {':'.join(term)!r} without a weight", expected=_GRAMMAR)
        return cls(tuple(metrics), tuple(weights))

    def signature(self) -> Signature:
        """Weights, each with the name and the settings of its metric behind it."""
        settings: list[tuple[str, str]] = []
        for m, weight in zip(self.metrics, self.weights, strict=True):
            inner = m.signature()
            settings += [(f"{weight!r}", inner.name), *inner.settings]
        return Signature(self.name, tuple(settings))

    @property
    def of_words(self) -> bool:
        """If one of its metrics does."""
        return any(m.of_words for m in self.metrics)

    def lookups(self) -> tuple[Lookup, ...]:
        """Those of its metrics."""
        return tuple(dict.fromkeys(lookup for m in self.metrics for lookup in m.lookups()))

    def statistics_key(self) -> str:
        """The same for all weights."""
        return "mix(" + ")(".join(m.statistics_key() for m in self.metrics) + ")"

    def prepare(self, references: References) -> tuple[Any, ...]:
        """What each metric makes of the references; made once for metrics with the same statistics."""
        made: dict[str, Any] = {}
        for m in self.metrics:
            key = m.statistics_key()
            made[key] = made[key] if key in made else m.prepare(references)
        return tuple(made[m.statistics_key()] for m in self.metrics)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[np.float64]:
        """Side by side."""
        return self._each(lambda m, digest: m.statistics(hypotheses, digest, owner), prepared)

    def _each(self, make: Callable[[Metric, Any], NDArray[Any]], prepared: Sequence[Any]) -> NDArray[np.float64]:
        """Statistics of all metrics side by side, made once for metrics with the same."""
        made: dict[str, NDArray[Any]] = {}
        for m, digest in zip(self.metrics, prepared, strict=True):
            key = m.statistics_key()
            if key not in made:
                made[key] = make(m, digest)
        return np.hstack([made[m.statistics_key()] for m in self.metrics]).astype(np.float64)

    @property
    def by_segment(self) -> bool:
        """If all its metrics do."""
        return all(m.by_segment for m in self.metrics)

    def prepare_pairs(self, vocabulary: Vocabulary) -> tuple[Any, ...]:
        """What each metric keeps."""
        return tuple(m.prepare_pairs(vocabulary) for m in self.metrics)

    def pair_statistics(self, pairs: CandidatePairs, prepared: Any) -> NDArray[np.float64]:
        """Side by side."""
        return self._each(lambda m, kept: m.pair_statistics(pairs, kept), prepared)

    def aggregated_statistics(
        self, pairs: CandidatePairs, weights: NDArray[np.float64], prepared: Any
    ) -> NDArray[np.float64]:
        """Side by side."""
        return self._each(lambda m, kept: m.aggregated_statistics(pairs, weights, kept), prepared)

    def sentence_scores(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) weighted sums of sentence scores."""
        parts = self._parts(statistics)
        scores = [m.sentence_scores(x) for m, x in zip(self.metrics, parts, strict=True)]
        return self._sum(scores, len(statistics))

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) weighted sums of corpus scores."""
        parts = self._parts(totals)
        return self._sum([m.corpus_scores(x) for m, x in zip(self.metrics, parts, strict=True)], len(totals))

    def score_gradient(self, total: NDArray[Any]) -> NDArray[np.float64]:
        """(k,) the metrics' own derivatives, weighted."""
        parts = self._parts(np.asarray(total)[None])
        slopes = [w * m.score_gradient(x[0]) for m, w, x in zip(self.metrics, self.weights, parts, strict=True)]
        return np.concatenate(slopes)

    def remarks(self, total: NDArray[Any]) -> tuple[str, ...]:
        """Those of the metrics."""
        parts = self._parts(np.asarray(total)[None])
        return tuple(line for m, x in zip(self.metrics, parts, strict=True) for line in m.remarks(x[0]))

    def _sum(self, scores: list[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
        total = np.zeros(n)
        for weight, x in zip(self.weights, scores, strict=True):
            total += weight * x
        return total

    def _parts(self, statistics: NDArray[Any]) -> list[NDArray[Any]]:
        """The columns of each metric."""
        one, two = self._widths
        # Some metrics have columns for every reference, so how many there are follows from the sum.
        more = sum(two) - sum(one)
        many = 0 if not more else (statistics.shape[1] - sum(one)) // more
        widths = [a + many * (b - a) for a, b in zip(one, two, strict=True)]
        if sum(widths) != statistics.shape[1]:
            raise ValueError(f"statistics of shape {statistics.shape} for {self.statistics_key()}")
        return np.split(statistics, np.cumsum(widths)[:-1], axis=1)

    @cached_property
    def _widths(self) -> tuple[list[int], list[int]]:
        """Columns of each metric with one reference and with two: a try says it, since no metric does."""
        sizes = []
        for count in (1, 2):
            references = References.from_lines(*[["a"]] * count)
            text = Corpus.from_lines(["a"], references.vocabulary)
            owner = np.zeros(1, dtype=np.int32)
            sizes.append([m.statistics(text, m.prepare(references), owner).shape[1] for m in self.metrics])
        return sizes[0], sizes[1]


def _inner(spec: str) -> Metric:
    if spec.partition(":")[0] == Mixture.name:
        raise UserError("a MIX within a MIX", remedy="write the weights' products in one")
    return metric(spec)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"MIX: weight {text!r}", expected=f"a number, in {_GRAMMAR}") from None
