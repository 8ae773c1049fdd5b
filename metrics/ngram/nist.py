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
from lasw.metrics.kernels import borrowing
from lasw.metrics.ngram.counts import FREE, Pairs, ReferenceNgrams, child_key, child_slot
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
        nodes = len(informed.information)
        _match(
            *pairs.arrays,
            self.orders,
            informed.keys,
            informed.children,
            informed.information,
            np.zeros((2, nodes), dtype=np.int32),
            np.zeros(
                self.orders * max(lengths.max(initial=0), references.lengths.sum(axis=1).max(initial=0)) + 1, np.int32
            ),
            np.zeros(self.orders * int(references.lengths.sum(axis=1).max(initial=0)) + 1, np.int32),
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
    """All references, and their n-grams as a trie whose node 0 is the empty n-gram.

    Attributes:
        references: the tokens.
        keys, children: open addressing, (node, word) to node.
        information: (nodes,) of each n-gram.
    """

    references: ReferenceNgrams
    keys: NDArray[np.int64]
    children: NDArray[np.int32]
    information: NDArray[np.float64]

    @classmethod
    def of(cls, references: References, orders: int) -> InformedReferences:
        """Count the n-grams of all references."""
        texts = ReferenceNgrams.of(references)
        most = orders * len(texts.ids) + 1
        keys = np.zeros(1 << (2 * most).bit_length(), dtype=np.int64)
        children = np.zeros(len(keys), dtype=np.int32)
        counts, parents = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int32)
        counts[0] = len(texts.ids)
        nodes = int(_build(texts.ids, texts.offsets, orders, keys, children, counts, parents))
        counts, parents = counts[:nodes], parents[:nodes]
        information = np.zeros(nodes)
        information[1:] = np.log2(counts[parents[1:]] / counts[1:])
        return cls(texts, keys, children, information)


@borrowing
def _build(ids, offsets, orders, keys, children, counts, parents):  # type: ignore[no-untyped-def]
    nodes = 1
    mask = np.int64(keys.shape[0] - 1)
    for r in range(offsets.shape[0]):
        for s in range(offsets.shape[1] - 1):
            end = offsets[r, s + 1]
            for i in range(offsets[r, s], end):
                node = np.int64(0)
                for j in range(i, min(i + orders, end)):
                    slot = child_slot(node, ids[j], keys, mask)
                    if keys[slot] == FREE:
                        keys[slot] = child_key(node, ids[j])
                        children[slot] = nodes
                        parents[nodes] = node
                        nodes += 1
                    node = np.int64(children[slot])
                    counts[node] += 1
    return nodes


@borrowing
def _match(  # type: ignore[no-untyped-def]
    ids,
    offsets,
    owner,
    rows,
    reference_ids,
    reference_offsets,
    orders,
    keys,
    children,
    information,
    counts,
    touched,
    limited,
    out,
):
    """Add the information of matched n-grams to `out`.

    Scratch: counts (2, nodes), all zero between segments: how often a reference has the n-gram at most, and how often
    the text at hand; the nodes that are not zero.
    """
    segment = -1
    limits = 0
    mask = np.int64(keys.shape[0] - 1)
    for k in range(rows.shape[0]):
        s = owner[rows[k]]
        if s != segment:
            for i in range(limits):
                counts[0, limited[i]] = 0
            limits = 0
            segment = s
            for r in range(reference_offsets.shape[0]):
                many = 0
                end = reference_offsets[r, s + 1]
                for i in range(reference_offsets[r, s], end):
                    node = np.int64(0)
                    for j in range(i, min(i + orders, end)):
                        node = np.int64(children[child_slot(node, reference_ids[j], keys, mask)])
                        counts[1, node] += 1
                        if counts[1, node] > counts[0, node]:
                            if counts[0, node] == 0:
                                limited[limits] = node
                                limits += 1
                            counts[0, node] = counts[1, node]
                        touched[many] = node
                        many += 1
                for i in range(many):
                    counts[1, touched[i]] = 0
        many = 0
        end = offsets[rows[k] + 1]
        for i in range(offsets[rows[k]], end):
            node = np.int64(0)
            for n in range(min(orders, end - i)):
                slot = child_slot(node, ids[i + n], keys, mask)
                if keys[slot] == FREE:
                    break
                node = np.int64(children[slot])
                if counts[0, node] == 0:
                    break
                if counts[1, node] < counts[0, node]:
                    counts[1, node] += 1
                    out[k, 2 * n] += information[node]
                    touched[many] = node
                    many += 1
        for i in range(many):
            counts[1, touched[i]] = 0
