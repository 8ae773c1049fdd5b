"""Metrics that are trained on people's judgements: ROSE, the pairwise network, combinations; their tests.

>>> from lasw.metrics import Judgements, train_combination
>>> references = ["the cat sat on the mat", "he is asleep now", "it rains today"]
>>> systems = {"a": ["the cat sat on a mat", "he is asleep", "it rain today"], "b": ["a cat is at mat", "him", "rains"]}
>>> data = Judgements.from_lines(references, systems, [(0, "a", "b", "<"), (1, "b", "a", ">"), (2, "a", "b", "<")])
>>> data
Judgements('', 2 systems, 3 segments, 3 preferences, 0 ties)
>>> model = train_combination([data], ["BLEU+1", "TER"])
>>> model.specs, round(sum(model.weights), 6), model.training["ordered-right"]
(('BLEU+1', 'TER'), 1.0, 1.0)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.learned.combination import COMBINATION_KINDS, FLOOR, LINEAR, CombinationModel
    from lasw.metrics.learned.combination_training import DEFAULT_PENALTY, train_combination
    from lasw.metrics.learned.folds import held_out_scores
    from lasw.metrics.learned.json_model import write_trained_metric
    from lasw.metrics.learned.learning import read_preferences, training_fingerprint
    from lasw.metrics.learned.pairwise import (
        LOSSES, Comparisons, Examples, Pairwise, PairwiseInputs, PairwiseModel, Settings, check_hidden, comparisons,
        examples, train_pairwise,
    )
    from lasw.metrics.learned.rose import (
        DEFAULT_COST, MOST_CHARACTERS, MOST_COST, ROSE_KINDS, Rose, RoseFeatures, RoseModel, train_rank, train_reg,
    )
    from lasw.metrics.learned.tagging import TAGGERS, TaggedText, joined, tagged, tagger
    from lasw.metrics.learned.trainers import trainer
    from lasw.metrics.learned.word_classes import FUNCTION_WORDS, frequent_words, listed_function_words
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
