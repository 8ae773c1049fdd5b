"""Batch MIRA (Cherry and Foster 2012)."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.optimisers.mira.mira import MIRA
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
