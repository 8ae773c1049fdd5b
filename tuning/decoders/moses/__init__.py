"""Moses as a decoder: its features, its options, several processes of it, its files."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.decoders.moses.decoder import Moses, refuse_program
    from lasw.tuning.decoders.moses.recorded import Recorded, RecordedLists, recorded_iterations
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
