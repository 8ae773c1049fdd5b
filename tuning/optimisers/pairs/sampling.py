"""Which pairs of candidates an optimiser learns to rank: drawn at random, the clearest kept.

Hopkins & May 2011, section 4 (PRO); Song 2015, algorithm 5.1 (WRO): per sentence Gamma uniform draws, of those whose
metric difference reaches the threshold the Xi with the largest difference. Draws are with replacement, as in the
paper and in Moses: a pair that is drawn twice can be kept twice. Equal differences: the earlier draw first.

Every sentence has its own stream of random numbers (splitmix64, Steele et al. 2014, keyed by seed and sentence), so
what is drawn for a sentence depends on nothing but the seed, its number and its candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import borrowing, nested
from lasw.tuning.optimisers.base import DEFAULT_SEED

DRAWS = 5000  # Gamma of Hopkins & May
PAIRS = 50  # Xi of Hopkins & May
THRESHOLD = 0.05  # alpha's step of Hopkins & May, in [0, 1] of BLEU
ORACLE_SHARE = 0.1  # Song 2015, algorithm 5.1

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


@dataclass(frozen=True)
class Pairs:
    """m pairs of candidates of one sentence each, by sentence; within one the largest difference first.

    Attributes:
        better: (m,) int64, the candidate that the metric prefers.
        worse: (m,) int64, the other one.
        difference: (m,) float64, metric of the better minus metric of the worse, never below the threshold.
        sentence: (m,) int64.
    """

    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    difference: NDArray[np.float64]
    sentence: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.better)


@dataclass(frozen=True)
class PairSampler:
    """Draws pairs of candidates.

    Args:
        draws: Gamma, the number of draws a sentence.
        pairs: Xi, how many of them are kept at most.
        threshold: smallest metric difference of a pair; pairs without any difference are never kept.
        oracle_share: None: both candidates are any (PRO). A share in (0, 1]: the better one is among this share of
            the sentence's candidates with the highest scores, rounded down, at least one (WRO).
        seed: of all draws.
    """

    draws: int = DRAWS
    pairs: int = PAIRS
    threshold: float = THRESHOLD
    oracle_share: float | None = None
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if self.draws < 1 or self.pairs < 1:
            raise ValueError(f"{self.draws} draws and {self.pairs} pairs a sentence, expected at least 1 of each")
        if not self.threshold >= 0:
            raise ValueError(f"threshold {self.threshold}, expected 0 or more")
        if self.oracle_share is not None and not 0 < self.oracle_share <= 1:
            raise ValueError(f"oracle share {self.oracle_share}, expected above 0 and at most 1")

    def sample(
        self,
        scores: NDArray[np.float64],
        order: NDArray[np.integer],
        starts: NDArray[np.int64],
        lengths: NDArray[np.int64],
    ) -> Pairs:
        """Pairs of each sentence's candidates.

        Args:
            scores: (n,) sentence metric of each candidate.
            order: (n,) candidates grouped by sentence.
            starts: (S + 1,) candidates of sentence s are `order[starts[s]:starts[s + 1]]`.
            lengths: (n,) tokens of each candidate; an empty one is never an oracle.
        """
        sentences = len(starts) - 1
        best = np.empty((sentences, self.pairs), dtype=np.int64)
        other = np.empty((sentences, self.pairs), dtype=np.int64)
        differences = np.empty((sentences, self.pairs), dtype=np.float64)
        share = 0.0 if self.oracle_share is None else self.oracle_share
        count = np.zeros(sentences, dtype=np.int64)
        longest = int(np.diff(starts).max(initial=0))
        _sample(
            np.asarray(scores, dtype=np.float64),
            np.asarray(order, dtype=np.int64),
            np.asarray(starts, dtype=np.int64),
            np.asarray(lengths, dtype=np.int64),
            self.draws,
            # Above the next smaller number is the same as reaching the threshold; at 0, above no difference.
            float(np.nextafter(self.threshold, 0.0)),
            share,
            np.uint64(self.seed % 2**64),
            best,
            other,
            differences,
            count,
            (
                np.empty(self.pairs, dtype=np.int64),
                np.empty((self.draws, 2), dtype=np.int32),
                np.empty(longest),
                np.empty(longest),
                np.empty(longest, dtype=np.int64),
            ),
        )
        kept = np.arange(self.pairs) < count[:, None]
        sentence = np.repeat(np.arange(sentences, dtype=np.int64), count)
        return Pairs(best[kept], other[kept], differences[kept], sentence)


@nested
def _mix(z):  # type: ignore[no-untyped-def]
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@nested
def _keep(keys, ranks, size, limit, key, rank):  # type: ignore[no-untyped-def]
    """Put (key, rank) into a heap of the `limit` largest keys, among equals of the lowest ranks; its new size.

    The least wanted entry (smallest key, then highest rank) is at 0.
    """
    if size < limit:
        child = size
        while child > 0:
            parent = (child - 1) >> 1
            if keys[parent] < key or (keys[parent] == key and ranks[parent] > rank):
                break
            keys[child], ranks[child] = keys[parent], ranks[parent]
            child = parent
        keys[child], ranks[child] = key, rank
        return size + 1
    if key < keys[0] or (key == keys[0] and rank > ranks[0]):
        return size
    _sink(keys, ranks, size, key, rank)
    return size


@nested
def _sink(keys, ranks, size, key, rank):  # type: ignore[no-untyped-def]
    """Put (key, rank) in the place of the heap's entry 0."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (keys[right] < keys[child] or (keys[right] == keys[child] and ranks[right] > ranks[child])):
            child = right
        if key < keys[child] or (key == keys[child] and rank > ranks[child]):
            break
        keys[place], ranks[place] = keys[child], ranks[child]
        place = child
    keys[place], ranks[place] = key, rank


