"""N-best lists: a registry of layouts, the compiled reader, what is noticed about a list.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.metrics import Vocabulary
>>> from lasw.tuning import NBEST_LAYOUTS, read_nbest
>>> list(NBEST_LAYOUTS)
['moses', 'sockeye', 'jsonl', 'fairseq', 'tsv', 'csv', 'flat']
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "dev.nbest")
...     texts = "0 ||| a house ||| LM0= -1.5 TM0= -1 -2 ||| -4", "0 ||| house ||| LM0= -1 TM0= 0 -3 ||| -4"
...     _ = path.write_text("\\n".join(texts))
...     nbest = read_nbest(path, Vocabulary())
>>> nbest
NBest(2 hypotheses, 3 dense and 0 sparse features)
>>> nbest.names.components, nbest.dense[0].tolist(), nbest.hypotheses.text(0)
(('LM0', 'TM0_0', 'TM0_1'), [-1.5, -1.0, -2.0], 'a house')
"""

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
    from lasw.tuning.formats.nbest.writing import packed_lists
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
