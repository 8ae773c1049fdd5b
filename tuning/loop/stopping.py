"""When a tuning run is over.

The pool's gain of a round is the score of its new weights on the pool minus that of the weights before it: what the
next decoding is promised to bring. Its noise is the standard deviation of that difference over corpora drawn from the
same sentences (paired bootstrap, Koehn 2004). A gain within the noise would not be told from none by the development
set, so further decodings are not worth their time. The first round is not looked at: a run decodes with new weights
at least once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Metric, bootstrap_scores
from lasw.tuning.loop.settings import RunSettings
from lasw.tuning.pool import Pool
from lasw.tuning.run_directory import Json
from lasw.tuning.weights import Weights

NO_NEW_CANDIDATES = "no new candidates"
SETTLED = "the weights have settled"
WITHIN_NOISE = "the pool's gain is within its noise"
MAXIMUM = "the maximum of iterations is reached"


def reason_to_stop(settings: RunSettings, records: Sequence[Json]) -> str | None:
    """Why the run is over after these iterations; None if it is not."""
    if not records:
        return None
    if records[-1]["new_candidates"] == 0:
        return NO_NEW_CANDIDATES
    if records[-1]["moved"] <= settings.tolerance:
        return SETTLED
    enough = len(records) >= max(settings.patience, 2)
    if settings.noise and enough and all(_within_noise(settings, record) for record in records[-settings.patience :]):
        return WITHIN_NOISE
    return MAXIMUM if settings.iterations and len(records) >= settings.iterations else None


def _within_noise(settings: RunSettings, record: Json) -> bool:
    gain = record.get("gain")
    return gain is not None and gain <= settings.noise * record["gain_noise"]


def pool_gain(pool: Pool, metric: Metric, before: Weights, after: Weights, seed: int) -> tuple[float, float]:
    """What other weights gain on a pool, and the bootstrap standard error of that.

    Args:
        pool: not empty, with text.
        metric: of the corpus score.
        before: the weights that are compared with.
        after: the new ones.
        seed: of the resampling.
    """
    prepared = metric.prepare(pool.references)

    def statistics(weights: Weights) -> NDArray[Any]:
        best = pool.best(weights)  # few enough that a slow metric need not see the whole pool
        return metric.statistics(pool.hypotheses.take(best), prepared, pool.owner[best])

    old, new = statistics(before), statistics(after)
    gain = float(metric.corpus_score(new.sum(axis=0)) - metric.corpus_score(old.sum(axis=0)))
    if np.array_equal(old, new):
        return gain, 0.0
    samples = [bootstrap_scores(metric, rows, seed=seed) for rows in (old, new)]
    return gain, float(np.std(samples[1] - samples[0]))
