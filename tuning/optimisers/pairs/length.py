"""The length of translations: whether learnt weights prefer short ones, and a search along the way that lengthens them.

Ranking by a sentence metric leaves the length to chance: the candidates that differ most in it, and oracles against all
others, differ in length too, short ones lose to long ones less often than they should, and the weights come to pay for
brevity (Nakov, Guzmán and Vogel 2012). The corpus score knows better, and one exact line search asks it. The way is
the direction of the weight space that changes the length and nothing that length has nothing to do with: the
least-squares fit of the candidates' lengths, within their sentence, to the dense features. With a word penalty among
these it is nearly that feature alone.

The search goes no farther than to where the way moves the scores three times as much as all features together: there
length decides nearly alone, and beyond only, between candidates of one length, what the fit leaves of it.

Lists of a first round may know few lengths. Where the best point takes most sentences to the end of what theirs has,
and the length is still not that of the references, the score stops changing because the lists end and not because the
length is right. A decoder, which has no such end, would go far beyond: then nothing is moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Metric, metric
from lasw.tuning.optimisers.mert import GAIN, LineSearch
from lasw.tuning.pool import Columns, Floats, centred
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

SHORT = 0.97  # of the references' length; below it the brevity penalty costs more than 3 % of BLEU
ENOUGH = 100  # sentences; fewer may be short by chance
# Of the sentences, and of the references' length. Measured with Thot: first lists 0.76 to 0.92 of the sentences, 0.03
# to 0.07 too short; pools of more rounds to 0.79, 0.00 to 0.02 off.
MOST_AT_AN_END, MOST_OFF = 2 / 3, 0.02
FARTHEST = 3.0  # in units in which the scores with and along the way have the same deviation
RIDGE = 1e-6  # in units of the columns' variance: what collinear columns share is divided among them


def lengthening(pool: Pool, vector: Floats, measure: Metric) -> Floats:
    """What to add to weights for the best length.

    Args:
        pool: all candidates.
        vector: (d + p,) weights of the pool's dense, then of its sparse features.
        measure: whose corpus score decides.

    Returns:
        (d + p,), 0 for sparse features; all 0 if nothing is gained, or the pool has too few sentences or lengths
        to tell, or no references.
    """
    nothing = np.zeros(len(vector))
    if np.count_nonzero(np.diff(pool.starts)) < ENOUGH or not pool.knows(metric("BLEU")):
        return nothing
    columns = Columns.of(pool)
    lengths = pool.lengths[columns.order].astype(np.float64)
    way = longer(columns, lengths)
    search = LineSearch(columns.starts, pool.statistics(measure)[columns.order], measure)
    scores, slopes = columns.scores(vector), columns.scores(way)
    here = search.search(scores, np.zeros(len(scores)))
    steepness = columns.spread(slopes)
    if steepness == 0:
        return nothing
    best = search.search(scores, slopes, FARTHEST * columns.spread(scores) / steepness)
    if best.score <= here.score + GAIN:
        return nothing
    ends = np.maximum if best.position > 0 else np.minimum
    there = columns.best(scores + best.position * slopes)
    at_an_end = lengths[there] == ends.reduceat(lengths, columns.starts[:-1])
    off = abs(length_ratio(pool, columns.order[there]) - 1)
    return nothing if at_an_end.mean() > MOST_AT_AN_END and off > MOST_OFF else best.position * way


def longer(columns: Columns, lengths: Floats) -> Floats:
    """(d + p,) the weights of the dense features whose sum follows the lengths (n,) best within the sentences."""
    d = columns.dense.shape[1]
    way = np.zeros(len(columns.varies))
    varying = np.flatnonzero(columns.varies[:d])
    x = centred(columns.starts, columns.dense[:, varying] / columns.scale[varying])
    # einsum, not BLAS: the same bits on any number of cores.
    squares = np.einsum("ni,nj->ij", x, x) / len(x)
    products = np.einsum("ni,n->i", x, centred(columns.starts, lengths)) / len(x)
    way[varying] = np.linalg.solve(squares + RIDGE * np.eye(len(varying)), products) / columns.scale[varying]
    return way


def shortness(pool: Pool, weights: Weights, *, fit_length: bool = False, loss: str = "") -> tuple[str, ...]:
    """One warning if the best-scoring candidates of the pool are shorter than the closest references, else nothing.

    Args:
        pool: of candidates.
        weights: that order them.
        fit_length: the length was searched for, so that this is no advice any more.
        loss: that the weights were tuned for; the same holds of a loss with ``bp=reference``.
    """
    best = pool.best(weights)
    if len(best) < ENOUGH or not pool.knows(metric("BLEU")):
        return ()
    ratio = length_ratio(pool, best)
    if ratio >= SHORT:
        return ()
    helps = ["lists of more rounds"] + ["fit_length"] * (not fit_length)
    helps += ["a loss with bp=reference"] * ("bp:reference" not in loss)
    return (
        f"the translations that these weights prefer have {ratio:.3f} times the length of the references; "
        f"{' or '.join(helps)} may keep them longer",
    )


def length_ratio(pool: Pool, rows: NDArray[np.int64]) -> float:
    """Tokens of these candidates over tokens of the closest references; 1 if these are empty."""
    total = pool.statistics(metric("BLEU"))[rows].sum(axis=0)
    return int(total[1]) / int(total[-1]) if total[-1] else 1.0
