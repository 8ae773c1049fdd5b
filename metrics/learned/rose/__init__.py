"""ROSE, a linear model of n-gram, word count and part-of-speech features (Song 2015, chapter 3.1).

>>> from lasw.metrics import Judgements, RoseFeatures, train_rank
>>> features = RoseFeatures(function_words=("the", "a"))
>>> features.names[:3]
('precision1', 'precision2', 'precision3')
>>> references = [f"the {word} is old" for word in ("cat", "dog", "bird", "house")]
>>> systems = {"a": references, "b": [f"a {line}" for line in references]}
>>> model = train_rank([Judgements.from_lines(references, systems, [(k, "a", "b", "<") for k in range(4)])], features)
>>> model.kind, len(model.weights)
('rank', 17)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.learned.rose.characters import MOST_CHARACTERS
    from lasw.metrics.learned.rose.features import RoseFeatures
    from lasw.metrics.learned.rose.rose import ROSE_KINDS, Rose, RoseModel
    from lasw.metrics.learned.rose.training import DEFAULT_COST, MOST_COST, train_rank, train_reg
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
