"""Parallel text: word alignment and the choice of development data. Imports `lasw.metrics` only.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.selection import Bitext, Diversity, select
>>> with tempfile.TemporaryDirectory() as folder:
...     source, target = Path(folder, "pool.de"), Path(folder, "pool.en")
...     _ = source.write_text("das alte haus steht auf dem hügel dort oben und es ist sehr klein\\n" * 3)
...     _ = target.write_text("the old house stands on the hill up there and it is very small\\n" * 3)
...     selection = select(Bitext(str(source), str(target)), "length", words=20, diversity=Diversity(threshold=2.0))
>>> len(selection), selection.words
(2, 28)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.selection.alignment import (
        ALIGNERS, DIRECTIONS, MAX_LENGTH, SYMMETRISATIONS, Directions, align_directions, keep_models, symmetrise,
        transposed, write_giza, write_pharaoh,
    )
    from lasw.selection.choice import BIN, WORDS, Diversity, Profile, Selection, choose, collector, counted
    from lasw.selection.development_set import filters, reading, select, usual_scorer
    from lasw.selection.output import PAIR_COLUMNS, files_of, profile_rows, report_html, text_names, write_selection
    from lasw.selection.pool import (
        LENGTH, REASONS, Bitext, Pair, PairBlock, Scorer, ShardedBitext, align_pool, fingerprint_of_pages, read_help,
        read_shards, score_column, scored_blocks, split,
    )
    from lasw.selection.rankings import (
        METHODS, NAMES, SAMPLE, UNBOUNDED, LAScorer, Lists, LocalSets, Material, Method, ToTest, local_sets,
        most_frequent,
    )
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
