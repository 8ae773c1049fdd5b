"""Ranking of pairs of candidates: PRO and WRO, their samples, their regression, the search for length."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.optimisers.pairs.base import PairwiseOptimiser, previous_vector, to_size
    from lasw.tuning.optimisers.pairs.pro import PRO
    from lasw.tuning.optimisers.pairs.ranking import LOSSES, MAX_STEPS, MIRROR_IMAGES, STEP_LENGTHS, summed_squares
    from lasw.tuning.optimisers.pairs.wro import WRO
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
