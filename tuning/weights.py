"""Named weights: dense ones in groups (`TranslationModel0` has four), sparse ones by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

_SHOWN = 6  # groups in a `repr`


@dataclass(frozen=True)
class FeatureNames:
    """The dense features of a system, in the order of its feature vector.

    Attributes:
        groups: (name, number of components) of every feature function.
    """

    groups: tuple[tuple[str, int], ...]

    def __len__(self) -> int:
        return sum(size for _, size in self.groups)

    @cached_property
    def components(self) -> tuple[str, ...]:
        """One name a column: the group's own if it has one component, else ``NAME_0``, ``NAME_1``, ..."""
        names: list[str] = []
        for name, size in self.groups:
            names.extend([name] if size == 1 else [f"{name}_{k}" for k in range(size)])
        return tuple(names)

    @cached_property
    def slices(self) -> Mapping[str, slice]:
        """Where each group stands in the feature vector."""
        places: dict[str, slice] = {}
        start = 0
        for name, size in self.groups:
            places[name] = slice(start, start + size)
            start += size
        return places


@dataclass(frozen=True)
class Weights:
    """A weight for every feature.

    Attributes:
        names: the dense features.
        dense: (d,) float64.
        sparse: weight by name; a name that is not there has weight 0.
    """

    names: FeatureNames
    dense: NDArray[np.float64]
    sparse: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}({size})" for name, size in self.names.groups[:_SHOWN])
        more = ", ..." if len(self.names.groups) > _SHOWN else ""
        return f"Weights({len(self.dense)} dense: {shown}{more}; {len(self.sparse)} sparse)"

    def __post_init__(self) -> None:
        if self.dense.shape != (len(self.names),):
            raise ValueError(f"{self.dense.shape} weights for {len(self.names)} features")

    @classmethod
    def constant(cls, names: FeatureNames, value: float) -> Weights:
        """The same weight for every dense feature."""
        return cls(names, np.full(len(names), value, dtype=np.float64))

    @classmethod
    def from_groups(cls, groups: Mapping[str, Sequence[float]], sparse: Mapping[str, float] | None = None) -> Weights:
        """From one list of numbers a group."""
        names = FeatureNames(tuple((name, len(values)) for name, values in groups.items()))
        dense = np.array([v for values in groups.values() for v in values], dtype=np.float64)
        return cls(names, dense, dict(sparse or {}))

    def by_group(self) -> dict[str, list[float]]:
        """One list of numbers a group."""
        return {name: self.dense[place].tolist() for name, place in self.names.slices.items()}

    def sparse_vector(self, names: Sequence[str]) -> NDArray[np.float64]:
        """(p,) weights of the sparse features `names`."""
        if not self.sparse:
            return np.zeros(len(names))
        return np.fromiter(map(self.sparse.get, names, repeat(0.0)), dtype=np.float64, count=len(names))


def by_place(values: Sequence[float]) -> Weights:
    """Weights whose features are known by their place alone: they are called ``F0``, ``F1``, ..."""
    return Weights.from_groups({name: [value] for name, value in zip(places(len(values)), values, strict=True)})


def places(count: int) -> list[str]:
    """What Moses' tools call dense features that they know by their place: ``F0``, ``F1``, ..."""
    return [f"F{k}" for k in range(count)]
