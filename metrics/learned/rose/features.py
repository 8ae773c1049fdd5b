"""The features of ROSE (Song 2015, 3.1.2, table 3.1): 17 of words, 16 more of parts of speech; and of characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.learned.rose.characters import MOST_CHARACTERS, CharacterFeatures, PreparedCharacters
from lasw.metrics.learned.rose.mixed import BITS, mixed_matches
from lasw.metrics.learned.tagging import TaggedText
from lasw.metrics.learned.word_classes import CLASSES, WordClasses
from lasw.metrics.ngram import CLIPPED, ORDERS, UNCLIPPED, UNCLIPPED_RECALL, ReferenceNgrams
from lasw.metrics.registry import Limits
from lasw.metrics.text import Corpus, References

_PER_ORDER = ("precision", "recall", "f1")
CORE = (
    *(f"{kind}{n}" for kind in _PER_ORDER for n in range(1, ORDERS + 1)),
    *("mean-precision", "words", "function-words", "punctuation", "content-words"),
)
POS = (
    *(f"pos-{kind}{n}" for kind in _PER_ORDER for n in range(1, ORDERS + 1)),
    *(f"mixed-precision{n}" for n in range(1, ORDERS + 1)),
)


@dataclass(frozen=True)
class PreparedReferences:
    """What `RoseFeatures.prepare` makes of the references.

    Attributes:
        words, tags: n-grams of all references together, then of each alone; `tags` is None without parts of speech.
        class_counts: (R, n, 3) function words, punctuation and content words of each reference.
        classes: of the vocabulary of words.
        text: parts tagged tokens; None without parts of speech.
        pairs: words and tags of each reference, for mixed n-grams.
        characters: None without features of them.
    """

    words: tuple[ReferenceNgrams, ...]
    tags: tuple[ReferenceNgrams, ...] | None
    class_counts: NDArray[np.int32]
    classes: WordClasses
    text: TaggedText | None
    pairs: tuple[tuple[Corpus, Corpus], ...]
    characters: PreparedCharacters | None


@dataclass(frozen=True)
class RoseFeatures:
    """Features of hypotheses against their references.

    Args:
        function_words: as spelt in the text (see `lasw.metrics.learned.word_classes`).
        pos: the 16 features of parts of speech too; tokens must then be ``word|TAG``.
        clip: an n-gram counts at most as often as the reference has it (eq. 3.2); else every occurrence counts, as the
            text of 3.1.2 says.
        ratio: numbers of function words, punctuation and content words as their ratio to the reference's; else as their
            difference over the reference's length.
        characters: precision and recall of n-grams of up to so many characters too (`CharacterFeatures`), last.

    In the order of `names`, for n = 1..4: n-gram precision, recall, F1; the mean of the precisions; the ratio of the
    lengths; function words, punctuation, content words; the same precision, recall and F1 of tags; mixed precision, of
    n-grams that agree by word or by tag at every place.

    A ratio of 0/0 is 0 among precisions, recalls and F1. A length or a number that the reference has none of has one
    added on both sides, so that 0 against 0 is 1. With several references precision counts what any has (at most as
    often as one of them has it), recall and mixed precision are the largest, and each count the one closest to no
    difference, the first of equally close ones. Clipped mixed n-grams are matched so that most find a partner.
    """

    function_words: tuple[str, ...] = ()
    pos: bool = False
    clip: bool = True
    ratio: bool = False
    characters: Annotated[int, Limits(f"0 to {MOST_CHARACTERS}", least=0, most=MOST_CHARACTERS)] = 0

    @property
    def names(self) -> tuple[str, ...]:
        """17 or 33 names, and 2 more for each order of characters."""
        return CORE + (POS if self.pos else ()) + CharacterFeatures(self.characters).names

    def prepare(self, references: References) -> PreparedReferences:
        """Digest the references once.

        Raises:
            UserError: tags are asked for and a token has none.
        """
        text = TaggedText(references.vocabulary) if self.pos else None
        pairs = tuple(text.split(corpus) for corpus in references.corpora) if text else ()
        words = References(tuple(w for w, _ in pairs)) if text else references
        tags = References(tuple(t for _, t in pairs)) if text else None
        classes = WordClasses(words.vocabulary, self.function_words)
        class_counts = np.stack([classes.counts(corpus) for corpus in words.corpora])
        tries = (_together_and_alone(words), _together_and_alone(tags) if tags else None)
        characters = CharacterFeatures(self.characters).prepare(words)
        return PreparedReferences(*tries, class_counts, classes, text, pairs, characters)

    def matrix(
        self, hypotheses: Corpus, prepared: PreparedReferences, owner: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """(n, d) features of n hypotheses, in the order of the d `names`; in Fortran order.

        Args:
            hypotheses: n sentences over the references' vocabulary.
            prepared: what `prepare` gave.
            owner: (n,) segment of each.

        Raises:
            UserError: tags are asked for and a token has none.
        """
        words, tags = prepared.text.split(hypotheses) if prepared.text else (hypotheses, None)
        out = np.zeros((len(hypotheses), len(self.names)), order="F")
        self._fill_ngrams(out[:, : 3 * ORDERS], words, prepared.words, owner)
        at = 3 * ORDERS
        out[:, at] = out[:, :ORDERS].sum(axis=1) / ORDERS
        self._fill_counts(out[:, at + 1 : len(CORE)], prepared.classes.counts(words), prepared.class_counts[:, owner])
        if tags is not None and prepared.tags is not None:
            at = len(CORE)
            self._fill_ngrams(out[:, at : at + 3 * ORDERS], tags, prepared.tags, owner)
            self._fill_mixed(out[:, at + 3 * ORDERS : at + len(POS)], words, tags, prepared.pairs, owner)
        if prepared.characters is not None:
            prepared.characters.fill(out[:, -2 * self.characters :], words, owner)
        return out

    def _fill_ngrams(
        self,
        out: NDArray[np.float64],
        hypotheses: Corpus,
        tries: tuple[ReferenceNgrams, ...],
        owner: NDArray[np.integer],
    ) -> None:
        together, alone = tries[0], tries[1:] or tries
        counts = together.statistics(hypotheses, owner, counting=CLIPPED if self.clip else UNCLIPPED)
        columns = np.ascontiguousarray(counts.T)
        recalls = [columns]
        if len(tries) > 1 or not self.clip:
            counting = CLIPPED if self.clip else UNCLIPPED_RECALL
            recalls = [np.ascontiguousarray(t.statistics(hypotheses, owner, counting=counting).T) for t in alone]
        for n in range(ORDERS):
            precision, recall, f1 = (out[:, k * ORDERS + n] for k in range(3))
            np.divide(columns[2 * n], columns[2 * n + 1], out=precision, where=columns[2 * n + 1] > 0)
            for trie, matches in zip(alone, recalls, strict=True):
                total = (trie.lengths[:, 0] - n)[owner]
                recall_of_one = np.divide(matches[2 * n], total, out=np.zeros(len(recall)), where=total > 0)
                np.maximum(recall, recall_of_one, out=recall)
            both = precision + recall
            np.divide(2 * precision * recall, both, out=f1, where=both > 0)

    def _fill_counts(self, out: NDArray[np.float64], own: NDArray[np.int32], others: NDArray[np.int32]) -> None:
        """Words, function words, punctuation, content words; `own` (n, 3), `others` (R, n, 3)."""
        length = own.sum(axis=1)
        lengths = others.sum(axis=2)
        out[:, 0] = _closest([_count_ratio(length, x) for x in lengths], 1.0)
        for k in range(CLASSES):
            if self.ratio:
                out[:, k + 1] = _closest([_count_ratio(own[:, k], x[:, k]) for x in others], 1.0)
            else:
                differences = [
                    (own[:, k] - x[:, k]) / np.maximum(size, 1) for x, size in zip(others, lengths, strict=True)
                ]
                out[:, k + 1] = _closest(differences, 0.0)

    def _fill_mixed(
        self,
        out: NDArray[np.float64],
        words: Corpus,
        tags: Corpus,
        pairs: Sequence[tuple[Corpus, Corpus]],
        owner: NDArray[np.integer],
    ) -> None:
        totals = np.maximum(words.lengths[:, None] - np.arange(ORDERS), 1)
        segments = np.ascontiguousarray(owner, dtype=np.int64)
        for other_words, other_tags in pairs:
            longest = int(other_words.lengths.max(initial=0))
            blocks = longest // BITS + 1
            matches = np.zeros((len(words), ORDERS), dtype=np.int64)
            mixed_matches(
                *(words.ids, tags.ids, words.offsets, segments),
                *(other_words.ids, other_tags.ids, other_words.offsets, self.clip),
                *np.zeros((2, int(words.lengths.max(initial=0)), blocks), dtype=np.uint64),
                np.zeros((2, blocks), dtype=np.uint64),
                np.zeros(longest, dtype=np.int64),
                np.zeros((longest + 1, 2), dtype=np.int64),
                matches,
            )
            np.maximum(out, matches / totals, out=out)


def _together_and_alone(references: References) -> tuple[ReferenceNgrams, ...]:
    together = ReferenceNgrams.of(references)
    return (together, *ReferenceNgrams.of_each(references)) if len(references.corpora) > 1 else (together,)


def _count_ratio(own: NDArray[Any], other: NDArray[Any]) -> NDArray[np.float64]:
    none = other == 0
    return np.asarray((own + none) / (other + none))


def _closest(values: list[NDArray[np.float64]], target: float) -> NDArray[np.float64]:
    """Element by element the one of R values that is closest to `target`."""
    best = values[0]
    for other in values[1:]:
        best = np.where(np.abs(other - target) < np.abs(best - target), other, best)
    return best
