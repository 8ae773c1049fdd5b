"""SIMPBLEU: the family of BLEU's relatives that Song (2015, ch. 3.2) takes apart, letter by letter.

``[P|R][A|G][B]?[C]?[1-4]``: n-gram precision or recall, arithmetic or geometric mean over orders 1..N, brevity
penalty, clipping, largest order N. ``PGBC4`` is BLEU (Papineni et al. 2002).

What the definition leaves open is settled so:

- An empty hypothesis scores 0 whatever the smoothing, against an empty reference too (smoothing would give it 1, and
  make it the oracle of its list). Recall of an empty reference is 0 as well.
- An order without n-grams (a sentence shorter than N) has precision 0/0: it counts as 0 unless smoothing makes it
  1 (alpha/alpha); with ``orders="effective"`` such orders are left out of the mean, smoothed or not.
- Smoothing treats a sentence without any match like any other, as the thesis (2.4.2) and Moses' pro do.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Metric, Signature, mean, with_ones
from lasw.metrics.errors import UserError
from lasw.metrics.ngram.candidate_ngrams import expected_matches, pair_matches
from lasw.metrics.ngram.counts import (
    CLIPPED,
    CLOSEST,
    COLUMNS,
    ORDERS,
    SHORTEST,
    UNCLIPPED,
    UNCLIPPED_RECALL,
    ReferenceNgrams,
)
from lasw.metrics.registry import NotNegative, check_options
from lasw.metrics.text import CandidatePairs, Corpus, References

NAME = re.compile(r"(?P<ratio>[PR])(?P<mean>[AG])(?P<brevity>B?)(?P<clip>C?)(?P<order>[1-4])")
ALIASES = {"BLEU": "PGBC4", "BLEU+1": "PGBC4"}


@dataclass(frozen=True)
class SimpBleu(Metric):
    """A metric of the SIMPBLEU family; scores in [0, 1].

    Args:
        name: of the grammar above, or ``BLEU`` (PGBC4) or ``BLEU+1`` (PGBC4 whose sentence scores have add-1
            smoothing and an unsmoothed brevity penalty, as Moses' pro computes it; Lin & Och 2004).
        alpha: added to numerator and denominator (2.4.2); None: 1 for sentences, 0 for a corpus. The thesis' best
            is 3.
        smoothing: ``add`` smooths every order, ``lin-och`` orders above 1 only (Lin & Och 2004).
        bp: ``smoothed``, exp(min(0, 1 - (r+alpha)/(c+alpha))) (eq. 3.7); ``plain``, without alpha; ``reference``, alpha
            for the reference length alone (Nakov et al. 2012, pro's ``-b``); ``reversed``, exp(min(0, 1 - c/r)), which
            falls where the hypothesis is the longer one (what RABC2 of WMT14 had, with orders up to 1: RABC1). None:
            plain for BLEU+1 and lin-och, else smoothed.
        reflen: with several references, the length ``closest`` to the hypothesis' (of two the shorter), the
            ``shortest`` or the ``average``.
        refs: ``joint``: precision clips against the maximum over references, recall takes for each order the reference
            with the largest recall (of equal ones the first); ``each``: every reference alone, the mean of the scores
            (the thesis' way).
        corpus: ``sum``: the corpus score is that of the summed statistics; ``mean``: the mean of the sentence scores.
        orders: ``all``, or ``effective``: orders without n-grams are left out of the mean.

    Statistics (int32 unless the reference length is an average). Precision, (n, 9): match1 total1 ... match4 total4
    reflen, Moses' layout, total1 being the candidate's length. Recall, (n, 10): match1 total1 ... match4 total4 with
    totals of the reference, candidate length, reflen. ``each`` puts R such groups side by side; ``mean`` has
    (score, 1).

    Raises:
        UserError: a name or a value that does not exist.
    """

    name: str = "BLEU"
    alpha: NotNegative | None = None
    smoothing: Literal["add", "lin-och"] = "add"
    bp: Literal["smoothed", "plain", "reference", "reversed"] | None = None
    reflen: Literal["closest", "shortest", "average"] = "closest"
    refs: Literal["joint", "each"] = "joint"
    corpus: Literal["sum", "mean"] = "sum"
    orders: Literal["all", "effective"] = "all"

    def __post_init__(self) -> None:
        if NAME.fullmatch(self._letters) is None:
            raise UserError(f"metric {self.name!r}", expected="[P|R][A|G][B]?[C]?[1-4], as PABC4")
        check_options(self)

    @property
    def _letters(self) -> str:
        return ALIASES.get(self.name, self.name)

    @property
    def _recall(self) -> bool:
        return self._letters[0] == "R"

    @property
    def _order(self) -> int:
        return int(self._letters[-1])

    @property
    def _penalty(self) -> str:
        """Which brevity penalty: ``smoothed``, ``plain``, ``reference``, ``reversed`` or ``none``."""
        if "B" not in self._letters:
            return "none"
        if self.bp is not None:
            return self.bp
        return "plain" if self.name == "BLEU+1" or self.smoothing == "lin-och" else "smoothed"

    @property
    def sentence_alpha(self) -> float:
        """Alpha of sentence scores."""
        return 1.0 if self.alpha is None else self.alpha

    @property
    def corpus_alpha(self) -> float:
        """Alpha of corpus scores."""
        return 0.0 if self.alpha is None else self.alpha

    def signature(self) -> Signature:
        """All settings, the two alphas apart."""
        settings = [
            ("alpha", f"{self.corpus_alpha:g}"),
            ("sentence-alpha", f"{self.sentence_alpha:g}"),
            ("smoothing", self.smoothing),
            ("bp", self._penalty),
            ("reflen", self.reflen),
            ("refs", self.refs),
            ("corpus", self.corpus),
            ("orders", self.orders),
        ]
        return Signature(self.name, tuple(settings))

    def statistics_key(self) -> str:
        """The same for all that count alike: orders, means, penalties and smoothing do not matter to the counts."""
        if self.corpus == "mean":
            return str(self.signature())
        clip = "clipped" if "C" in self._letters else "unclipped"
        return f"ngrams:{'recall' if self._recall else 'precision'}:{clip}:{self.reflen}:{self.refs}"

    def prepare(self, references: References) -> tuple[ReferenceNgrams, ...]:
        """The references' n-grams: one trie a segment, or one a reference where references are counted alone."""
        return (
            ReferenceNgrams.of_each(references)
            if self._recall or self.refs == "each"
            else (ReferenceNgrams.of(references),)
        )

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        """See the class for the layouts."""
        if self.corpus == "mean":
            return self._scored(self._sums.statistics(hypotheses, prepared, owner))
        shortest = self.reflen == "shortest"
        counts: list[NDArray[Any]] = [
            trie.statistics(
                hypotheses, owner, counting=self._counting, reference_length=SHORTEST if shortest else CLOSEST
            )
            for trie in prepared
        ]
        lengths = [trie.lengths[owner] for trie in prepared]
        if self._recall:
            totals = [ngram_totals(length[:, 0]) for length in lengths]
            counts = [_with_reference_totals(x, total) for x, total in zip(counts, totals, strict=True)]
        if self.refs == "each":
            return np.hstack(counts)
        if len(counts) > 1:
            counts = [_best_recall(np.stack(counts), shortest=shortest)]
        if self.reflen == "average":
            averages = np.concatenate(lengths, axis=1).mean(axis=1)
            return np.column_stack([counts[0][:, :-1], averages])
        return counts[0]

    @property
    def by_segment(self) -> bool:
        """It does."""
        return True

    def pair_statistics(self, pairs: CandidatePairs, prepared: Any) -> NDArray[Any]:
        """See `Metric`; n-grams are counted once a text."""
        if self.corpus == "mean":
            return self._scored(self._sums.pair_statistics(pairs, prepared))
        matches = pair_matches(pairs.shared.texts, pairs.shared, ORDERS, self._counting)
        ours, theirs = (ngram_totals(texts.lengths) for texts in (pairs.hypotheses, pairs.references))
        theirs = theirs[pairs.reference]
        counts = self._laid_out(matches, ours[pairs.hypothesis], theirs, theirs[:, 0])
        averaged = self.reflen == "average" and self.refs == "joint"  # which makes them numbers with fractions
        return counts.astype(np.float64) if averaged else counts

    def aggregated_statistics(
        self, pairs: CandidatePairs, weights: NDArray[np.float64], prepared: Any
    ) -> NDArray[np.float64]:
        """See `Metric`."""
        if self.corpus == "mean":
            return self._scored(self._sums.aggregated_statistics(pairs, weights, prepared))
        matches = expected_matches(pairs.shared.texts, pairs.shared, weights, ORDERS, self._counting)
        lengths = pairs.references.lengths
        theirs = pairs.expected(ngram_totals(lengths), weights)
        return self._laid_out(matches, ngram_totals(pairs.hypotheses.lengths), theirs, theirs[:, 0])

    @property
    def _counting(self) -> int:
        return CLIPPED if "C" in self._letters else (UNCLIPPED_RECALL if self._recall else UNCLIPPED)

    @property
    def _sums(self) -> SimpBleu:
        """The same metric with statistics that add up."""
        return dataclasses.replace(self, corpus="sum")

    def _scored(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        """(n, 2) the statistics of a mean of sentence scores."""
        return with_ones(self._sums.sentence_scores(statistics))

    def _laid_out(
        self, matches: NDArray[Any], ours: NDArray[np.int32], theirs: NDArray[Any], lengths: NDArray[Any]
    ) -> NDArray[Any]:
        """Statistics from matches and n-grams of both sides, (m, ORDERS) each, and lengths of references."""
        counts = np.empty((len(matches), COLUMNS), dtype=matches.dtype)
        counts[:, 0:-1:2], counts[:, 1:-1:2], counts[:, -1] = matches, ours, lengths
        return _with_reference_totals(counts, theirs) if self._recall else counts

    def sentence_scores(self, statistics: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) scores of single sentences."""
        return self._scores(statistics, self.sentence_alpha)

    def corpus_scores(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """(m,) scores of m sums of statistics (m, k)."""
        return self._scores(totals, self.corpus_alpha)

    def remarks(self, total: NDArray[Any]) -> tuple[str, ...]:
        """Says it when an order has no n-grams at all, which makes a perfect but short text score 0."""
        if self.corpus == "mean" or self.corpus_alpha > 0 or self.orders == "effective":
            return ()
        totals = np.asarray(total).reshape(-1, COLUMNS + self._recall)[:, 1 : 2 * self._order : 2]
        missing = np.flatnonzero((totals == 0).any(axis=0))
        if not len(missing):
            return ()
        side = "reference" if self._recall else "hypothesis"
        return (
            f"no {side} has {missing[0] + 1} tokens, so that order counts as 0 in {self.name}; "
            "'orders=effective' leaves such orders out",
        )

    def _scores(self, statistics: NDArray[Any], alpha: float) -> NDArray[np.float64]:
        if self.corpus == "mean":
            return mean(statistics)
        width = COLUMNS + self._recall
        if (
            statistics.ndim != 2
            or statistics.shape[1] % width
            or (self.refs == "joint" and statistics.shape[1] != width)
        ):
            raise ValueError(f"statistics of shape {statistics.shape} for {self.statistics_key()}")
        scores = self._group_scores(statistics.reshape(-1, width), alpha)
        return np.asarray(scores.reshape(len(statistics), statistics.shape[1] // width).mean(axis=1))

    def _group_scores(self, x: NDArray[Any], alpha: float) -> NDArray[np.float64]:
        # Column by column: rows of nine are too short to compute with at once.
        columns = np.ascontiguousarray(x.T, dtype=np.float64)
        candidate, reference = columns[-2 if self._recall else 1], columns[-1]
        scores = self._mean(columns, alpha)
        scores *= self._brevity(candidate, reference, alpha)
        scores[(candidate == 0) | (columns[1] == 0)] = 0.0
        return scores

    def _mean(self, columns: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
        """Over orders, of match over total, (width, m) -> (m,)."""
        geometric = self._letters[1] == "G"
        total: NDArray[np.float64] = np.zeros(columns.shape[1])
        orders = np.zeros(columns.shape[1])
        for n in range(self._order):
            added = 0.0 if self.smoothing == "lin-och" and n == 0 else alpha
            values = _ratio(columns[2 * n] + added, columns[2 * n + 1] + added)
            if geometric:
                with np.errstate(divide="ignore"):
                    values = np.log(values)  # of 0: -inf, whose exponential is 0 again
            if self.orders == "effective":
                counted = columns[2 * n + 1] > 0
                values = np.where(counted, values, 0.0)
                orders += counted
            total += values
        total /= np.maximum(orders, 1) if self.orders == "effective" else self._order
        return np.exp(total) if geometric else total

    def _brevity(
        self, candidate: NDArray[np.float64], reference: NDArray[np.float64], alpha: float
    ) -> NDArray[np.float64]:
        if self._penalty == "none":
            return np.ones_like(candidate)
        if self._penalty == "reversed":
            with np.errstate(divide="ignore"):  # against an empty reference everything is too long
                return np.exp(np.minimum(0.0, 1.0 - np.maximum(candidate, 1.0) / reference))
        r = reference if self._penalty == "plain" else reference + alpha
        c = candidate + alpha if self._penalty == "smoothed" else candidate
        return np.exp(np.minimum(0.0, 1.0 - r / np.maximum(c, 1.0)))  # empty candidates score 0 anyway


def _ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Their ratio, 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def ngram_totals(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """(n, ORDERS) how many n-grams of each order texts of these lengths have."""
    return np.asarray(np.maximum(lengths[:, None] - np.arange(ORDERS), 0), dtype=np.int32)


def _with_reference_totals(counts: NDArray[Any], totals: NDArray[Any]) -> NDArray[Any]:
    """Recall's layout: totals of the reference, the candidate's length behind them, (n, 10)."""
    out = np.insert(counts, -1, counts[:, 1], axis=1)
    out[:, 1 : 2 * ORDERS : 2] = totals
    return out


def _best_recall(counts: NDArray[np.int32], *, shortest: bool) -> NDArray[np.int32]:
    """(R, n, 10) -> (n, 10): per order the reference with the largest recall, and the effective length."""
    out: NDArray[np.int32] = counts[0].copy()
    rows = np.arange(counts.shape[1])
    for n in range(ORDERS):
        matches, totals = counts[:, :, 2 * n], counts[:, :, 2 * n + 1]
        # A reference without n-grams of this order has no recall: any other goes before it.
        recall = np.divide(matches, totals, out=np.full(matches.shape, -1.0), where=totals > 0)
        best = recall.argmax(axis=0)
        out[:, 2 * n], out[:, 2 * n + 1] = matches[best, rows], totals[best, rows]
    lengths, candidate = counts[:, :, -1], counts[0, :, -2]
    # Closest first, of equally close ones the shorter: one number that orders both.
    order = lengths if shortest else 2 * np.abs(lengths - candidate) + (lengths > candidate)
    out[:, -1] = lengths[order.argmin(axis=0), rows]
    return out
