"""`lasw select`: a development set from a pool of noisy parallel text."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.scripts.parallel_text.select.for_grids import GridSelections
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
