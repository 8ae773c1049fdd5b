"""Thot as a decoder, and the making of a Thot system from word-aligned text."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.decoders.thot.decoder import Thot
    from lasw.tuning.decoders.thot.training import TrainingOptions, build_system, check_text
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
