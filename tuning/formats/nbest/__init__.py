"""N-best lists: layouts, the compiled reader and the careful one, the writer, columns of other scorers."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.formats.nbest.feature_columns import FeatureColumns
    from lasw.tuning.formats.nbest.fields import MAX_ID, Place, finite, is_number
    from lasw.tuning.formats.nbest.floats import read_matrix
    from lasw.tuning.formats.nbest.growing import Growing
    from lasw.tuning.formats.nbest.reader import Options, read_nbest, stream_nbest
    from lasw.tuning.formats.nbest.repeats import RepeatedLines
    from lasw.tuning.formats.nbest.writer import nbest_text, write_nbest
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
