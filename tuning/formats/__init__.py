"""Files of translation systems: N-best lists, weights, Moses' own; one reader each, found by content.

>>> from lasw.tuning import Weights, as_json
>>> as_json(Weights.from_groups({"LM": [0.5], "TM": [0.25, 0.25]}, sparse={"WT_a~b": 1.0}))
{'dense': {'LM': [0.5], 'TM': [0.25, 0.25]}, 'sparse': {'WT_a~b': 1.0}}
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.formats.extra_features import ExtraFeatures, read_columns
    from lasw.tuning.formats.moses_files import is_features_file, read_moses_files
    from lasw.tuning.formats.moses_writer import write_moses_files
    from lasw.tuning.formats.nbest import (
        FLAT, NBEST_LAYOUTS, Growing, LayoutOptions, NBestLayout, Options,
        RepeatedLines, layout_options, nbest_text, packed_lists, read_nbest, stream_nbest, write_nbest,
    )
    from lasw.tuning.formats.weights import (
        MOSES, NEVER_LISTED, WEIGHT_FILES, FilePath, Match, WeightFile, as_json, check_count, check_moses_ini,
        check_output, group_lines, json_line, kind_of_name, marked_sentences, match, read_local_weights,
        read_weight_file, read_weights, rewrite_moses_ini, tuneable, write_local_weights, write_moses_settings,
        write_weights,
    )
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
