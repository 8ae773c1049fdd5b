"""Programs that translate: one file or folder each, all behind `lasw.tuning.decoders.base.Decoder`.

>>> from lasw.tuning import open_decoder
>>> open_decoder({"name": "command", "command": "no-such-program {weights}", "initial": "weights.json"})
Traceback (most recent call last):
lasw.metrics.errors.UserError: no program 'no-such-program'; give its path, or add its folder to PATH
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.decoders.base import Decoder
    from lasw.tuning.decoders.cluster import on_cluster
    from lasw.tuning.decoders.moses import Moses, Recorded, RecordedLists, recorded_iterations, refuse_program
    from lasw.tuning.decoders.program import last_lines
    from lasw.tuning.decoders.registry import DECODERS, open_decoder
    from lasw.tuning.decoders.thot import Thot, TrainingOptions, build_system, check_text
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
