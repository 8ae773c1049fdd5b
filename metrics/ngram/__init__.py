"""Metrics of n-grams, and the kernels that count them: SIMPBLEU, NIST, chrF."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.ngram.counts import CLIPPED, COLUMNS, ORDERS, UNCLIPPED, UNCLIPPED_RECALL, Pairs, ReferenceNgrams
    from lasw.metrics.ngram.simpbleu import ALIASES, NAME, SimpBleu
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
