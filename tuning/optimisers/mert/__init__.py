"""MERT (Och 2003): the exact line search, and what searches with it."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.optimisers.mert.ascent import GAIN
    from lasw.tuning.optimisers.mert.line_search import LineSearch
    from lasw.tuning.optimisers.mert.mert import MERT, ProThenMert
    from lasw.tuning.optimisers.mert.space import Ranges
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
