"""Batch MIRA (Cherry and Foster 2012).

>>> from lasw.tuning import make_optimiser, pool_of
>>> lists = [["a b c d", "c a d b"], ["d e", "e d"]]
>>> features = {"LM": [-2.0, -1.0, -1.0, -2.0], "TM": [-1.0, -3.0, -2.0, -2.5]}
>>> pool = pool_of(lists, features, ["a b c d", "d e"])
>>> make_optimiser("mira", {"passes": 5}, metric="BLEU+1").fit(pool)
Fit(Weights(2 dense: LM(1), TM(1); 0 sparse), objective 1, 1 iterations)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.optimisers.mira.mira import MIRA
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
