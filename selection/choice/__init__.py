"""Choosing from a pool: the best pairs in bounded memory, taken if they are unlike those before (algorithm 4.1)."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.selection.choice.candidates import BIN, REJECTED, Candidates, Collection, Profile, score_bins
    from lasw.selection.choice.distributed import collector, counted
    from lasw.selection.choice.diversity import Diversity
    from lasw.selection.choice.la import WORDS, Collect, Selection, choose
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
