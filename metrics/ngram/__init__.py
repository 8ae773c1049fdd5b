"""Metrics of n-grams, and the kernels that count them: SIMPBLEU, NIST, chrF.

>>> from lasw.metrics import Evaluation, SimpBleu, metric
>>> metric("PABC4:alpha=3") == SimpBleu("PABC4", alpha=3.0)
True
>>> evaluation = Evaluation.from_lines(["a b c d e"], ["a b c d e"])
>>> float(evaluation.sentence_scores(SimpBleu("BLEU+1"))[0, 0])
1.0
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.ngram.counts import CLIPPED, COLUMNS, ORDERS, UNCLIPPED, UNCLIPPED_RECALL, Pairs, ReferenceNgrams
    from lasw.metrics.ngram.simpbleu import ALIASES, NAME, SimpBleu
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
