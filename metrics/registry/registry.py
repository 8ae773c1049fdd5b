"""Things by name: metrics, optimisers, decoders, layouts, weight files, selections, aligners.

A new one is one file, one line of its registry and one test; it is loaded when it is first asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from lasw.metrics.errors import unknown

T = TypeVar("T")


@dataclass(frozen=True)
class Registry(Generic[T]):
    """What there is of a kind.

    Args:
        kind: what messages call it ("optimiser").
        places: where each stands, ``MODULE:ATTRIBUTE``, by name.
    """

    kind: str
    places: dict[str, str]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def spelt(self, name: str) -> str:
        """The name that a person means who takes no care of capitals; as it is if there is none."""
        return name if name in self.places else self._spelt.get(name.casefold(), name)

    @cached_property
    def _spelt(self) -> dict[str, str]:
        return {name.casefold(): name for name in self.places}

    def find(self, name: str) -> T:
        """What stands under `name`, in capitals or not.

        Raises:
            UserError: there is none (with the nearest valid name).
        """
        name = self.spelt(name)
        if name not in self.places:
            raise unknown(self.kind, name, list(self))
        module, _, attribute = self.places[name].partition(":")
        found: Any = getattr(importlib.import_module(module), attribute)
        return cast(T, found)
