"""Loops that are compiled: how, when anew, and what they share.

>>> import numpy as np
>>> from lasw.metrics import borrowing
>>> @borrowing
... def largest_gap(values):
...     gap = 0.0
...     for k in range(1, len(values)):
...         gap = max(gap, values[k] - values[k - 1])
...     return gap
>>> largest_gap(np.array([1.0, 1.5, 4.0]))
2.5
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.kernels.compiling import allocating, borrowing, fingerprint, inlined, nested, reordering
    from lasw.metrics.kernels.words import HIGH_BITS, ONES, leading_bytes, load_word, lowest_bit, ones_in
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
