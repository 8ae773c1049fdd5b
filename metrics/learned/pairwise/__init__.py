"""A neural network that decides which of two translations is better (Guzman et al. 2015).

>>> from lasw.metrics import Judgements, PairwiseInputs, Settings, examples, train_pairwise
>>> references = [f"the {word} is old" for word in ("cat", "dog", "bird", "house")]
>>> systems = {"a": references, "b": [f"a {line}" for line in references]}
>>> data = Judgements.from_lines(references, systems, [(k, "a", "b", "<") for k in range(4)])
>>> inputs = PairwiseInputs(skip=("BLEU+1", "TER"))
>>> model = train_pairwise(inputs, examples([data], inputs), settings=Settings(hidden=0, epochs=3))
>>> model.inputs.skip
('BLEU+1', 'TER')
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.learned.pairwise.comparing import Comparisons, comparisons
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
