"""Settings as people write them: TOML documents, read with the place of every key."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.settings.toml_text import line_of, parse
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
