"""Metrics that are trained on people's judgements: ROSE, the pairwise network, combinations; their tests."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.learned.combination import COMBINATION_KINDS, FLOOR, LINEAR, CombinationModel
    from lasw.metrics.learned.combination_training import DEFAULT_PENALTY, train_combination
    from lasw.metrics.learned.folds import held_out_scores
    from lasw.metrics.learned.json_model import write_trained_metric
    from lasw.metrics.learned.learning import read_preferences, training_fingerprint
    from lasw.metrics.learned.pairwise import (
        LOSSES, Examples, PairwiseInputs, PairwiseModel, Settings, check_hidden, examples, train_pairwise,
    )
    from lasw.metrics.learned.rose import (
        DEFAULT_COST, MOST_COST, ROSE_KINDS, Rose, RoseFeatures, RoseModel, train_rank, train_reg,
    )
    from lasw.metrics.learned.tagging import TAGGERS, TaggedText, joined, tagged, tagger
    from lasw.metrics.learned.trainers import trainer
    from lasw.metrics.learned.word_classes import FUNCTION_WORDS, frequent_words, listed_function_words
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
