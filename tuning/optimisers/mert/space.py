"""The columns of a pool that MERT tunes, and what the others add."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lasw.tuning.optimisers.mert.options import active_columns
from lasw.tuning.pool import Columns
from lasw.tuning.weights import Weights

Floats = NDArray[np.float64]

FEW = 50  # sparse features that are tuned like dense ones; each costs a line search a round


@dataclass(frozen=True)
class Space:
    """Weights of the tuned columns, all others at their start weights.

    Attributes:
        columns: of the pool.
        start: the start weights.
        tuned: (c,) which columns.
        norm: of the weights that come out, as `Columns.weights`.
        warnings: about columns that are not tuned, one line each.
    """

    columns: Columns
    start: Weights
    tuned: NDArray[np.int64]
    norm: str
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, columns: Columns, start: Weights, *, active: str = "", norm: str = "l1") -> Space:
        """What varies of the active dense features, and of the sparse ones if none is named and they are few.

        Raises:
            UserError: `active` names a feature that does not exist.
        """
        wanted = active_columns(active, start.names)
        d = len(wanted)
        warnings = []
        dense = np.flatnonzero(wanted & columns.varies[:d])
        sparse = d + np.flatnonzero(columns.varies[d:])
        constant = [start.names.components[j] for j in np.flatnonzero(wanted & ~columns.varies[:d])]
        if len(sparse) > FEW:
            warnings.append(
                f"{len(sparse)} sparse features keep their weights: MERT tunes up to {FEW}, the others any number"
            )
        if active or len(sparse) > FEW:
            sparse = sparse[:0]
        if not len(dense) and not len(sparse):
            warnings.insert(0, "no active dense feature differs between the candidates of any sentence")
        elif active and constant:
            warnings.append(f"{', '.join(constant)}: active, but the same in all candidates of every sentence")
        return cls(columns, start, np.concatenate([dense, sparse]), norm, tuple(warnings))

    @cached_property
    def _vector(self) -> Floats:
        return self.columns.vector(self.start)

    @property
    def scale(self) -> Floats:
        """(c,) the columns' scales."""
        return self.columns.scale[self.tuned]

    def features(self) -> Floats:
        """(c, n) the tuned columns, each contiguous."""
        d = self.columns.dense.shape[1]
        dense = self.columns.dense.T[self.tuned[self.tuned < d]]
        if self.columns.sparse is None:
            return np.ascontiguousarray(dense)
        sparse = self.columns.sparse.tocsc()[:, self.tuned[self.tuned >= d] - d].toarray().T
        return np.concatenate([dense, sparse])

    def fixed(self) -> Floats:
        """(n,) scores by the other columns."""
        others = self._vector.copy()
        others[self.tuned] = 0.0
        return self.columns.scores(others)

    def point(self, weights: Weights) -> Floats:
        """(c,) the weights of the tuned columns."""
        return self.columns.vector(weights)[self.tuned]

    def between(self, low: Floats, high: Floats, generator: np.random.Generator) -> Floats:
        """(c,) a random point, uniform from `low` to `high` (d,) in dense columns, at the start in sparse ones."""
        vector = self._vector.copy()
        dense = self.tuned[self.tuned < len(low)]  # a feature that is not tuned takes no random number from the others
        vector[dense] = generator.uniform(low[dense], high[dense])
        return vector[self.tuned]

    def weights(self, point: Floats) -> Weights:
        """Weights from those of the tuned columns."""
        vector = self._vector.copy()
        vector[self.tuned] = point
        return self.columns.weights(vector, self.start, self.norm)
