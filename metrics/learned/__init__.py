"""Metrics that are trained on people's judgements: ROSE, the pairwise network, combinations; their tests."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.learned.combination import COMBINATION_KINDS, FLOOR, LINEAR, CombinationModel, write_combination
    from lasw.metrics.learned.combination_training import DEFAULT_PENALTY, train_combination
    from lasw.metrics.learned.folds import held_out_scores, trainer
    from lasw.metrics.learned.learning import read_preferences, training_fingerprint
    from lasw.metrics.learned.pairwise import (
        LOSSES, Examples, PairwiseInputs, PairwiseModel, Settings, examples, trained_model, write_pairwise,
    )
    from lasw.metrics.learned.rose import (
        DEFAULT_COST, MOST_COST, ROSE_KINDS, Rose, RoseFeatures, RoseModel, train_rank, train_reg, write_rose,
    )
    from lasw.metrics.learned.tagging import TAGGERS, TaggedText, joined, tagged, tagger
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
