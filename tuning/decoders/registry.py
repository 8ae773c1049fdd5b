"""Decoders by name. A new one is one line here, one module, and one test file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lasw.metrics import Registry, UserError
from lasw.tuning.decoders.base import Decoder
from lasw.tuning.settings import name_and_arguments

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


def open_decoder(settings: Mapping[str, Any], *, jobs: bool = True) -> Decoder:
    """The decoder that a section ``[decoder]`` asks for: its `name`, and the arguments of its constructor.

    Args:
        settings: of the section.
        jobs: False: one process, whatever the settings say.

    Raises:
        UserError: it cannot be had with them.
    """
    name, arguments = name_and_arguments({key: settings[key] for key in settings if jobs or key != "jobs"})
    try:
        return DECODERS.find(name)(**arguments)
    except ValueError as error:
        raise UserError(f"decoder {name}: {error}") from None
