"""Moses' own intermediate files: features and statistics as its extractor writes them."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.formats.moses.extracted import is_features_file, read_moses_files
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
