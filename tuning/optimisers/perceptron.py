"""The averaged perceptron (Liang et al. 2006): towards the oracle wherever another candidate scores best.

    w += rate (h(oracle) - h(best-scoring))

sentence by sentence, unless the metric finds the two equally good. What counts is the mean of the weights behind all
sentences so far (Collins 2002); of the passes the one whose mean gives the best corpus score wins, as in batch MIRA.
"""

from __future__ import annotations

from dataclasses import dataclass

from lasw.metrics import Metric
from lasw.tuning.optimisers.base import DEFAULT_SEED, above_zero, at_least
from lasw.tuning.optimisers.online import OnlineOptimiser, Parts, Rival, Step
from lasw.tuning.optimisers.oracle import MU, OracleChoice, is_mixed


@dataclass(frozen=True)
class Perceptron(OnlineOptimiser):
    """Averaged perceptron on weights in standard units (`lasw.tuning.pool.standardised`).

    Args:
        metric: the sentence metric that chooses oracles, a `Metric` or its specification. Its corpus score tells the
            best pass.
        oracle: ``local``, ``reference`` (bold updating), ``hybrid`` or ``mixed`` (see `lasw.tuning.optimisers.oracle`).
            ``mixed`` oracles are chosen before each pass, by the mean of the weights so far.
        mu: share of the model score in ``mixed``.
        rate: of the updates, times the number of sentences, beside start weights at which scores have spread 1.
        passes: over all sentences.
        norm: of the result, ``l1`` or ``none`` (see `Columns.weights`).
        seed: of the order of sentences, a new one in each pass.

    `Fit.objective` is the corpus score of the candidates that then score best, `Fit.iterations` the pass that won.

    Raises:
        ValueError: a hyper-parameter out of its range.
        UserError: an unknown metric, oracle or norm; in `fit`, oracles that need text in a pool without.
    """

    name = "PERCEPTRON"
    counts_if = {"mu": ("oracle", is_mixed)}  # noqa: RUF012 - of the base class

    metric: Metric | str = "BLEU+1"
    oracle: str = "local"
    mu: float = MU
    rate: float = 3.0
    passes: int = 30
    norm: str = "l1"
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero("rate", self.rate)
        at_least("passes", self.passes, 1)
        self.parts()

    def parts(self) -> Parts:
        """See `OnlineOptimiser`."""
        return Parts(OracleChoice(self.oracle, self.mu), Rival(), Step(self.rate), self.passes, by_mean=True)
