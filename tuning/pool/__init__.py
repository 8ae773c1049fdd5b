"""The pool: all candidates so far, deduplicated, with statistics; its features as columns.

>>> from lasw.metrics import metric
>>> from lasw.tuning import Weights, pool_of
>>> pool = pool_of([["a b", "b a"]], {"LM": [1.0, 2.0]}, ["a b"])
>>> float(pool.corpus_score(metric("WER"), Weights.from_groups({"LM": [-1.0]})))
1.0
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.pool.columns import (
        NOISE, Columns, Features, Floats, at_norm, centred, check_norm, unit_weights, with_values,
    )
    from lasw.tuning.pool.first_best import check_lists, corpus_score, first_hypotheses, note_silence
    from lasw.tuning.pool.kernels import model_scores, row_score
    from lasw.tuning.pool.losses import LOSS_COLUMN, LossScores, TextScores, with_losses
    from lasw.tuning.pool.min_count import check_min_count, pruned
    from lasw.tuning.pool.pool import Pool
    from lasw.tuning.pool.reader import preprocessed, read_pool, read_scored_pool
    from lasw.tuning.pool.standardised import Standardised, one_thread
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
