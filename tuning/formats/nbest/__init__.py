"""N-best lists: a registry of layouts, the compiled reader, what is noticed about a list."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.formats.nbest.choice import layout_options
    from lasw.tuning.formats.nbest.floats import read_matrix
    from lasw.tuning.formats.nbest.growing import Growing
    from lasw.tuning.formats.nbest.layout import (
        FLAT, MAX_ID, NBEST_LAYOUTS, LayoutOptions, NBestLayout, Place, finite, is_number,
    )
    from lasw.tuning.formats.nbest.reader import Options, nbest_text, read_nbest, stream_nbest, write_nbest
    from lasw.tuning.formats.nbest.repeats import RepeatedLines
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
