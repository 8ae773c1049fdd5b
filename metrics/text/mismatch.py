"""Whether two texts that meet are what they seem: words in common, and marks that one side alone has.

A list in sub-words against references in words has a plausible BLEU of 2. So wherever texts are compared, a sample of
both is looked at: which of the words of one side the other side has, and whether one side alone has tokens of a kind
that is not text (`_TELLS`). A kind counts only as a share of the tokens, and where taking it away is told to help, the
other side must have what is left: a literal bar, a price in dollars or a system that is poor are none.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError
from lasw.metrics.text.corpus import Corpus
from lasw.metrics.text.marks import FACTORED_TOKEN, PHRASE_MARK_TOKEN, SENTENCEPIECE_SPACE, unescaped
from lasw.metrics.text.references import References

MOST_TOKENS = 1 << 12  # of a side: shares are known to some per cent, at a cost of milliseconds
LEAST_TOKENS = 1 << 9  # of a side, where many systems are looked at

_ENOUGH = 30  # words of each side, none of them in common: no pair of real texts is so unlucky
_MANY = 200  # words, from which on a small share says something
_LITTLE = 0.2  # real systems have above 0.7 in common with references, German and English 0.09 to 0.15
_SAME = 0.9  # of the words of a source, in its target: it is no translation
_FEWER = 0.1  # the other side has a kind of token this much less often: then it is a mark of one side
_MOSTLY = 0.5  # of the marked tokens, that the other side has without the mark
_SHOWN = 3  # examples in a message

_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: (bpe|sentencepiece|13a|zh)\b)?")
_ESCAPE = r"&(?:bar|lt|gt|bra|ket|quot|apos|amp|#124|#91|#93);"
_ESCAPED = re.compile(_ESCAPE)
_WHOLE_SENTENCE = 6  # letters of a token, on average, that are too many for a word in scripts without spaces
_WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


@dataclass(frozen=True)
class Finding:
    """What is suspicious about a text, and what mends it.

    Attributes:
        path: of the text, if it is known.
        found: in plain words.
        remedy: what to do.
        beyond_doubt: a result would be worthless.
    """

    path: str | None
    found: str
    remedy: str | None
    beyond_doubt: bool

    def __str__(self) -> str:
        return str(UserError(self.found, path=self.path, remedy=self.remedy))


Wording: TypeAlias = Callable[[str, str], str]
"""How an option is written, of its name (``strip-marks``) and its value (empty for a switch)."""


Settle: TypeAlias = Callable[[Iterable["Finding | None"]], list[str]]
"""`refuse_or_warn` with its settings."""


def as_option(name: str, value: str) -> str:
    """``--strip-marks``, ``--join bpe``."""
    return f"--{name} {value}".rstrip()


def refuse_or_warn(
    findings: Iterable[Finding | None], *, force: bool = False, wording: Wording = as_option
) -> list[str]:
    """What is to be told, each once.

    Args:
        findings: of `check_texts` and its like.
        force: refuse nothing.
        wording: how options are named.

    Raises:
        UserError: one is beyond doubt, unless `force`.
    """

    def worded(text: str | None) -> str | None:
        return text and _OPTION.sub(lambda match: wording(match[1], match[2] or ""), text)

    kept = [replace(finding, remedy=worded(finding.remedy)) for finding in findings if finding is not None]
    for finding in kept:
        if finding.beyond_doubt and not force:
            remedy = "; ".join(filter(None, [finding.remedy, worded("--force goes on as it is")]))
            raise UserError(finding.found, path=finding.path, remedy=remedy)
    return list(dict.fromkeys(map(str, kept)))


def check_texts(
    text: Corpus,
    references: References,
    owner: NDArray[np.integer] | None = None,
    *,
    lists: bool = False,
    words: bool = True,
    of: int = 1,
) -> Finding | None:
    """The most telling thing about a text and the references it is compared with, None if both are what they seem.

    Args:
        text: n sentences over the references' vocabulary.
        references: of S segments.
        owner: (n,) the segment of each sentence; None: one each.
        lists: of N-best lists, from which weights are made: marks that are not mended are beyond doubt.
        words: what is computed depends on where words begin and end.
        of: how many texts are looked at together: of many, fewer sentences of each.
    """
    rows = sampled_rows(text, max(LEAST_TOKENS, MOST_TOKENS // of))
    segments = np.unique(rows if owner is None else owner[rows])
    segments = segments[segments < len(references)]
    if not len(rows) or not len(segments):
        return None
    others = [corpus.take(segments) for corpus in references.corpora]
    path = references.corpora[0].path if len(others) == 1 else None
    beside = _Sample(path, "the references", others)
    return _compared(_Sample(text.path, "the text", [text.take(rows)]), beside, lists, words)


def check_pairs(source: Corpus, target: Corpus) -> Finding | None:
    """As `check_texts` of a text and its translation into another language, which have few words in common.

    Marks, escapes and words that end in punctuation count where the other side shows that it could have them and has
    not; nearly all words in common are the same text twice. Nothing is beyond doubt: models are made of any tokens.

    Args:
        source: n sentences.
        target: theirs, over any vocabulary.
    """
    rows = sampled_rows(source)
    sides = (
        _Sample(source.path, "the source", [source.take(rows)]),
        _Sample(target.path, "the target", [target.take(rows)]),
    )
    for tell, evidence in _OF_PAIRS:
        for one, other in (sides, sides[::-1]):
            marked, beside = one.of_kind(tell.kind).total(), other.of_kind(tell.kind).total()
            shown = evidence is None or other.of_kind(evidence).total() >= max(2, tell.least * other.tokens)
            enough = marked >= max(2, tell.least * one.tokens) and beside * one.tokens <= _FEWER * marked * other.tokens
            if enough and shown and other.tokens:
                found = f"{one.saying(one.of_kind(tell.kind), tell.what)}, {beside or 'none'} of {other.name}"
                return Finding(one.path, found, "prepare both sides alike", False)
    return _twice(*sides)


def check_alike(text: Corpus, other: Corpus) -> Finding | None:
    """As `check_texts` of two texts of one language whose sentences do not belong together; never beyond doubt."""
    samples = [_Sample(one.path, "the text", [one.take(sampled_rows(one))]) for one in (text, other)]
    found = _compared(samples[0], samples[1], lists=False, words=True)
    return found and replace(found, remedy="prepare both alike", beyond_doubt=False)


def _twice(source: _Sample, target: _Sample) -> Finding | None:
    words = source.words.total()
    known = sum(count for token, count in source.words.items() if token in target.counts)
    if words < _ENOUGH or known < _SAME * words:
        return None
    return Finding(source.path, f"{known} of its {words} words are in {target.name}: one language twice?", None, False)


def marked_list(text: Corpus) -> Finding | None:
    """As `check_texts` where there is no other side: phrase marks and factors that Moses puts into lists."""
    rows = sampled_rows(text)
    sample = _Sample(text.path, "the list", [text.take(rows)])
    for tell, least in ((_PHRASE_MARKS, 0.0), (_FACTORS, 0.9)):
        marked = sample.of_kind(tell.kind)
        share = marked.total() / max(1, sample.tokens)
        if marked.total() >= 2 and share >= max(tell.least, least):
            return Finding(text.path, sample.saying(marked, tell.what), tell.remedy, True)
    return None


def sampled_rows(text: Corpus, most: int = MOST_TOKENS) -> NDArray[np.int64]:
    """Sentences from all parts of a text that have about `most` tokens."""
    n, tokens = len(text), len(text.ids)
    if tokens <= most:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, max(1, n * most // tokens)).astype(np.int64))


_Kind: TypeAlias = Callable[[str], list[str]]
"""Of many tokens, a line each, those of one kind."""


class _Sample:
    """Tokens of a side with their counts."""

    def __init__(self, path: str | None, name: str, corpora: Sequence[Corpus]) -> None:
        self.path = path
        self.name = path or name
        self._corpora = corpora
        vocabulary = corpora[0].vocabulary
        ids, counts = np.unique(np.concatenate([corpus.ids for corpus in corpora]), return_counts=True)
        starts, arena = vocabulary.arrays.starts, vocabulary.arrays.arena[: vocabulary.arrays.used[1]].tobytes()
        words = [arena[a:b] for a, b in zip(starts[ids].tolist(), starts[ids + 1].tolist(), strict=True)]
        self.text = b"\n".join(words).decode("utf-8")  # for patterns, which are faster on all tokens at once
        self.counts = Counter(dict(zip(self.text.split("\n") if words else [], counts.tolist(), strict=True)))
        self.tokens = int(counts.sum())
        self._of_kinds: dict[_Kind, Counter[str]] = {}

    @cached_property
    def words(self) -> Counter[str]:
        """Tokens that hold a letter or a digit."""
        return self.of_kind(_words)

    @cached_property
    def small(self) -> set[str]:
        """All tokens in lower case."""
        return set(self.text.lower().split("\n"))

    @cached_property
    def script(self) -> str:
        """Of most letters of the words, as the names of characters begin; empty without letters."""
        letters = Counter(letter for word in self.words for letter in word if letter.isalpha())
        scripts: Counter[str] = Counter()
        for letter, count in letters.items():
            scripts[unicodedata.name(letter, "?").split(" ")[0].split("-")[0]] += count
        return scripts.most_common(1)[0][0] if scripts else ""

    def of_kind(self, kind: _Kind) -> Counter[str]:
        """The tokens of a kind."""
        if kind not in self._of_kinds:
            self._of_kinds[kind] = Counter({token: self.counts[token] for token in kind(self.text)})
        return self._of_kinds[kind]

    def sentences_with(self, tokens: Iterable[str]) -> tuple[int, int]:
        """How many sentences hold one of `tokens`, and how many there are."""
        wanted, found, of = set(tokens), 0, 0
        for corpus in self._corpora:
            ids = [k for k in np.unique(corpus.ids).tolist() if corpus.vocabulary[k] in wanted]
            places = np.flatnonzero(np.isin(corpus.ids, ids))
            found += len(np.unique(np.searchsorted(corpus.offsets, places, side="right")))
            of += len(corpus)
        return found, of

    def saying(self, marked: Counter[str], what: str) -> str:
        """Of how many tokens something holds, with examples."""
        examples = " ".join(token for token, _ in sorted(marked.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN])
        return f"{marked.total()} of {self.tokens} tokens {what} ({examples})"


@dataclass(frozen=True)
class _Tell:
    """A kind of token that tells what a text is.

    Attributes:
        kind: finds the tokens of the kind.
        what: it is, behind "12 of 300 tokens".
        remedy: what to do.
        least: the share of the tokens that is no accident.
        mended: the token as it would be on the other side; None: the kind alone is proof enough.
        refused: in lists it is beyond doubt.
        of_words: it matters only where words count.
    """

    kind: _Kind
    what: str
    remedy: str
    least: float
    mended: Callable[[str], str] | None = None
    refused: bool = False
    of_words: bool = False

    def found(self, text: _Sample, other: _Sample) -> Counter[str]:
        """The tokens of this kind that `text` has and `other` has not; none if that may be an accident."""
        marked = text.of_kind(self.kind)
        if marked.total() < max(2, self.least * text.tokens):
            return Counter()
        beside = other.of_kind(self.kind).total() / max(1, other.tokens)
        marked = Counter({token: count for token, count in marked.items() if token not in other.counts})
        share = marked.total() / text.tokens
        if marked.total() < 2 or share < self.least or beside > _FEWER * share:
            return Counter()
        if self.mended is not None:
            mended = self.mended
            known = sum(count for token, count in marked.items() if mended(token).lower() in other.small)
            if known < _MOSTLY * marked.total():
                return Counter()
        return marked


def _capitals(text: str) -> list[str]:
    return [token for token, small in zip(text.split("\n"), text.lower().split("\n"), strict=True) if token != small]


def _shouted(text: str) -> list[str]:
    return [token for token in text.split("\n") if len(token) > 1 and token.isupper()]


def _unescaped_characters(text: str) -> list[str]:
    return [token for token in _QUOTED(text) if _UNESCAPED.search(_ESCAPED.sub("", token))]


def _words(text: str) -> list[str]:
    return [token for token in text.split("\n") if token.isalnum() or _LETTER.search(token)]


def _attached(text: str) -> list[str]:
    ends = [token for token in text.split("\n") if token[-1:] in _MARKS and token[-2:-1].isalpha()]
    return [token for token in ends if not _ESCAPED.search(token)]


def _matching(pattern: str, holds: str = "", flags: int = 0) -> _Kind:
    """The kind of tokens that match a pattern without groups, which all hold a text; tokens are lines."""
    compiled = re.compile(rf"^(?:{pattern})$", re.MULTILINE | flags)
    return lambda text: compiled.findall(text) if holds in text else []


_LETTER = re.compile(r"[^\W_]")
_MARKS = frozenset(".,!?;:")
_PLACEHOLDER = _matching(r"<?<unk>>?|\[unk\]|UNK|\u2047", flags=re.IGNORECASE)
_PUNCTUATION = _matching("[.,!?;:]")
_UNESCAPED = re.compile("[\"'&|\\[\\]<>]")
_QUOTED = _matching(".*[\"'&|\\[\\]<>].*")
_TAG = r"</?(?:seg|doc|refset|srcset|tstset|mteval|hl|p|tu|tuv|s)(?:>.*)?|.*</(?:seg|hl|p)>"


_PHRASE_MARKS = _Tell(
    _matching(PHRASE_MARK_TOKEN, "|"),
    "are Moses' marks of phrases",
    "--strip-marks takes them away",
    0.005,
    refused=True,
)
_FACTORS = _Tell(
    _matching(FACTORED_TOKEN, "|"),
    "are words with factors",
    "--strip-marks leaves the words",
    0.2,
    mended=lambda token: token.partition("|")[0],
    refused=True,
)
_TELLS = (
    _Tell(_matching(_TAG, "<", re.IGNORECASE), "are tags of SGML", "give the text between the tags", 0.005),
    _PHRASE_MARKS,
    _FACTORS,
    _Tell(_matching(".*@@", "@@"), "are sub-words (BPE)", "--join bpe joins them", 0.005, refused=True),
    _Tell(
        _matching(f"{SENTENCEPIECE_SPACE}.*", SENTENCEPIECE_SPACE),
        "are sub-words (SentencePiece)",
        "--join sentencepiece joins the pieces",
        0.02,
        refused=True,
    ),
    _Tell(
        _matching(f".*{_ESCAPE}.*", "&"),
        "are escaped as Moses' tokeniser does it",
        "--unescape turns them back",
        0.001,
        mended=unescaped,
    ),
    _Tell(_shouted, "are in capitals", "--lowercase makes both sides alike", 0.3, mended=str.lower),
    _Tell(_capitals, "have capitals", "--lowercase makes both sides alike", 0.02, mended=str.lower),
    _Tell(
        _attached,
        "end in a punctuation mark",
        "the other side is tokenised: --tokenize 13a makes both alike",
        0.02,
        mended=lambda token: token[:-1],
        of_words=True,
    ),
)

_OF_PAIRS: tuple[tuple[_Tell, _Kind | None], ...] = (
    *((tell, None) for tell in _TELLS[:5]),
    (_TELLS[5], _unescaped_characters),
    (_TELLS[8], _PUNCTUATION),
)
"""Kinds that tell in any language, and what the other side must have enough of in their place."""


def _compared(text: _Sample, references: _Sample, lists: bool, words: bool) -> Finding | None:
    cause = _cause(text, references, words)
    least = min(text.words.total(), references.words.total())
    known = sum(count for token, count in text.words.items() if token in references.counts)
    if not words or least < _ENOUGH or (known and (least < _MANY or known >= _LITTLE * text.words.total())):
        if cause is None:
            return _placeholders(text, references)
        one, other, tell, saying = cause
        return Finding(one.path, f"{saying}, none of {other.name}", tell.remedy, lists and tell.refused)
    share = f"{known} of its {text.words.total()} words" if known else f"none of its {text.words.total()} words"
    found = f"{share} {'are' if known > 1 else 'is'} in {references.name}"
    if cause is None:
        why, remedy = _unlike(text, references)
        return Finding(text.path, f"{found}: {why}", remedy, not known)
    one, _, tell, saying = cause
    place = "" if one is text else f"in {one.name} "
    return Finding(text.path, f"{found}: {place}{saying}", tell.remedy, not known or (lists and tell.refused))


def _cause(text: _Sample, references: _Sample, words: bool) -> tuple[_Sample, _Sample, _Tell, str] | None:
    """Which side has the first kind of token that it alone has, the other side, the kind, and what to say of it."""
    for tell in _TELLS:
        if tell.of_words and not words:
            continue
        for one, other in ((text, references), (references, text)):
            marked = tell.found(one, other)
            if marked:
                return one, other, tell, one.saying(marked, tell.what)
    return None


def _placeholders(text: _Sample, references: _Sample) -> Finding | None:
    """Words of which nobody knows what they are match each other in the references, or nothing."""
    held = references.of_kind(_PLACEHOLDER)
    if held:
        found, of = references.sentences_with(held)
        if found >= max(2, 0.01 * of):
            names = ", ".join(sorted(held))
            what = f"{found} of {of} references contain placeholders of unknown words ({names}), which match each other"
            return Finding(references.path, what, None, False)
    mine = text.of_kind(_PLACEHOLDER)
    if not held and mine.total() >= max(2, 0.1 * text.tokens):
        return Finding(
            text.path, text.saying(mine, "are placeholders of unknown words, which match nothing"), None, False
        )
    return None


def _unlike(text: _Sample, references: _Sample) -> tuple[str, str | None]:
    """What texts without marks that have little in common may be, and what to do."""
    scripts = {text.script, references.script}
    if "" not in scripts and len(scripts) > 1 and not scripts.issubset(_WITHOUT_SPACES):
        return f"its letters are {text.script.title()}, those of {references.name} {references.script.title()}", None
    letters = sum(len(word) * count for word, count in text.words.items())
    if text.script in _WITHOUT_SPACES and letters > _WHOLE_SENTENCE * text.words.total():
        return "there are no spaces between words", "--tokenize zh, ja-mecab or char makes words"
    return "another language, another text or other lines", None
