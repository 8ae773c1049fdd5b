"""Weight files of many programs, read, written, and matched with features by name.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.tuning import WEIGHT_FILES, Weights, read_weights, write_weights
>>> list(WEIGHT_FILES)[:3]
['moses', 'json', 'flat-json']
>>> weights = Weights.from_groups({"LM0": [0.5], "TranslationModel0": [0.25, -0.125]})
>>> with tempfile.TemporaryDirectory() as folder:
...     write_weights(Path(folder, "weights.json"), weights)
...     read_weights(Path(folder, "weights.json")).dense.tolist()
[0.5, 0.25, -0.125]
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.formats.weights.base import FilePath, number
    from lasw.tuning.formats.weights.files import (
        MOSES, WEIGHT_FILES, WeightFile, check_output, kind_of_name, read_weight_file, read_weights, write_weights,
    )
    from lasw.tuning.formats.weights.lines import group_lines
    from lasw.tuning.formats.weights.local import check_count, json_line, read_local_weights, write_local_weights
    from lasw.tuning.formats.weights.matching import NEVER_LISTED, Match, match, tuneable
    from lasw.tuning.formats.weights.moses_ini import (
        check_moses_ini, marked_sentences, rewrite_moses_ini, write_moses_settings,
    )
    from lasw.tuning.formats.weights.own_json import as_json
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
