"""Metrics of edits and alignments of words: WER, PER, CDER, TER, METEOR.

>>> from lasw.metrics import Evaluation, metric
>>> evaluation = Evaluation.from_lines(["a b c d"], ["a c d"])
>>> rate = metric("WER")
>>> float(evaluation.corpus_scores(rate)[0]), float(rate.display.score(evaluation.corpus_scores(rate)[0]))
(0.75, 25.0)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.edit.edits import WordErrorRate
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
