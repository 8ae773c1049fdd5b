"""Optimisers: one file or folder each, all behind `lasw.tuning.optimisers.base.Optimiser`.

>>> from lasw.tuning import OPTIMISERS, make_optimiser
>>> list(OPTIMISERS)[:4]
['average', 'expected', 'mert', 'mira']
>>> optimiser = make_optimiser("pro", {"draws": 100}, metric="BLEU+1", seed=3)
>>> optimiser.draws, optimiser.seed
(100, 3)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.optimisers.base import DEFAULT_SEED, CountsIf, Fit, Optimiser
    from lasw.tuning.optimisers.mert import MERT, ProThenMert, Ranges
    from lasw.tuning.optimisers.pairs import (
        LOSSES, MAX_STEPS, MIRROR_IMAGES, REACHABLE, STEP_LENGTHS, PairwiseOptimiser, previous_vector,
        reach_weights, summed_squares, to_size,
    )
    from lasw.tuning.optimisers.registry import DEFAULT_OPTIMISER, OPTIMISERS, make_optimiser
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
