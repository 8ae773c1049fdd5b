"""Metrics of edits and alignments of words: WER, PER, CDER, TER, METEOR."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.edit.edits import WordErrorRate
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
