"""Kernels of the softmax over each sentence's candidates: probabilities, expected statistics, their derivatives."""

from __future__ import annotations

import math

from lasw.metrics import borrowing


@borrowing
def softmax(starts, scores, probability, normaliser, entropy):  # type: ignore[no-untyped-def]
    """Fill probability (n,), normaliser and entropy (S',) from scores (n,).

    p_i = exp(score_i - normaliser of its sentence); entropies are in nats; sentence s has the candidates from
    starts[s] to starts[s + 1].
    """
    for s in range(starts.shape[0] - 1):
        first, last = starts[s], starts[s + 1]
        largest = scores[first]
        for i in range(first + 1, last):
            largest = max(largest, scores[i])
        total, weighted = 0.0, 0.0
        for i in range(first, last):
            below = scores[i] - largest
            p = math.exp(below)
            probability[i] = p
            total += p
            weighted += p * below
        for i in range(first, last):
            probability[i] /= total
        normaliser[s] = largest + math.log(total)
        entropy[s] = math.log(total) - weighted / total


@borrowing
def expected_statistics(probability, statistics, total):  # type: ignore[no-untyped-def]
    """Fill total (k,) with the sum of all candidates' statistics (n, k), each times its probability."""
    total[:] = 0.0
    for i in range(probability.shape[0]):
        for k in range(total.shape[0]):
            total[k] += probability[i] * statistics[i, k]


@borrowing
def score_derivatives(starts, probability, statistics, slope, entropy, temperature, derivative):  # type: ignore[no-untyped-def]
    """Fill derivative (n,): of slope . expected statistics + temperature * sum of entropies, in each model score.

    p_i (u_i - mean of u), with u_i = slope . statistics_i - temperature * log p_i.
    """
    for s in range(starts.shape[0] - 1):
        first, last = starts[s], starts[s + 1]
        mean = 0.0
        for i in range(first, last):
            value = 0.0
            for k in range(slope.shape[0]):
                value += slope[k] * statistics[i, k]
            derivative[i] = value
            mean += probability[i] * value
        for i in range(first, last):
            p = probability[i]
            value = derivative[i] - mean
            if temperature != 0.0 and p > 0.0:
                value -= temperature * (math.log(p) + entropy[s])
            derivative[i] = p * value
