"""A neural network that decides which of two translations is better (Guzman et al. 2015)."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.learned.pairwise.inputs import PairwiseInputs
    from lasw.metrics.learned.pairwise.model import PairwiseModel
    from lasw.metrics.learned.pairwise.pairwise import Pairwise
    from lasw.metrics.learned.pairwise.training import (
        LOSSES,
        Examples,
        Settings,
        check_hidden,
        examples,
        train_pairwise,
    )
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
