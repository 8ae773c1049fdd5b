"""The mean of what several optimisers find, each at the same L1 norm.

Optimisers err in ways of their own: one that ranks sentences leaves the corpus to chance, one that fits the corpus
score knows its few sentences by heart. Their mean errs less than most of them, and varies less (Cettolo et al. 2011
average the weights of several runs of one optimiser for the same reason).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lasw.metrics import Metric, UserError, parameters
from lasw.tuning.optimisers.base import DEFAULT_SEED, Fit, Optimiser, at_least
from lasw.tuning.optimisers.registry import OPTIMISERS, make_optimiser
from lasw.tuning.pool import Columns, Pool, at_norm
from lasw.tuning.weights import Weights

OWN = "default"  # the loss of each optimiser is its own


@dataclass(frozen=True)
class Average(Optimiser):
    """The mean of the weights of several optimisers.

    Args:
        metric: the loss of all of them, a `Metric` or its specification; ``default``: each one's own.
        of: names of optimisers, commas between them; a name that stands twice counts twice.
        all_pairs: those that draw pairs of candidates keep about so many in all, where that is more than they keep by
            themselves: what they learn of few sentences depends less on the seed.
        norm: of the result, ``l1`` or ``none`` (see `Columns.weights`); ``none`` leaves it at the norm of the first.
        seed: of those that draw.

    `Fit.objective` is the corpus score (by the loss of the first) of the candidates that then score best,
    `Fit.iterations` the steps of all. Features that do not vary keep the start weights.

    Raises:
        ValueError: `all_pairs` below 0.
        UserError: an unknown optimiser, metric or norm; in `fit`, what the optimisers raise.
    """

    name = "AVERAGE"

    metric: Metric | str = OWN
    of: str = "expected,wro"
    all_pairs: int = 100_000
    norm: str = "l1"
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("all_pairs", self.all_pairs, 0)

    @cached_property
    def optimisers(self) -> tuple[Optimiser, ...]:
        """Those that are averaged.

        Raises:
            UserError: see the class.
        """
        names = self._names()
        loss = None if self.metric == OWN else self.metric
        if "average" in names:
            raise UserError(f"average of {self.of}", expected="other optimisers")
        return tuple(
            make_optimiser(
                name,
                {"norm": self.norm},
                metric=loss,
                seed=self.seed if "seed" in parameters(OPTIMISERS.find(name)) else None,
            )
            for name in names
        )

    def _names(self) -> list[str]:
        return [OPTIMISERS.spelt(name.strip()) for name in self.of.split(",")]

    def for_folds(self) -> Average:
        """Of those for folds."""
        fewer = replace(self, all_pairs=0)
        fewer.__dict__["optimisers"] = tuple(optimiser.for_folds() for optimiser in self.optimisers)
        return fewer

    @property
    def takes_others(self) -> bool:  # type: ignore[override]
        """Whether one of them starts at more points."""
        return any(optimiser.takes_others for optimiser in self.optimisers)

    @property
    def measure(self) -> Metric:
        """The loss of the first."""
        return self.optimisers[0].measure

    def _shown(self, name: str, value: object) -> list[tuple[str, str]]:
        if name != "of":
            return [("metric", OWN)] if (name, value) == ("metric", OWN) else super()._shown(name, value)
        settings = [
            (f"{optimiser.name.lower()}.{key}", text)
            for optimiser in self.optimisers
            for key, text in optimiser.signature().settings
            if key not in ("norm", "seed")
        ]
        return [("of", ",".join(self._names())), *settings]

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit | None:
        """See `Optimiser`; one that has nothing to learn does not count."""
        sentences = len(np.unique(pool.owner))
        steady = [one.with_pairs(self.all_pairs // sentences) for one in self.optimisers]
        fits = [(one.name.lower(), one.learn(pool, start, others)) for one in steady]
        learnt = [(name, fit) for name, fit in fits if fit is not None]
        if not learnt:
            return None
        columns = Columns.of(pool)
        part = columns.varies & (np.arange(len(columns.varies)) < len(start.dense))
        part = part if part.any() else columns.varies
        vectors = [columns.vector(fit.weights) for _, fit in learnt]
        mean = np.mean([at_norm(vector, part, "l1") for vector in vectors], axis=0)
        weights = columns.weights(mean * float(np.abs(vectors[0][part]).sum()), start, norm=self.norm)
        warnings = tuple(f"{name}: {line}" for name, fit in learnt for line in fit.warnings)
        score = pool.corpus_score(self.measure, weights)
        return Fit(weights, score, sum(fit.iterations for _, fit in learnt), warnings)
