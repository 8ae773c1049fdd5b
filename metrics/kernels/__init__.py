"""Loops that are compiled: how, when anew, and what they share."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.kernels.compiling import allocating, borrowing, fingerprint, inlined, nested, reordering
    from lasw.metrics.kernels.words import HIGH_BITS, ONES, leading_bytes, load_word, lowest_bit, ones_in
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
