"""Kernels of MIRA: scores in a background corpus, the step from fear to hope, a pass over sentences.

Arrays that go together: `features` is (dense (n, d), indptr (n + 1,), indices, data) of candidates grouped by sentence,
columns of a row ascending; `weights` is (d + p,), `lag` (d + p,) is what averaging needs: after t sentences the mean of
the weights behind each of them is weights - lag / t, so that a step costs no more than the features it moves.
"""

from __future__ import annotations

import math

from lasw.metrics import borrowing, nested
from lasw.tuning.pool import model_scores

# Brevity penalties of SIMPBLEU: which of the two lengths has alpha added, or that they are exchanged.
NO_PENALTY, PLAIN, SMOOTHED, REFERENCE, REVERSED = range(5)
# What a metric of the SIMPBLEU family is, by its place in `family`.
RECALL, ARITHMETIC, ORDER, PENALTY, LIN_OCH, EFFECTIVE = range(6)
# How often the metric's part of a safe hope may be contained in the model's: kbmira's constant.
SAFE_RATIO = 5.0


@nested
def _family_score(row, background, family, alpha):  # type: ignore[no-untyped-def]
    """Corpus score of a candidate's statistics (k,) on top of the background's, times its reference length."""
    k = row.shape[0]
    candidate = row[k - 2 if family[RECALL] else 1] + background[k - 2 if family[RECALL] else 1]
    reference = row[k - 1] + background[k - 1]
    if candidate == 0.0 or row[1] + background[1] == 0.0:
        return 0.0
    total, product, orders = 0.0, 1.0, 0
    for order in range(family[ORDER]):
        added = 0.0 if family[LIN_OCH] and order == 0 else alpha
        count = row[2 * order + 1] + background[2 * order + 1]
        if family[EFFECTIVE] and count == 0.0:
            continue
        orders += 1
        ratio = 0.0
        if count + added > 0.0:
            ratio = (row[2 * order] + background[2 * order] + added) / (count + added)
        total += ratio
        product *= ratio
    if orders == 0:
        score = 0.0 if family[ARITHMETIC] else 1.0
    elif family[ARITHMETIC]:
        score = total / orders
    elif orders == 4:
        score = math.sqrt(math.sqrt(product))
    else:
        score = product ** (1.0 / orders)
    if family[PENALTY] == REVERSED:
        if candidate > reference > 0.0:  # without a reference's length the product below is 0
            score *= math.exp(1.0 - candidate / reference)
    elif family[PENALTY] != NO_PENALTY:
        r = reference if family[PENALTY] == PLAIN else reference + alpha
        c = candidate + alpha if family[PENALTY] == SMOOTHED else candidate
        if c < r:
            score *= math.exp(1.0 - r / max(c, 1.0))
    return score * reference


@borrowing
def family_scores(first, last, statistics, background, family, alpha, scores):  # type: ignore[no-untyped-def]
    """`scores[i - first]` = score of candidate i in the background corpus, for a metric of the SIMPBLEU family."""
    for i in range(first, last):
        scores[i - first] = _family_score(statistics[i], background, family, alpha)


@nested
def choose(model, metric, count, safe, chosen):  # type: ignore[no-untyped-def]
    """`chosen` = places of hope, fear and the model's best among `count` candidates, the earliest among equals."""
    hope, fear, best = 0, 0, 0
    for i in range(1, count):
        if model[i] + metric[i] > model[hope] + metric[hope]:
            hope = i
        if model[i] - metric[i] > model[fear] - metric[fear]:
            fear = i
        if model[i] > model[best]:
            best = i
    if safe and abs(model[hope]) > 1e-8:
        share = abs(SAFE_RATIO * metric[hope]) / abs(model[hope])
        if share < 1.0:
            hope = 0
            for i in range(1, count):
                if share * model[i] + metric[i] > share * model[hope] + metric[hope]:
                    hope = i
    chosen[0], chosen[1], chosen[2] = hope, fear, best


@nested
def step(hope, fear, gain, features, inverse, c, weights, lag, time):  # type: ignore[no-untyped-def]
    """Move the weights from the features of `fear` to those of `hope`: min(c, loss / |difference|^2) times as far.

    Args:
        gain: how much better the metric finds hope than fear.
        inverse: (d + p,) 1 / the unit of each column, 0 for columns that stay.
        time: sentences before this one.

    Returns:
        Whether the weights have moved.
    """
    dense, indptr, indices, data = features
    d = dense.shape[1]
    margin, norm = 0.0, 0.0
    for j in range(d):
        difference = dense[hope, j] - dense[fear, j]
        margin += difference * weights[j]
        norm += (difference * inverse[j]) ** 2
    a, b, last_a, last_b = indptr[hope], indptr[fear], indptr[hope + 1], indptr[fear + 1]
    while a < last_a or b < last_b:
        j, difference, a, b = _next(a, last_a, b, last_b, indices, data)
        margin += difference * weights[d + j]
        norm += (difference * inverse[d + j]) ** 2
    loss = gain - margin
    if not (loss > 0.0 and norm > 0.0):
        return False
    size = min(c, loss / norm)
    for j in range(d):
        change = size * inverse[j] * ((dense[hope, j] - dense[fear, j]) * inverse[j])
        weights[j] += change
        lag[j] += time * change
    a, b = indptr[hope], indptr[fear]
    while a < last_a or b < last_b:
        j, difference, a, b = _next(a, last_a, b, last_b, indices, data)
        change = size * inverse[d + j] * (difference * inverse[d + j])
        weights[d + j] += change
        lag[d + j] += time * change
    return True


@nested
def _next(a, last_a, b, last_b, indices, data):  # type: ignore[no-untyped-def]
    """The next column of two sparse rows, their difference in it, and the places behind it."""
    if b >= last_b or (a < last_a and indices[a] < indices[b]):
        return indices[a], data[a], a + 1, b
    if a >= last_a or indices[b] < indices[a]:
        return indices[b], -data[b], a, b + 1
    return indices[a], data[a] - data[b], a + 1, b + 1


@borrowing
def family_pass(  # type: ignore[no-untyped-def]
    turn, starts, features, statistics, family, alpha, inverse, settings, weights, lag, background, time, room
):
    """One pass over the sentences in the order `turn`; the number of steps.

    Args:
        settings: (c, decay, model_bg, safe).
        background: (k,) statistics, changed.
        time: sentences before this pass.
        room: (3, most candidates of a sentence, at least 3) for scores in between.
    """
    c, decay, model_bg, safe = settings
    model, metric = room[0], room[1]
    chosen = room[2]
    d = features[0].shape[1]
    moves = 0
    for place in range(turn.shape[0]):
        s = turn[place]
        first, last = starts[s], starts[s + 1]
        model_scores(features, weights[:d], weights[d:], first, model[: last - first])
        family_scores(first, last, statistics, background, family, alpha, metric)
        choose(model, metric, last - first, safe, chosen)
        hope, fear, best = int(chosen[0]), int(chosen[1]), int(chosen[2])
        gain = metric[hope] - metric[fear]
        if gain > 0.0 and step(first + hope, first + fear, gain, features, inverse, c, weights, lag, time + place):
            moves += 1
        row = first + (best if model_bg else hope)
        for k in range(background.shape[0]):
            background[k] = decay * background[k] + statistics[row, k]
    return moves
