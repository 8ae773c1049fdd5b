"""What every optimiser is: hyper-parameters in the constructor, `fit` on a pool, a result with its warnings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lasw.metrics import Signature
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

DEFAULT_SEED = 1


@dataclass(frozen=True)
class Fit:
    """What an optimiser found.

    Attributes:
        weights: the new weights.
        objective: the value of what was optimised (its meaning is the optimiser's own; see its docstring).
        iterations: steps of the solver.
        warnings: one line each, for the user.
    """

    weights: Weights
    objective: float
    iterations: int
    warnings: tuple[str, ...] = field(default=())


class Optimiser(ABC):
    """Finds weights under which the candidates that the loss prefers score best."""

    name: str

    def signature(self) -> Signature:
        """All that the weights depend on besides the pool; an optimiser with settings adds them."""
        return Signature(self.name, ())

    @abstractmethod
    def fit(self, pool: Pool, start: Weights) -> Fit:
        """New weights from all candidates so far.

        Args:
            pool: all candidates with their statistics.
            start: the weights of the previous iteration, over the same features.
        """
