"""Metrics made of other metrics, of programs, and of scores computed elsewhere."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.composed.mixture import Mixture
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
