"""Optimisers: one file or folder each, all behind `lasw.tuning.optimisers.base.Optimiser`."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.optimisers.base import DEFAULT_SEED, CountsIf, Fit, Optimiser
    from lasw.tuning.optimisers.mert import MERT, ProThenMert, Ranges
    from lasw.tuning.optimisers.pairs import (
        LOSSES, MAX_STEPS, MIRROR_IMAGES, STEP_LENGTHS, PairwiseOptimiser, previous_vector, summed_squares, to_size,
    )
    from lasw.tuning.optimisers.registry import DEFAULT_OPTIMISER, OPTIMISERS, make_optimiser
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
