"""LA selection of a development set from a pool (Song 2015, algorithm 4.1).

Pairs with a source sentence of the right length are ranked by their score and taken from the top, unless they are too
similar to what was taken before, or to their own translation, until the source words reach the number asked for. Any
scorer can take the place of LA's (see `la_features.Scorer`).

The pool is read once, and memory holds the candidates whose source words make `reach` times the number asked for. Only
if the filters reject nearly all of these is it read again, for twice as many behind them; so the selection is always
that of the full ranking.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Corpus, UserError, Vocabulary
from lasw.selection.choice.candidates import REJECTED, Candidates, Collection, Profile, Rank
from lasw.selection.choice.diversity import Diversity, Window, translation_similarity
from lasw.selection.features import Scorer, refuse_faults
from lasw.selection.pool import Bitext, PairBlock

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
    """A candidate that was not taken: `reason` UNTRANSLATED or SIMILAR, `other` the line it is similar to (or 0)."""

    line: int
    score: float
    reason: str
    similarity: float
    other: int = 0


@dataclass
class Selection:
    """What was selected, and what was seen on the way.

    Attributes:
        chosen: the selected pairs in the order they were taken.
        words: their source words.
        profile: of the whole pool.
        rejections: the first `REJECTED` candidates that the filters rejected, in rank order.
        reasons: how many candidates each filter rejected.
        reached: candidates looked at.
        readings: how many times the pool was read.
        feature_names: of the columns of `chosen.features`.
        followed: why the filters rejected the pair that was to be followed, if they did.
    """

    chosen: Candidates | None
    words: int
    profile: Profile
    rejections: list[Rejection] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    reached: int = 0
    readings: int = 1
    feature_names: tuple[str, ...] = ()
    followed: Rejection | None = None

    def __len__(self) -> int:
        return 0 if self.chosen is None else len(self.chosen)


class Greedy:
    """Takes candidates in rank order until the source words reach `words`.

    Args:
        words: source words to select.
        diversity: the two filters.
        follow: line number of a pair whose rejection is to be kept in any case; 0 is none.
    """

    def __init__(self, words: int, diversity: Diversity, follow: int = 0) -> None:
        self.target = words
        self.followed: Rejection | None = None
        self._follow = follow
        self.words = 0
        self.reached = 0
        self.rejections: list[Rejection] = []
        self.reasons: Counter[str] = Counter()
        self._diversity = diversity
        self._vocabulary = Vocabulary()
        self._window = Window(diversity, self._vocabulary)

    @property
    def done(self) -> bool:
        """Whether there are enough words."""
        return self.words >= self.target

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
        for row in range(end - start):
            if self.done:
                break
            self.reached += 1
            line, score = int(candidates.line[start + row]), float(candidates.score[start + row])
            if not to_target[row] < self._diversity.untranslated:
                self._reject(Rejection(line, score, UNTRANSLATED, float(to_target[row])))
                continue
            ids = source.ids[source.offsets[row] : source.offsets[row + 1]]
            similarity, other = self._window.most_similar(ids)
            if not similarity < self._diversity.threshold:
                self._reject(Rejection(line, score, SIMILAR, similarity, other))
                continue
            self._window.add(line, ids.copy())
            self.words += len(ids)
            taken.append(start + row)
        return taken

    def _reject(self, rejection: Rejection) -> None:
        self.reasons[rejection.reason] += 1
        if rejection.line == self._follow:
            self.followed = rejection
        if len(self.rejections) < REJECTED:
            self.rejections.append(rejection)


def select(
    collect_pool: Collect,
    words: int = WORDS,
    diversity: Diversity | None = None,
    *,
    reach: int | None = None,
    feature_names: tuple[str, ...] = (),
    follow: int = 0,
) -> Selection:
    """Select a development set.

    Args:
        collect_pool: reads and scores the pool (see `pool_collector`); called once, rarely more often.
        words: source words to reach; the last pair taken may go beyond.
        diversity: the two filters.
        reach: times `words`, how many source words of candidates are kept in memory; by default `REACH`, and at least
            `LEAST_KEPT` words.
        feature_names: of the columns of features.
        follow: see `Greedy`.

    Raises:
        UserError: whatever reading the pool raises.
    """
    budget = max(words * REACH, LEAST_KEPT) if reach is None else words * reach
    largest = MOST_GROWTH * budget
    greedy = Greedy(words, diversity or Diversity(), follow)
    parts: list[Candidates] = []
    after: Rank | None = None
    profile: Profile | None = None
    readings = 0
    while True:
        collection = collect_pool(budget, after)
        readings += 1
        profile = collection.profile if profile is None else profile
        ranked = collection.ranked()
        if ranked is None:
            break
        parts.append(ranked.take(np.array(greedy.take(ranked), dtype=np.int64)))
        if greedy.done or not collection.dropped:
            break
        after = (float(ranked.score[-1]), int(ranked.line[-1]))
        budget = min(2 * budget, largest)
    chosen = Candidates.joined(parts) if parts and sum(map(len, parts)) else None
    return Selection(
        chosen,
        greedy.words,
        profile,
        greedy.rejections,
        greedy.reasons,
        greedy.reached,
        readings,
        feature_names,
        greedy.followed,
    )


def pool_collector(
    bitext: Bitext, scorer: Scorer, workers: int = 1, *, watch: Callable[[int], object] | None = None
) -> Collect:
    """Reads a pool on this machine: one thread reads, `workers` threads score (1: all in this one).

    Args:
        bitext: the pool; it must not be standard input if it may be read again.
        scorer: of the pairs.
        workers: threads; the result is the same for any number.
        watch: told after each block how many pairs it had.
    """

    def collect_pool(budget: int, after: Rank | None) -> Collection:
        whole = Collection(budget, after)
        for block, verdicts, part in _in_order(bitext.blocks(), scorer, whole, workers):
            if not bitext.skip_bad:
                refuse_faults(block, verdicts, bitext.paths)
            whole.merge(part)
            if watch is not None:
                watch(len(block))
        return whole

    return collect_pool


_Collected = tuple[PairBlock, NDArray[np.uint8], Collection]


def _in_order(blocks: Iterator[PairBlock], scorer: Scorer, whole: Collection, workers: int) -> Iterator[_Collected]:
    """Blocks with their verdicts and candidates in input order; a few more than `workers` are held at a time."""

    def collected(block: PairBlock, part: Collection) -> _Collected:
        scored = scorer.score(block)
        part.add(block, scored)
        return block, scored.verdicts, part

    if workers < 2:
        for block in blocks:
            yield collected(block, whole.part())
        return
    waiting: deque[Future[_Collected]] = deque()
    failure: UserError | None = None
    with ThreadPoolExecutor(workers) as threads:
        while True:
            try:
                block = next(blocks)
            except StopIteration:
                break
            except UserError as error:  # blocks before it may have faults of their own, which come first
                failure = error
                break
            waiting.append(threads.submit(collected, block, whole.part()))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    if failure is not None:
        raise failure
