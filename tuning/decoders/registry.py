"""Decoders by name. A new one is one line here, one module, and one test file."""

from __future__ import annotations

from lasw.metrics import Registry
from lasw.tuning.decoders.base import Decoder

DECODERS: Registry[type[Decoder]] = Registry(
    "decoder",
    {
        "thot": "lasw.tuning.decoders.thot:Thot",
        "moses": "lasw.tuning.decoders.moses:Moses",
        "command": "lasw.tuning.decoders.command:Command",
        "fixed": "lasw.tuning.decoders.fixed:Fixed",
        "replay": "lasw.tuning.decoders.replay:Replay",
    },
)
