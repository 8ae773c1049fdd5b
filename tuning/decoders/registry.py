"""Decoders by name. A new one is one line in `_DECODERS`, one module, and one test file."""

from __future__ import annotations

import importlib
from typing import cast

from lasw.metrics.registry import unknown
from lasw.tuning.decoders.base import Decoder

# name -> (module, class)
_DECODERS: dict[str, tuple[str, str]] = {
    "thot": ("lasw.tuning.decoders.thot", "Thot"),
    "moses": ("lasw.tuning.decoders.moses", "Moses"),
    "command": ("lasw.tuning.decoders.command", "Command"),
    "fixed": ("lasw.tuning.decoders.fixed", "Fixed"),
    "replay": ("lasw.tuning.decoders.replay", "Replay"),
}
NAMES = tuple(_DECODERS)


def decoder_class(name: str) -> type[Decoder]:
    """The class of the decoder `name`; its settings are the arguments of its constructor.

    Raises:
        UserError: there is none (with the nearest valid name).
    """
    if name not in _DECODERS:
        raise unknown("decoder", name, list(NAMES))
    module, attribute = _DECODERS[name]
    return cast("type[Decoder]", getattr(importlib.import_module(module), attribute))
