"""How many words of two texts have vectors: few where case, tokenisation or language are not the vectors'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import Evaluation, Lookup
from lasw.metrics.text import Corpus, Finding, References, Vocabulary, check_texts
from lasw.metrics.vectors.files import open_vectors

_GAIN = 0.05  # of the words, that lower-casing must find vectors of to be worth naming
_HALF = 0.5  # of the words: fewer with vectors is a warning


@dataclass(frozen=True)
class Side:
    """One of the texts: its name, its words, those with a vector, and those that had one in lower case."""

    name: str
    words: int
    known: int
    lowered: int

    def as_json(self) -> dict[str, int]:
        """What of it is a result."""
        return {"words": self.words, "known": self.known}


@dataclass(frozen=True)
class Coverage:
    """Words of references and of a text in one file of vectors, counted as often as they occur."""

    vectors: str
    references: Side
    text: Side

    def __str__(self) -> str:
        both = [f"{side.known} of {side.words}" for side in (self.references, self.text)]
        found = f"{both[0]} words of {self.references.name} and {both[1]} of {self.text.name} have vectors"
        return f"{self.vectors}: {found}"

    def as_json(self) -> dict[str, Any]:
        """For results of a system."""
        return {"vectors": self.vectors, "references": self.references.as_json(), "system": self.text.as_json()}

    @property
    def whole(self) -> bool:
        """Every word has a vector."""
        return all(side.known == side.words for side in (self.references, self.text))

    def finding(self) -> Finding | None:
        """What is suspicious about it: beyond doubt where a side has no vector at all."""
        sides = [side for side in (self.references, self.text) if side.words]
        words, known, lowered = (sum(getattr(side, key) for side in sides) for key in ("words", "known", "lowered"))
        nothing = any(not side.known for side in sides)
        better = lowered - known >= _GAIN * words and lowered > known
        if not (nothing or better or known < _HALF * words):
            return None
        remedy = (
            f"--lowercase finds {lowered} of all {words}" if better else "are they of this language and tokenisation?"
        )
        return Finding(self.vectors, str(self).removeprefix(f"{self.vectors}: "), remedy, nothing)


class Sees(Protocol):
    """What looks at text: a metric, or what one is trained on."""

    @property
    def of_words(self) -> bool:
        """See `Metric`."""

    def lookups(self) -> tuple[Lookup, ...]:
        """See `Metric`."""


class Coverages:
    """Of the files of vectors that metrics use, each word of a vocabulary looked up once.

    Args:
        metrics: of which most have no vectors.
        references: that texts are compared with.
    """

    def __init__(self, metrics: Sequence[Sees], references: References) -> None:
        self._metrics = metrics
        lookups = {(lookup.path, lookup.words): lookup for m in metrics for lookup in m.lookups()}
        self._tables = {key: _Table(lookup, references.vocabulary) for key, lookup in lookups.items()}
        self._references = references

    def of(self, metric: Sees, texts: Sequence[Corpus], name: str = "the systems") -> list[Coverage]:
        """Of the files of one metric.

        Args:
            metric: one of those that were given.
            texts: over the vocabulary of the references.
            name: of the texts, should they be several or have no path.

        Raises:
            UserError: the vectors cannot be read.
        """
        found = []
        for lookup in metric.lookups():
            table, corpora = self._tables[lookup.path, lookup.words], self._references.corpora
            beside = (corpora[0].path if len(corpora) == 1 else None) or "the references"
            mine = (texts[0].path if len(texts) == 1 else None) or name
            found.append(Coverage(lookup.path, table.side(beside, corpora), table.side(mine, texts)))
        return found

    def of_list(self, text: Corpus, owner: NDArray[np.integer]) -> list[Finding]:
        """What is suspicious about N-best lists: their text (`check_texts`), and what vectors the metrics have of it.

        Args:
            text: n hypotheses.
            owner: (n,) the segment of each.

        Raises:
            UserError: a file of vectors cannot be read.
        """
        found = [check_texts(text, self._references, owner, lists=True)]
        found += [one.finding() for m in self._metrics for one in self.of(m, [text], "the lists")]
        return [finding for finding in found if finding is not None]


class _Table:
    """(V, 3) of every word of a vocabulary: words that it stands for, those with a vector, those if in lower case."""

    def __init__(self, lookup: Lookup, vocabulary: Vocabulary) -> None:
        self._lookup, self._vocabulary = lookup, vocabulary
        self._counts: NDArray[np.int32] = np.zeros((0, 3), dtype=np.int32)

    def side(self, name: str, corpora: Iterable[Corpus]) -> Side:
        self._learn()
        totals = sum(self._counts[corpus.ids].sum(axis=0, dtype=np.int64) for corpus in corpora)
        return Side(name, *np.asarray(totals).tolist())

    def _learn(self) -> None:
        done, now = len(self._counts), len(self._vocabulary)
        if done == now:
            return
        tokens = [self._vocabulary[k] for k in range(done, now)]
        parts = [[token] if self._lookup.words is None else self._lookup.words(token) for token in tokens]
        flat = [part for words in parts for part in words]
        owner = np.repeat(np.arange(len(parts)), list(map(len, parts)))
        file = open_vectors(self._lookup.path)
        known = file.find(flat) >= 0
        lowered = known.copy()
        capital = [k for k in np.flatnonzero(~known).tolist() if flat[k] != flat[k].lower()]
        lowered[capital] = file.find([flat[k].lower() for k in capital]) >= 0
        new = np.zeros((len(parts), 3), dtype=np.int32)
        for column, which in enumerate((np.ones_like(known), known, lowered)):
            new[:, column] = np.bincount(owner, weights=which, minlength=len(parts))
        self._counts = np.concatenate([self._counts, new])


@dataclass(frozen=True)
class Checked:
    """What was found about systems and references.

    Attributes:
        findings: what is suspicious, for `refuse_or_warn`.
        coverage: of each system by each metric, a file of vectors after the other.
    """

    findings: list[Finding]
    coverage: list[list[list[Coverage]]]

    def notes(self) -> list[str]:
        """How many words have vectors where it is not all, and not suspicious."""
        each = [one for of_system in self.coverage for of_metric in of_system for one in of_metric]
        return list(dict.fromkeys(str(one) for one in each if not one.whole and one.finding() is None))


def check_evaluation(evaluation: Evaluation, metrics: Sequence[Sees], *, together: bool = False) -> Checked:
    """Look at all systems: their text beside the references' (`check_texts`), and what vectors the metrics have of it.

    Args:
        evaluation: the systems and the references.
        metrics: that they are scored with; without any, words count.
        together: many systems are told in one line, and their coverage is that of all as if they were one.

    Raises:
        UserError: a file of vectors cannot be read.
    """
    of_words, coverages = not metrics or any(m.of_words for m in metrics), Coverages(metrics, evaluation.references)
    systems = evaluation.systems
    findings = [check_texts(one, evaluation.references, words=of_words, of=len(systems)) for one in systems]
    told = [finding for finding in findings if finding is not None]
    groups = [systems] if together else [(system,) for system in systems]
    coverage = [[coverages.of(m, group) for m in metrics] for group in groups]
    found = [one.finding() for of_group in coverage for of_metric in of_group for one in of_metric]
    return Checked(
        [*(_grouped(told) if together else told), *(finding for finding in found if finding is not None)], coverage
    )


def _grouped(findings: Sequence[Finding]) -> list[Finding]:
    """One of those that have the same remedy, with how many others there are."""
    alike: dict[tuple[str | None, bool], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((finding.remedy, finding.beyond_doubt), []).append(finding)
    return [
        replace(first, found=f"{first.found} (and so in {len(others)} other{'s' * (len(others) > 1)})")
        if others
        else first
        for first, *others in alike.values()
    ]
