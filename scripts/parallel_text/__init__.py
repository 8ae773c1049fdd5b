"""Commands about parallel text: align, select, train."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.scripts.parallel_text.select import GridSelections
    from lasw.scripts.parallel_text.train import read_parallel, train_thot
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
