"""MERT (Och 2003): the exact line search, and what searches with it.

>>> from lasw.tuning import MERT, pool_of
>>> lists = [["a b c d", "c a d b"], ["d e", "e d"]]
>>> features = {"LM": [-2.0, -1.0, -1.0, -2.0], "TM": [-1.0, -3.0, -2.0, -2.5]}
>>> pool = pool_of(lists, features, ["a b c d", "d e"])
>>> MERT(metric="WER").fit(pool).objective
1.0
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.optimisers.mert.ascent import GAIN
    from lasw.tuning.optimisers.mert.line_search import LineSearch
    from lasw.tuning.optimisers.mert.mert import MERT, ProThenMert
    from lasw.tuning.optimisers.mert.space import Ranges
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
