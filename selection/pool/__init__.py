"""The pool: parallel text read as a stream of blocks, whole or in shards, with scores of other tools.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.selection import Bitext
>>> with tempfile.TemporaryDirectory() as folder:
...     table = Path(folder, "pool.tsv")
...     _ = table.write_text("ein haus\\ta house\\nein baum\\ta tree\\n")
...     [block.target.texts() for block in Bitext(str(table), columns=(1, 2)).blocks()]
[['a house', 'a tree']]
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.selection.pool.aligned import align_pool
    from lasw.selection.pool.bitext import Bitext, PairBlock
    from lasw.selection.pool.help_text import Pair, fingerprint_of_pages, read_help, split
    from lasw.selection.pool.score_columns import score_column
    from lasw.selection.pool.scored import (
        EMPTY_SOURCE, EMPTY_TARGET, LENGTH, NO_POINTS, OK, OUT_OF_RANGE, READER, REASONS, Scored, Scorer,
    )
    from lasw.selection.pool.shards import PAIRS, Part, ShardedBitext, pair_count, parts_of, read_shards, scored_blocks
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
