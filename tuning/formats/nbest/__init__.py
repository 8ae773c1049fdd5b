"""N-best lists: a registry of layouts, the compiled reader, what is noticed about a list."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.formats.nbest.floats import read_matrix
    from lasw.tuning.formats.nbest.growing import Growing
    from lasw.tuning.formats.nbest.layout import MAX_ID, NBEST_LAYOUTS, Place, finite, is_number
    from lasw.tuning.formats.nbest.reader import Options, nbest_text, read_nbest, stream_nbest, write_nbest
    from lasw.tuning.formats.nbest.repeats import RepeatedLines
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
