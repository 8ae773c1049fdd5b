"""The pool: parallel text read as a stream of blocks, whole or in shards, with scores of other tools."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.selection.pool.aligned import align_by_models, train_on_pool
    from lasw.selection.pool.bitext import Bitext, PairBlock, first_pairs
    from lasw.selection.pool.bitext_split import Pair, split
    from lasw.selection.pool.libreoffice_help import fingerprint_of_pages, read_help
    from lasw.selection.pool.score_columns import score_column
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
