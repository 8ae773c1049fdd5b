"""What comparisons by people say: scores of systems, and how far the judges agree.

A comparison is a segment, two systems, 1 where the first is better or -1 where the second is, and who said so:

>>> import numpy as np
>>> from lasw.metrics.agreement import judges_agreement, trueskill
>>> votes = np.array([[0, 0, 1, 1, 0], [0, 0, 1, 1, 1], [1, 0, 1, 1, 0], [1, 1, 0, -1, 1], [2, 0, 1, -1, 0]])
>>> judges_agreement(votes)["inter"].n
2
>>> first, second = trueskill(votes, 2)
>>> bool(first > second)
True
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.agreement.comparing.kappa import judges_agreement
    from lasw.metrics.agreement.comparing.wins import WINS, trueskill, wins_of
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
