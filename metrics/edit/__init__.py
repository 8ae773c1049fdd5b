"""Metrics of edits and alignments of words: WER, PER, CDER, TER, METEOR."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.edit.edits import WordErrorRate
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
