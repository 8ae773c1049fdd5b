"""Marks that are no words: phrase marks and factors of Moses, sub-word marks, escapes; lines without them."""

from __future__ import annotations

import re
from collections.abc import Callable

_PHRASE_MARK = re.compile(r"(?<![^ \t])\|\d+-\d+(?:,wa=[^|]*)?\|(?![^ \t])")  # of -t; of -tt with spaces
PHRASE_MARK_TOKEN = r"\|\d+-\d+(?:\||,.*)"
"""What ``-report-segmentation`` puts behind a phrase, ``|0-2|``, or the first token of it."""
FACTORED_TOKEN = r"[^| \t\n]+(?:\|[^| \t\n]+)+"
"""What may be a word with factors, ``word|NN``."""
_FACTORED = re.compile(FACTORED_TOKEN)
_BPE_JOINT = re.compile(r"@@(?: |$)")  # as subword-nmt's README joins
SENTENCEPIECE_SPACE = "\u2581"
# In the order of Moses' deescape-special-chars.perl, the ampersand last.
_ESCAPES = (
    ("&bar;", "|"), ("&#124;", "|"), ("&lt;", "<"), ("&gt;", ">"), ("&bra;", "["), ("&ket;", "]"), ("&quot;", '"'),
    ("&apos;", "'"), ("&#91;", "["), ("&#93;", "]"), ("&amp;", "&"),
)  # fmt: skip


def without_marks(line: str) -> str:
    """The line as Moses prints it without phrase marks and factors.

    Bars are factors only where every token of the line has equally many: Moses escapes those that are text.
    """
    if "|" not in line:
        return line
    words = [word for word in _PHRASE_MARK.sub(" ", line).replace("\t", " ").split(" ") if word]
    bars = {word.count("|") for word in words}
    if len(bars) == 1 and all(map(_FACTORED.fullmatch, words)):
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
