"""Marks that are no words: phrase marks and factors of Moses, sub-word marks, escapes; lines without them."""

from __future__ import annotations

import re
from collections.abc import Callable

_PHRASE_MARK = re.compile(r"(?<![^ \t])\|\d+-\d+(?:,wa=[^|]*)?\|(?![^ \t])")  # of -t; of -tt with spaces
_PHRASE_MARK_BEGINS = re.compile(r"\|\d+-\d+(?:\|$|,)")
_FACTORED = re.compile(r"[^| \t]+(?:\|[^| \t]+)+")
_BPE_JOINT = re.compile(r"@@(?: |$)")  # as subword-nmt's README joins
SENTENCEPIECE_SPACE = "\u2581"
# In the order of Moses' deescape-special-chars.perl, the ampersand last.
_ESCAPES = (
    ("&bar;", "|"), ("&#124;", "|"), ("&lt;", "<"), ("&gt;", ">"), ("&bra;", "["), ("&ket;", "]"), ("&quot;", '"'),
    ("&apos;", "'"), ("&#91;", "["), ("&#93;", "]"), ("&amp;", "&"),
)  # fmt: skip


def is_phrase_mark(token: str) -> bool:
    """Whether it is what ``-report-segmentation`` puts behind a phrase, ``|0-2|``, or the beginning of it."""
    return _PHRASE_MARK_BEGINS.match(token) is not None


def is_factored(token: str) -> bool:
    """Whether it may be a word with factors, ``word|NN``."""
    return _FACTORED.fullmatch(token) is not None


def without_marks(line: str) -> str:
    """The line as Moses prints it without phrase marks and factors.

    Bars are factors only where every token of the line has equally many: Moses escapes those that are text.
    """
    if "|" not in line:
        return line
    words = [word for word in _PHRASE_MARK.sub(" ", line).replace("\t", " ").split(" ") if word]
    bars = {word.count("|") for word in words}
    if len(bars) == 1 and all(map(is_factored, words)):
        words = [word.partition("|")[0] for word in words]
    return " ".join(words)


def joined_bpe(line: str) -> str:
    """The line with the parts of words in one: ``ca@@ t`` becomes ``cat`` (subword-nmt, fastBPE)."""
    return _BPE_JOINT.sub("", line) if "@@" in line else line


def joined_pieces(line: str) -> str:
    """The line of SentencePiece's pieces in words; a line without any of its marks is left as it is."""
    if SENTENCEPIECE_SPACE not in line:
        return line
    return line.replace(" ", "").replace("\t", "").replace(SENTENCEPIECE_SPACE, " ").strip()


def unescaped(line: str) -> str:
    """The line with the characters that Moses' tokeniser escapes: ``&quot;`` becomes ``"``."""
    if "&" in line:
        for escape, character in _ESCAPES:
            line = line.replace(escape, character)
    return line


JOINTS: dict[str, Callable[[str], str]] = {"bpe": joined_bpe, "sentencepiece": joined_pieces}
"""How parts of words are joined, by the name of what cut them."""
