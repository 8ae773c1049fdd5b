"""What a decoder's lists say of the weights they were made with: its own best translation of every sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lasw.metrics import Corpus, Metric, References, UserError
from lasw.tuning.nbest import NBest
from lasw.tuning.weights import Weights


def check_lists(decoder: str, nbest: NBest, weights: Weights) -> None:
    """Refuse lists that nothing can be learnt from.

    Args:
        decoder: its name, for messages.
        nbest: what it gave.
        weights: what it was given.

    Raises:
        UserError: no hypothesis at all, other features than the weights are of, or numbers that are not finite.
    """
    if not len(nbest):
        raise UserError(f"{decoder} gave no hypothesis for any sentence")
    if nbest.names != weights.names:
        raise UserError(
            f"{decoder} gave lists with the features {' '.join(nbest.names.components)}",
            expected=f"those that have weights: {' '.join(weights.names.components)}",
        )
    numbers = np.column_stack([nbest.dense, nbest.score])
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        what = (*nbest.names.components, "its total")[column]
        raise UserError(
            f"{decoder} gave {int(wrong.any(axis=1).sum())} hypotheses with numbers that are not finite: {what} is "
            f"{numbers[row, column]} for sentence {int(nbest.owner[row]) + 1}",
            expected="finite numbers",
        )


def first_hypotheses(nbest: NBest, sentences: int) -> Corpus:
    """The first hypothesis of each of so many sentences; one without any is translated by nothing."""
    first = _first(nbest, sentences)
    best = nbest.hypotheses.take(first[first >= 0])
    lengths = np.zeros(sentences, dtype=np.int64)
    lengths[first >= 0] = best.lengths
    return Corpus(best.ids, np.concatenate([[0], np.cumsum(lengths)]), best.vocabulary)


def note_silence(decoder: str, nbest: NBest, source: Sequence[str]) -> list[str]:
    """A warning if sentences that are not blank have no hypothesis."""
    none = np.flatnonzero(_first(nbest, len(source)) < 0).tolist()
    silent = [k for k in none if source[k].strip()]
    if not silent:
        return []
    return [
        f"{decoder} gave no hypothesis for {len(silent)} of {len(source)} sentences, the first is line {silent[0] + 1}"
    ]


def corpus_score(metric: Metric, translations: Corpus, references: References) -> float:
    """The metric's score of one translation a segment."""
    owner = np.arange(len(translations), dtype=np.int32)
    statistics = metric.statistics(translations, metric.prepare(references), owner)
    return float(metric.corpus_score(statistics.sum(axis=0)))


def _first(nbest: NBest, sentences: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(sentences,) the first hypothesis of each, -1 for none."""
    first = np.full(sentences, -1, dtype=np.int64)
    first[nbest.owner[::-1]] = np.arange(len(nbest))[::-1]
    return first
