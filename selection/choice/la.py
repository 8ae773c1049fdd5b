"""LA selection of a development set from a pool (Song 2015, algorithm 4.1).

Pairs with a source sentence of the right length are ranked by their score and taken from the top, unless they are too
similar to what was taken before, or to their own translation, until the source words reach the number asked for. Any
scorer can take the place of LA's (see `lasw.selection.pool.scored.Scorer`).

The pool is read once, and memory holds the candidates whose source words make `reach` times the number asked for. Only
if the filters reject nearly all of these is it read again, for twice as many behind them; so the selection is always
that of the full ranking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from lasw.metrics import Corpus, Vocabulary
from lasw.selection.choice.candidates import REJECTED, Candidates, Collection, Profile, Rank
from lasw.selection.choice.diversity import Diversity, Window, translation_similarity

WORDS = 30_000  # "a development corpus with 30k to 70k words is enough" (section 4.4.6)
REACH = 32  # of the words asked for, so many times as many are kept as candidates,
LEAST_KEPT = 1_000_000  # and at least so many (some 20 MB), so that small selections need no second reading
MOST_GROWTH = 16  # each further reading keeps twice as many as the one before, up to so many times the first
_AT_ONCE = 512  # candidates whose text is turned into ids together

UNTRANSLATED, SIMILAR = "untranslated", "similar"

Collect = Callable[[int, Rank | None], Collection]
"""Reads the whole pool and keeps the candidates behind a rank up to a budget of source words."""


@dataclass(frozen=True)
class Rejection:
    """A candidate that was not taken.

    `reason` is UNTRANSLATED or SIMILAR, `other` the line it is similar to (or 0), `texts` are source and target.
    """

    line: int
    score: float
    reason: str
    similarity: float
    other: int = 0
    texts: tuple[str, str] = ("", "")


@dataclass
class Selection:
    """What was selected, and what was seen on the way.

    Attributes:
        feature_names: of the columns of `chosen.features`.
        chosen: the selected pairs in the order they were taken.
        words: their source words.
        profile: of the whole pool.
        rejections: the first `REJECTED` candidates that the filters rejected, in rank order.
        reasons: how many candidates each filter rejected.
        reached: candidates looked at.
        readings: how many times the pool was read.
        followed: why the filters rejected the pair that was to be followed, if they did.
    """

    feature_names: tuple[str, ...] = ()
    chosen: Candidates = field(default_factory=Candidates.empty)
    words: int = 0
    profile: Profile = field(default_factory=Profile)
    rejections: list[Rejection] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    reached: int = 0
    readings: int = 0
    followed: Rejection | None = None

    def __len__(self) -> int:
        return len(self.chosen)


class Greedy:
    """Takes candidates in rank order until the source words reach `words`.

    Args:
        selection: is told what becomes of the candidates.
        words: source words to select.
        diversity: the two filters.
        follow: line number of a pair whose rejection is to be kept in any case; 0 is none.
    """

    def __init__(self, selection: Selection, words: int, diversity: Diversity, follow: int) -> None:
        self._selection = selection
        self._words = words
        self._follow = follow
        self._diversity = diversity
        self._vocabulary = Vocabulary()
        self._window = Window(diversity, self._vocabulary)
        self._ahead = 1  # how many to compare with it at once: the more the longer none was taken

    @property
    def done(self) -> bool:
        """Whether there are enough words."""
        return self._selection.words >= self._words

    def take(self, candidates: Candidates) -> list[int]:
        """The rows of the candidates taken from `candidates`, which rank behind all given before."""
        taken: list[int] = []
        for start in range(0, len(candidates), _AT_ONCE):
            if self.done:
                break
            taken += self._take_some(candidates, start, min(start + _AT_ONCE, len(candidates)))
        return taken

    def _take_some(self, candidates: Candidates, start: int, end: int) -> list[int]:
        source = Corpus.from_lines(candidates.source[start:end].texts(), self._vocabulary)
        target = Corpus.from_lines(candidates.target[start:end].texts(), self._vocabulary)
        to_target = translation_similarity(self._diversity, source, target)
        taken = []
        similar: dict[int, tuple[float, int]] = {}  # of rows further on, as long as the window stays as it is
        translated = np.flatnonzero(to_target < self._diversity.untranslated)
        for row in range(end - start):
            if self.done:
                break
            self._selection.reached += 1
            line, score = int(candidates.line[start + row]), float(candidates.score[start + row])
            if not to_target[row] < self._diversity.untranslated:
                self._reject(Rejection(line, score, UNTRANSLATED, float(to_target[row])), candidates, start + row)
                continue
            if row not in similar:
                rows = translated[np.searchsorted(translated, row) :][: self._ahead]
                similar = dict(zip(rows.tolist(), self._window.most_similar(source.take(rows)), strict=True))
                self._ahead = min(2 * self._ahead, self._window.most_at_once)
            similarity, other = similar[row]
            if not similarity < self._diversity.threshold:
                self._reject(Rejection(line, score, SIMILAR, similarity, other), candidates, start + row)
                continue
            ids = source.sentence(row)
            self._window.add(line, ids.copy())
            similar, self._ahead = {}, 1
            self._selection.words += len(ids)
            taken.append(start + row)
        return taken

    def _reject(self, rejection: Rejection, candidates: Candidates, row: int) -> None:
        self._selection.reasons[rejection.reason] += 1
        if rejection.line == self._follow:
            self._selection.followed = rejection
        if len(self._selection.rejections) < REJECTED:
            texts = candidates.source.text(row), candidates.target.text(row)
            self._selection.rejections.append(replace(rejection, texts=texts))


def choose(
    collect_pool: Collect,
    words: int = WORDS,
    diversity: Diversity | None = None,
    *,
    reach: int | None = None,
    feature_names: tuple[str, ...] = (),
    follow: int = 0,
) -> Selection:
    """Choose a development set (algorithm 4.1).

    Args:
        collect_pool: reads and scores the pool (see `collector`); called once, rarely more often.
        words: source words to reach; the last pair taken may go beyond.
        diversity: the two filters.
        reach: times `words`, how many source words of candidates are kept in memory; by default `REACH`, and at least
            `LEAST_KEPT` words.
        feature_names: of the columns of features.
        follow: see `Greedy`.

    Raises:
        UserError: whatever reading the pool raises.
    """
    selection = Selection(feature_names)
    greedy = Greedy(selection, words, diversity or Diversity(), follow)
    budget = max(words * REACH, LEAST_KEPT) if reach is None else words * reach
    largest = MOST_GROWTH * budget
    parts: list[Candidates] = []
    after: Rank | None = None
    while True:
        collection = collect_pool(budget, after)
        selection.readings += 1
        if after is None:
            selection.profile = collection.profile
        ranked = collection.ranked()
        if ranked is None:
            break
        parts.append(ranked.take(np.array(greedy.take(ranked), dtype=np.int64)))
        if greedy.done or not collection.dropped:
            break
        after = ranked.rank()
        budget = min(2 * budget, largest)
    if selection.words:
        selection.chosen = Candidates.joined(parts)
    return selection
