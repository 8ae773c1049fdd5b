"""NIST: n-gram precision weighted by information (Doddington 2002), as mteval-v13a computes it from tokens.

An n-gram's information is log2 of how much rarer it is than its first n - 1 words, both counted in all references (for
one word: than all words). The score is the sum over orders of the information of matched n-grams, clipped, over the
number of n-grams of the hypotheses, times a length penalty that is 0.5 where they have two thirds of the references'
words.

Of several references an n-gram counts as often as the one that has it most, and their mean length is what counts, as
in mteval; NLTK takes for each order the one reference with the best precision and that one's length, so the two agree
on one reference only.

Scores start at 0 and have no upper end: a perfect one depends on how informative the references are. The information is
that of all prepared references, so a segment's score depends on the corpus it is in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric, Signature
from lasw.metrics.kernels import borrowing, nested
from lasw.metrics.ngram.counts import Pairs, ReferenceNgrams
from lasw.metrics.ngram.long_texts import MOST_NODES, common_ngrams, ngram_names
from lasw.metrics.ngram.trie import FREE, child_key, child_slot
from lasw.metrics.registry import Limits, check_options
from lasw.metrics.text import Corpus, References

ORDERS = 5
MOST_ORDERS = 9

# exp(beta log^2(2/3)) = 0.5
_BETA = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True)
class Nist(Metric):
    """The NIST score, from 0 upwards.

    Args:
        orders: largest n-gram.

    Statistics, (n, 2 orders + 1) float64: for each order the information of matched n-grams and the number of n-grams
    of the hypothesis; the mean reference length.

    Raises:
        UserError: a value out of range.
    """

    orders: Annotated[int, Limits(f"1 to {MOST_ORDERS}", least=1, most=MOST_ORDERS)] = ORDERS

    name = "NIST"
    display_scale = 1.0

    def __post_init__(self) -> None:
        check_options(self)

    def signature(self) -> Signature:
        """The largest order, and what several references mean."""
        return Signature(self.name, (("orders", str(self.orders)), ("reflen", "average")))

    def prepare(self, references: References) -> InformedReferences:
        """The references' n-grams and what each tells."""
        return InformedReferences.of(references, self.orders)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """See the class for the layout; the same text of a segment is looked at once."""
        informed: InformedReferences = prepared
        references = informed.references
        pairs = Pairs.of(hypotheses, references, owner)
        rows = pairs.rows
        out = np.zeros((len(rows), 2 * self.orders + 1))
        lengths = hypotheses.lengths[rows]
        for n in range(self.orders):
            out[:, 2 * n + 1] = np.maximum(lengths - n, 0)
        out[:, -1] = references.lengths[pairs.owner[rows]].mean(axis=1)
        words = references.lengths.sum(axis=1)
        long = self.orders * words[pairs.owner[rows]] > MOST_NODES
        for k in np.flatnonzero(long):
            out[k, 0:-1:2] = informed.of_long_text(hypotheses.sentence(rows[k]), int(pairs.owner[rows[k]]))
        nodes = self.orders * int(words[pairs.owner[rows[~long]]].max(initial=0)) + 1
        slots = 1 << (2 * nodes).bit_length()
        _match(
            *pairs.arrays,
            np.flatnonzero(~long),
            informed.information,
            np.zeros(slots, dtype=np.int64),
            np.zeros(slots, dtype=np.int32),
            np.zeros((2, nodes), dtype=np.int32),
            np.zeros(nodes),
            np.zeros(nodes, dtype=np.int32),
            out,
        )
        return out[pairs.inverse]

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) scores; orders without n-grams add nothing, a text without words scores 0."""
        counts = np.asarray(totals, dtype=np.float64)
        information, ngrams = counts[:, 0:-1:2], counts[:, 1:-1:2]
        sums = np.divide(information, ngrams, out=np.zeros_like(ngrams), where=ngrams > 0).sum(axis=1)
        words, lengths = counts[:, 1], counts[:, -1]
        ratios = np.divide(words, lengths, out=np.ones_like(words), where=(lengths > 0) & (words > 0))
        return np.asarray(sums * np.exp(_BETA * np.log(np.minimum(ratios, 1.0)) ** 2))


@dataclass(frozen=True)
class InformedReferences:
    """All references, and what their n-grams tell.

    Attributes:
        references: the tokens.
        information: (orders, tokens of all references) float64, of the n-gram of each order that begins there; 0 where
            none does.
    """

    references: ReferenceNgrams
    information: NDArray[np.float64]

    @classmethod
    def of(cls, references: References, orders: int) -> InformedReferences:
        """Count the n-grams of all references."""
        texts = ReferenceNgrams.of(references)
        starts = np.concatenate([texts.offsets[:, :-1].ravel(), [len(texts.ids)]])
        information = np.zeros((orders, len(texts.ids)))
        # How often an n-gram's first words stand in the references.
        before = np.full(len(texts.ids), len(texts.ids), dtype=np.int32)
        for n, names in enumerate(ngram_names(texts.ids, starts, orders)):
            found = names >= 0
            counts = np.bincount(names[found])[names[found]].astype(np.int32)
            information[n, found] = np.log2(before[found] / counts)
            before[found] = counts
        return cls(texts, information)

    def of_long_text(self, text: NDArray[np.int32], segment: int) -> list[float]:
        """The information of matched n-grams of each order; in time that grows with the length of the text."""
        places = np.concatenate(
            [np.arange(first, last) for first, last in self.references.offsets[:, segment : segment + 2]]
        )
        sums = []
        for n, common in enumerate(common_ngrams(self.references.texts(segment), text, len(self.information))):
            told = np.zeros(len(common.limits))
            found = common.names >= 0
            told[common.names[found]] = self.information[n, places[found]]
            sums.append(float(np.minimum(common.limits, common.counts) @ told))
        return sums


@borrowing
def _match(  # type: ignore[no-untyped-def]
    ids,
    offsets,
    owner,
    rows,
    reference_ids,
    reference_offsets,
    chosen,
    information,
    keys,
    children,
    counts,
    told,
    touched,
    out,
):
    """Add the information of matched n-grams to `out[chosen]`; those of a segment must stand together.

    Scratch: the n-grams of a segment's references as a trie, nodes found by open addressing in `keys` and `children`,
    node 0 being none; counts (2, nodes): how often one reference has the n-gram at most, and how often the text at
    hand; the information of each; the nodes that the text touched.
    """
    orders = information.shape[0]
    segment = -1
    mask = np.int64(0)
    for k in chosen:
        s = owner[rows[k]]
        if s != segment:
            segment = s
            mask = _index(reference_ids, reference_offsets, s, information, keys, children, counts, told)
        many = 0
        end = offsets[rows[k] + 1]
        for i in range(offsets[rows[k]], end):
            node = np.int64(0)
            for n in range(min(orders, end - i)):
                slot = child_slot(node, ids[i + n], keys, mask)
                if keys[slot] == FREE:
                    break
                node = np.int64(children[slot])
                if counts[1, node] < counts[0, node]:
                    counts[1, node] += 1
                    out[k, 2 * n] += told[node]
                    touched[many] = node
                    many += 1
        for i in range(many):
            counts[1, touched[i]] = 0


@nested
def _index(reference_ids, reference_offsets, s, information, keys, children, counts, told):  # type: ignore[no-untyped-def]
    """Fill the trie with the references of segment `s`; the mask of its slots."""
    orders = information.shape[0]
    words = np.int64(0)
    for r in range(reference_offsets.shape[0]):
        words += reference_offsets[r, s + 1] - reference_offsets[r, s]
    size = np.int64(2)
    while size < 2 * orders * words + 2:
        size *= 2
    mask = size - 1
    for i in range(size):
        keys[i] = FREE
    nodes = np.int64(0)
    for r in range(reference_offsets.shape[0]):
        end = reference_offsets[r, s + 1]
        for i in range(reference_offsets[r, s], end):
            node = np.int64(0)
            for n in range(min(orders, end - i)):
                slot = child_slot(node, reference_ids[i + n], keys, mask)
                if keys[slot] == FREE:
                    nodes += 1
                    keys[slot] = child_key(node, reference_ids[i + n])
                    children[slot] = nodes
                    counts[0, nodes] = 0
                    counts[1, nodes] = 0
                    told[nodes] = information[n, i]
                node = np.int64(children[slot])
                counts[1, node] += 1
                counts[0, node] = max(counts[0, node], counts[1, node])
        for k in range(1, nodes + 1):
            counts[1, k] = 0
    return mask
