"""Commands about parallel text: align, select, train."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.scripts.parallel_text.train import read_parallel, train_thot
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
