"""What regressions on pairs minimise: losses of score differences, summed over pairs, with a penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import scipy

from lasw.tuning.pool import Floats

Matrix: TypeAlias = "Floats | scipy.sparse.csr_array"


class Loss(Protocol):
    """A convex loss of z = x b against labels y, with its derivatives in z; all (m,)."""

    def value(self, z: Floats, y: Floats) -> Floats:
        """The loss of each pair."""

    def slope(self, z: Floats, y: Floats) -> Floats:
        """First derivatives."""

    def curvature(self, z: Floats, y: Floats) -> Floats:
        """Second derivatives."""


class Logistic:
    """log(1 + exp(-z)): how improbable it is that the better candidate wins."""

    def value(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return np.logaddexp(0.0, -z)

    def slope(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return -_loses(z)

    def curvature(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        loses = _loses(z)
        return loses * (1.0 - loses)


class Linear:
    """(z - y)^2 / 2: how far the score difference is from the metric difference."""

    def value(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return 0.5 * (z - y) ** 2

    def slope(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return z - y

    def curvature(self, z: Floats, y: Floats) -> Floats:
        """See `Loss`."""
        return np.ones_like(z)


LOSSES: dict[str, Callable[[], Loss]] = {"logistic": Logistic, "linear": Linear}


@dataclass(frozen=True)
class Problem:
    """sum_k c_k loss(x_k b, y_k) + l2 / 2 |b|^2.

    Attributes:
        x: (m, q).
        y, c: (m,) labels and weights.
        loss: of z = x b.
        l2: strength of the penalty.
    """

    x: Matrix
    y: Floats
    c: Floats
    loss: Loss
    l2: float

    def value(self, b: Floats) -> float:
        """At weights b (q,)."""
        return self.value_at(self.x @ b, b)

    def value_at(self, z: Floats, b: Floats) -> float:
        """The same where z = x b is known."""
        return float(self.c @ self.loss.value(z, self.y) + 0.5 * self.l2 * (b @ b))

    def gradient_at(self, z: Floats, b: Floats) -> Floats:
        """(q,) the derivatives in b, where z = x b is known."""
        return np.asarray(self.x.T @ (self.c * self.loss.slope(z, self.y)) + self.l2 * b)


def _loses(z: Floats) -> Floats:
    """1 / (1 + exp(z)), the model's probability that the better candidate loses, without overflow."""
    small = np.exp(-np.abs(z))
    return np.where(z >= 0, small, 1.0) / (1.0 + small)