@nested
def _sort(keys, ranks, size):  # type: ignore[no-untyped-def]
    """Turn the heap into a list, the most wanted entry first: taking the least wanted fills it from its end."""
    while size > 1:
        size -= 1
        key, rank = keys[0], ranks[0]
        _sink(keys, ranks, size, keys[size], ranks[size])
        keys[size], ranks[size] = key, rank


@nested
def _oracles(local, mine, lengths, share, keys, ranks):  # type: ignore[no-untyped-def]
    """The number of oracles; they are ranks[:number], best first. local (c,) scores of the candidates mine (c,)."""
    limit = max(1, np.int64(share * mine.shape[0] + 1e-9))
    size = np.int64(0)
    for i in range(mine.shape[0]):
        if lengths[mine[i]] > 0:
            size = _keep(keys, ranks, size, limit, local[i], i)
    _sort(keys, ranks, size)
    return size


@borrowing
def _sample(  # type: ignore[no-untyped-def]
    scores, order, starts, lengths, draws, below, share, seed, better, worse, differences, count, scratch
):
    """Fill better, worse and differences (S, Xi) and count (S,).

    Scratch: the ranks of a heap (Xi,), the candidates drawn (Gamma, 2); as long as the longest list the scores of one
    sentence, and keys and ranks of the heap of its oracles.
    """
    limit = better.shape[1]
    ranks, drawn, local, heap, oracles = scratch
    for s in range(starts.shape[0] - 1):
        mine = order[starts[s] : starts[s + 1]]
        for c in range(mine.shape[0]):
            local[c] = scores[mine[c]]
        n = np.uint64(mine.shape[0])
        of = n
        if share > 0:
            of = np.uint64(_oracles(local, mine, lengths, share, heap, oracles))
        if n < 2 or of == 0:
            continue
        key = _mix(_mix(seed + _GOLDEN) + np.uint64(s) * _GOLDEN)
        size = np.int64(0)
        floor = below
        keys = differences[s]
        for k in range(draws):
            random = _mix(key + (np.uint64(k) + _ONE) * _GOLDEN)
            i = np.int64(((random >> _S32) * of) >> _S32)
            j = np.int64(((random & _LOW) * n) >> _S32)
            if share > 0:
                i = oracles[i]
            difference = local[i] - local[j]
            if share == 0:
                difference = abs(difference)
            if difference > floor:
                drawn[k, 0], drawn[k, 1] = (i, j) if local[i] > local[j] else (j, i)
                size = _keep(keys, ranks, size, limit, difference, k)
                if size == limit:
                    floor = keys[0]  # an equal difference drawn later is not wanted
        count[s] = size
        _sort(keys, ranks, size)
        for m in range(size):
            better[s, m] = mine[drawn[ranks[m], 0]]
            worse[s, m] = mine[drawn[ranks[m], 1]]
