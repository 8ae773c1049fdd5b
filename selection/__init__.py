"""Parallel text: word alignment and the choice of development data. Imports `lasw.metrics` only."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.selection.alignment import DIRECTIONS, MODELS, SYMMETRISATIONS, keep_models, write_giza, write_pharaoh
    from lasw.selection.choice import (
        BIN, WORDS, Collect, Diversity, Selection, ShardedBitext, Workers, checked_blocks, counted, dask,
        distributed_collector, pool_collector, processes, read_shards, select,
    )
    from lasw.selection.features import LENGTH, NAMES, REASONS, LAScorer, Scorer, most_frequent
    from lasw.selection.output import (
        PAIR_COLUMNS, files_of, known_features, profile_rows, report_html, text_names, write_selection,
    )
    from lasw.selection.pool import (
        Bitext, Pair, PairBlock, align_by_models, fingerprint_of_pages, first_pairs, read_help, score_column, split,
        train_on_pool,
    )
    from lasw.selection.rankings import (
        ALIGNMENT, LISTS, METHODS, TEST, TEST_LISTS, TRUSTED, UNBOUNDED, Lists, Material, Method, local_sets, method,
    )
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
