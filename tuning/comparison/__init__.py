"""Tuned systems side by side: a grid of optimisers, losses, development sets and seeds, tuned, tested and compared."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.comparison.reading import COMPARISON, read_comparison
    from lasw.tuning.comparison.table import table_text
    from lasw.tuning.comparison.whole import compare
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
