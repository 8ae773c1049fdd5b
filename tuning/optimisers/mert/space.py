"""The columns of a pool that MERT tunes, what the others add, and how single features are named in its options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, unknown
from lasw.tuning.pool import Columns, Floats
from lasw.tuning.weights import FeatureNames, Weights

# What mert-moses.pl draws from where nothing is said.
LOW, HIGH = 0.0, 1.0
FARTHEST = 1e100  # an end beyond would leave scores that overflow

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

    @property
    def units(self) -> Floats:
        """(d,) weights under which every dense feature says as much as the features do on average at the start."""
        d = len(self.start.names)
        scale, varies = self.columns.scale[:d], self.columns.varies[:d]
        effects = np.abs(self._vector[:d] * scale)[varies]
        return (float(effects.mean()) if effects.any() else 1.0) / scale

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


@dataclass(frozen=True)
class Ranges:
    """Intervals by feature name: of a component or a group; a group may have one for each of its components.

    Written ``LM0=0..1,TM0=-1..1``, or with colons as mert-moses.pl has it; an interval without a name is that of the
    next component of the group before it: ``TM0:0..1,-1..1``.
    """

    by_name: dict[str, list[tuple[float, float]]]

    @classmethod
    def parse(cls, text: str) -> Ranges:
        """From text.

        Raises:
            UserError: not of this form, a name twice, or ends that are not finite or not in order.
        """
        by_name: dict[str, list[tuple[float, float]]] = {}
        current = ""
        for item in filter(None, (part.strip() for part in text.split(","))):
            name, interval = _split(item)
            if name in by_name:
                raise UserError(f"range of {name} is given twice", expected="one")
            current = name or current
            if not current:
                raise UserError(f"range {item!r}", expected="a feature's name before it, as in LM0=0..1")
            by_name.setdefault(current, []).append(_interval(item, interval))
        return cls(by_name)

    def bounds(self, names: FeatureNames) -> tuple[Floats, Floats]:
        """(d,) low and (d,) high ends for dense features; 0 and 1 for those without an interval.

        Raises:
            UserError: a feature that does not exist, or a group with another number of components.
        """
        low, high = np.full(len(names), LOW), np.full(len(names), HIGH)
        # Groups first, so that a component's own interval counts.
        for name, intervals in sorted(self.by_name.items(), key=lambda item: item[0] not in names.slices):
            columns = _columns(name, names, "range of feature")
            if len(intervals) not in (1, len(columns)):
                raise UserError(f"{len(intervals)} ranges for {name}", expected=f"1 or {len(columns)}")
            low[columns] = [lowest for lowest, _ in intervals]
            high[columns] = [highest for _, highest in intervals]
        return low, high


def active_columns(text: str, names: FeatureNames) -> NDArray[np.bool_]:
    """(d,) the dense features that `text` names, groups or components with commas between; all if it is empty.

    Raises:
        UserError: one that does not exist, or no name in a text that is not empty.
    """
    if not text:
        return np.ones(len(names), dtype=bool)
    active = np.zeros(len(names), dtype=bool)
    for name in text.replace(",", " ").split():
        active[_columns(name, names, "active feature")] = True
    if not active.any():
        raise UserError(f"active feature {text!r}", expected="names with commas between")
    return active


def _split(item: str) -> tuple[str, str]:
    for separator in ("=", ":"):
        name, found, interval = item.rpartition(separator)
        if found:
            if not name.strip():
                break
            return name.strip(), interval
    return "", item


def _interval(item: str, text: str) -> tuple[float, float]:
    low, _, high = text.partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise UserError(f"range {item!r}", expected="NAME=LOW..HIGH, as in LM0=0..1") from None
    if not all(abs(end) <= FARTHEST for end in ends):
        raise UserError(f"range {item!r}", expected=f"finite numbers of at most {FARTHEST:g}")
    if not ends[0] < ends[1]:
        raise UserError(f"range {item!r}", expected="the first number below the second")
    return ends


def _columns(name: str, names: FeatureNames, kind: str) -> list[int]:
    places = names.slices
    if name in places:
        return list(range(len(names)))[places[name]]
    if name in names.components:
        return [names.components.index(name)]
    raise unknown(kind, name, list(dict.fromkeys([*places, *names.components])))
