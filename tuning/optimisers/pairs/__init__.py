"""Ranking of pairs of candidates: PRO and WRO, their samples, their regression, the search for length.

>>> from lasw.tuning import make_optimiser, pool_of
>>> lists = [["a b c d", "c a d b"], ["d e", "e d"]]
>>> features = {"LM": [-2.0, -1.0, -1.0, -2.0], "TM": [-1.0, -3.0, -2.0, -2.5]}
>>> pool = pool_of(lists, features, ["a b c d", "d e"])
>>> make_optimiser("pro", metric="BLEU+1").fit(pool)
Fit(Weights(2 dense: LM(1), TM(1); 0 sparse), objective ..., 6 iterations)
>>> make_optimiser("wro", metric="BLEU+1").fit(pool).weights.dense.round(1).tolist()
[0.4, 0.6]
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.optimisers.pairs.base import PairwiseOptimiser, previous_vector, to_size
    from lasw.tuning.optimisers.pairs.losses import LOSSES
    from lasw.tuning.optimisers.pairs.pro import PRO
    from lasw.tuning.optimisers.pairs.ranking import MIRROR_IMAGES
    from lasw.tuning.optimisers.pairs.solving import MAX_STEPS, STEP_LENGTHS, summed_squares
    from lasw.tuning.optimisers.pairs.wro import REACHABLE, WRO, reach_weights
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
