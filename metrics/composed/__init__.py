"""Metrics made of other metrics, of programs, and of scores computed elsewhere."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.composed.mixture import Mixture
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
