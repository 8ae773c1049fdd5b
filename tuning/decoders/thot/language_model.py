"""An n-gram language model as Thot reads it: counts, interpolated after Jelinek and Mercer (1980).

p(w | h) = l(h) c(hw)/c(h) + (1 - l(h)) p(w | h'), h' the history without its oldest word, down to 1/|V|. The weight l
depends on the order and on how often the history was seen, in buckets; the weights are those that maximise the
likelihood of held-out text, found by EM. Unknown words get their share by Thot's own rule: the first occurrence of
every word in the training text counts as ``<unk>``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, atomic_write, write_text

BUCKETS = 3  # by how often the history was seen: below 10, below 20, more (Thot's own default)
BUCKET_SIZE = 10
EM_ITERATIONS = 50
_SHARE = 0.5  # of the longer context where no held-out text says more
# Of the longer context, always: at 1 a word that was never seen there is impossible, and the decoder drops every
# hypothesis that has it, be it the only one.
_MOST = 0.99
_MARKS = ("<s>", "</s>", "<unk>")
_OWN_SYMBOLS = 1  # words that Thot's vocabulary has besides those of the counts and `_MARKS`

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NgramCounts:
    """The n-grams of one order.

    Attributes:
        history: (m,) row, in the order below, of the n-gram without its last word (0 for unigrams).
        word: (m,) its last word.
        count: (m,) how often the training text has it; 0 for one that only the held-out text has.
        total: (m,) how often the training text has its history in front of a word.
    """

    history: Ints
    word: Ints
    count: Ints
    total: Ints


@dataclass(frozen=True)
class LanguageModel:
    """Counts of the orders 1 to N over `words`, and interpolation weights (N, `BUCKETS`)."""

    words: list[str]
    orders: list[NgramCounts]
    weights: Floats

    def write(self, prefix: str | os.PathLike[str]) -> None:
        """Write `PREFIX`, a line ``w1 .. wn HISTORY_COUNT COUNT`` an n-gram, and `PREFIX.weights`."""
        name = os.fspath(prefix)
        begin = len(self.words) - len(_MARKS)
        with atomic_write(name) as stream:
            below = [""]
            for order in self.orders:
                columns = (order.history, order.word, order.total, order.count)
                texts, lines = [], []
                for history, word, total, count in zip(*(column.tolist() for column in columns), strict=True):
                    text = below[history] + self.words[word] + " "
                    texts.append(text)
                    if count and word != begin:  # nothing predicts a sentence's begin
                        lines.append(f"{text}{total} {count}\n")
                stream.write("".join(lines).encode())
                below = texts
        numbers = " ".join(repr(float(weight)) for weight in self.weights.ravel())
        write_text(name + ".weights", f"{len(self.orders)} {BUCKETS} {BUCKET_SIZE} {numbers}\n")


def train_language_model(text: Corpus, order: int = 3, held_out: Corpus | None = None) -> LanguageModel:
    """Count the n-grams of `text`, tune the interpolation weights on `held_out` (without it all are one half).

    Args:
        text: training text.
        order: of the longest n-grams, 1 or more.
        held_out: text over the same vocabulary that is not part of the training text.
    """
    if order < 1:
        raise ValueError(f"order {order}; expected at least 1")
    size = len(text.vocabulary)
    begin, unknown = size, size + 2
    words = [*(text.vocabulary[k] for k in range(size)), *_MARKS]
    flat = _framed(text, size)
    inner = np.flatnonzero(flat < size)
    _, first = np.unique(flat[inner], return_index=True)
    flat[inner[first]] = unknown
    known = np.zeros(len(words), dtype=bool)
    known[flat] = True
    training = len(flat)
    if held_out is not None:
        more = _framed(held_out, size)
        more[~known[more]] = unknown
        flat = np.concatenate([flat, more])
    orders, rows = _counted(flat, training, order, len(words), begin)
    weights = np.full((order, BUCKETS), _SHARE)
    if held_out is not None:
        predicted = training + np.flatnonzero(flat[training:] != begin)
        weights = _interpolated(weights, orders, [row[predicted] for row in rows], int(known.sum()) + _OWN_SYMBOLS)
    return LanguageModel(words, orders, weights)


def _framed(text: Corpus, size: int) -> Ints:
    """All sentences as word numbers, each between ``<s>`` (number `size`) and ``</s>`` (`size` + 1)."""
    flat = np.full(len(text.ids) + 2 * len(text), size + 1, dtype=np.int64)
    sentences = np.arange(len(text))
    flat[text.offsets[:-1] + 2 * sentences] = size
    flat[np.arange(len(text.ids)) + 1 + 2 * np.repeat(sentences, text.lengths)] = text.ids
    return flat


def _counted(
    flat: Ints, training: int, order: int, vocabulary: int, begin: int
) -> tuple[list[NgramCounts], list[Ints]]:
    """The counts of every order in flat[:training], and the row of the n-gram that ends at each place (-1: none)."""
    orders: list[NgramCounts] = []
    rows: list[Ints] = []
    for n in range(1, order + 1):
        if n == 1:
            history = np.zeros(len(flat), dtype=np.int64)
        else:
            history = np.concatenate([[-1], rows[-1][:-1]])
            history[flat == begin] = -1
        places = np.flatnonzero(history >= 0)
        keys, row = np.unique(history[places] * vocabulary + flat[places], return_inverse=True)
        count = np.bincount(row[places < training], minlength=len(keys))
        before, word = keys // vocabulary, keys % vocabulary
        predicted = np.where(word == begin, 0, count)
        total = np.bincount(before, weights=predicted).astype(np.int64)[before]
        orders.append(NgramCounts(before, word, count, total))
        at = np.full(len(flat), -1, dtype=np.int64)
        at[places] = row
        rows.append(at)
    return orders, rows


def _interpolated(weights: Floats, orders: list[NgramCounts], rows: list[Ints], vocabulary: int) -> Floats:
    """EM for the weights: rows[n] are the n-grams that end at the places to predict, -1 where there is none."""
    relative, bucket = [], []
    for order, row in zip(orders, rows, strict=True):
        # An order beyond the longest sentence has no n-grams at all.
        total, count = np.zeros_like(row), np.zeros_like(row)
        total[row >= 0], count[row >= 0] = order.total[row[row >= 0]], order.count[row[row >= 0]]
        relative.append(count / np.maximum(total, 1))
        bucket.append(np.minimum(total // BUCKET_SIZE, BUCKETS - 1))
    places = len(rows[0])
    for _ in range(EM_ITERATIONS):
        chosen = [np.where(row < 0, 0.0, weights[n, bucket[n]]) for n, row in enumerate(rows)]
        below = [np.full(places, 1.0 / vocabulary)]
        for share, p in zip(chosen, relative, strict=True):
            below.append(share * p + (1 - share) * below[-1])
        reached = np.ones(places)  # posterior of coming down to this order
        new = weights.copy()
        for n in range(len(rows) - 1, -1, -1):
            stops = reached * chosen[n] * relative[n] / below[n + 1]
            here = rows[n] >= 0
            mass = np.bincount(bucket[n][here], weights=reached[here], minlength=BUCKETS)
            kept = np.bincount(bucket[n][here], weights=stops[here], minlength=BUCKETS)
            new[n] = np.where(mass > 0, kept / np.maximum(mass, 1e-300), weights[n])
            reached = reached - stops
        weights = np.minimum(new, _MOST)
    return weights
