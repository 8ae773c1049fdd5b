"""Scores of candidates in a background corpus (Chiang et al. 2008, section 4.1), and passes of MIRA with them.

B(e) = length(b + e) * metric(b + e), where b is a running sum of statistics of candidates chosen before, decayed after
every sentence. Corpus metrics say little about a single sentence; in company of b they do, in units of words.

b starts with a 1 for every statistic (as kbmira's), so that nothing is divided by 0 in the first sentences. The length
is that of the references: the metric's own effective one in the SIMPBLEU family, else the sentence's references' mean.
For a metric that does not decompose, statistics (score, 1), B is the sentence score times the length of an average
sentence, up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import ALIASES, NAME, Metric, SimpBleu
from lasw.tuning.optimisers.mira import kernel
from lasw.tuning.pool import Columns, Features, Floats, model_scores

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

_PENALTIES = {
    "none": kernel.NO_PENALTY,
    "plain": kernel.PLAIN,
    "smoothed": kernel.SMOOTHED,
    "reference": kernel.REFERENCE,
    "reversed": kernel.REVERSED,
}


def background_of(metric: Metric, pool: Pool, columns: Columns) -> Background:
    """The background for a metric; compiled for the SIMPBLEU family, by the metric's own methods for any other."""
    statistics = pool.statistics(metric)[columns.order].astype(np.float64)
    if isinstance(metric, SimpBleu) and metric.corpus == "sum" and metric.refs == "joint":
        return FamilyBackground(metric, statistics, columns.starts)
    return Background(metric, statistics, columns.starts, _lengths(pool, columns))


@dataclass
class Walk:
    """The weights on their way.

    Attributes:
        starts: (S' + 1,) where each sentence's candidates begin.
        features: of the candidates.
        inverse: (d + p,) 1 / the unit of each column, 0 for columns that stay.
        settings: c, decay, model_bg and safe_hope of MIRA.
        weights: (d + p,).
        lag: (d + p,) see `lasw.tuning.optimisers.mira.kernel`.
        time: sentences so far.
    """

    starts: NDArray[np.int64]
    features: Features
    inverse: Floats
    settings: tuple[float, float, bool, bool]
    weights: Floats
    lag: Floats
    time: int = 0

    @property
    def mean(self) -> Floats:
        """(d + p,) the mean of the weights behind all sentences so far."""
        return self.weights - self.lag / self.time


class Background:
    """The background corpus for any metric.

    Args:
        metric: any.
        statistics: (n, k) float64 of the candidates, sentence by sentence.
        starts: (S' + 1,) where each sentence's candidates begin.
        lengths: (S',) reference length of each sentence; None: the last statistic is the candidate's.
    """

    def __init__(
        self, metric: Metric, statistics: Floats, starts: NDArray[np.int64], lengths: Floats | None = None
    ) -> None:
        self.metric = metric
        self.statistics = statistics
        self.total = np.ones(statistics.shape[1])
        self._lengths = lengths
        self._length = 1.0
        # The last row takes three places, however short the lists are.
        self._room = np.empty((3, max(3, int(np.diff(starts).max()))))

    def corpus_score(self, rows: NDArray[np.int64]) -> float:
        """The metric's corpus score of some candidates."""
        return float(self.metric.corpus_score(self.statistics[rows].sum(axis=0)))

    def scores(self, sentence: int, first: int, last: int) -> Floats:
        """(last - first,) B of a sentence's candidates."""
        assert self._lengths is not None
        length = self._length + float(self._lengths[sentence])
        return length * self.metric.corpus_scores(self.statistics[first:last] + self.total)

    def take(self, sentence: int, row: int, decay: float) -> None:
        """Decay the background and add a candidate of a sentence."""
        assert self._lengths is not None
        self.total = decay * self.total + self.statistics[row]
        self._length = decay * self._length + float(self._lengths[sentence])

    def go_over(self, turn: NDArray[np.int64], walk: Walk) -> int:
        """One pass of MIRA over the sentences in the order `turn`; the number of steps."""
        features, starts, weights, lag, inverse = walk.features, walk.starts, walk.weights, walk.lag, walk.inverse
        c, decay, model_bg, safe = walk.settings
        model, _, chosen = self._room
        d, moves, time = features[0].shape[1], 0, walk.time
        for place, s in enumerate(turn.tolist()):
            first, last = int(starts[s]), int(starts[s + 1])
            model_scores(features, weights[:d], weights[d:], first, model[: last - first])
            metric = np.ascontiguousarray(self.scores(s, first, last))
            kernel.choose(model, metric, last - first, safe, chosen)
            hope, fear, best = (int(k) for k in chosen[:3])
            gain = float(metric[hope] - metric[fear])
            if gain > 0:
                moves += kernel.step(first + hope, first + fear, gain, features, inverse, c, weights, lag, time + place)
            self.take(s, first + (best if model_bg else hope), decay)
        return moves


class FamilyBackground(Background):
    """The same for a metric of the SIMPBLEU family, whose corpus score is compiled."""

    def __init__(self, metric: SimpBleu, statistics: Floats, starts: NDArray[np.int64]) -> None:
        super().__init__(metric, statistics, starts)
        self._family = family_of(metric)
        self._alpha = float(metric.corpus_alpha)

    def scores(self, sentence: int, first: int, last: int) -> Floats:
        """See `Background`."""
        scores = np.empty(last - first)
        kernel.family_scores(first, last, self.statistics, self.total, self._family, self._alpha, scores)
        return scores

    def take(self, sentence: int, row: int, decay: float) -> None:
        """See `Background`."""
        self.total = decay * self.total + self.statistics[row]

    def go_over(self, turn: NDArray[np.int64], walk: Walk) -> int:
        """See `Background`."""
        moves: Any = kernel.family_pass(
            turn, walk.starts, walk.features, self.statistics, self._family, self._alpha, walk.inverse, walk.settings,
            walk.weights, walk.lag, self.total, walk.time, self._room,
        )  # fmt: skip
        return int(moves)


def family_of(metric: SimpBleu) -> NDArray[np.int64]:
    """(6,) what the kernel has to know of a metric: see `mira_kernel.RECALL` and those after it."""
    letters = NAME.fullmatch(ALIASES.get(metric.name, metric.name))
    assert letters is not None
    settings = dict(metric.signature().settings)
    return np.array(
        [
            letters["ratio"] == "R",
            letters["mean"] == "A",
            int(letters["order"]),
            _PENALTIES[settings["bp"]],
            metric.smoothing == "lin-och",
            metric.orders == "effective",
        ],
        dtype=np.int64,
    )


def _lengths(pool: Pool, columns: Columns) -> Floats:
    """(S',) mean length of each sentence's references; of its candidates where there are none."""
    starts = columns.starts
    if not pool.compared:
        lengths = pool.lengths[columns.order].astype(np.float64)
        return np.asarray(np.add.reduceat(lengths, starts[:-1]) / np.diff(starts))
    references = pool.references
    mean = np.mean([corpus.lengths for corpus in references.corpora], axis=0)
    return np.asarray(mean[pool.owner[columns.order[starts[:-1]]]], dtype=np.float64)
