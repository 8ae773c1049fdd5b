"""A line as tokens, and what may happen to it first: marks, normal form, case, one of sacreBLEU's tokenisers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from lasw.metrics.errors import UserError, unknown
from lasw.metrics.text.marks import JOINTS, unescaped, without_marks

# sacreBLEU's tokenisers without those that download a model on first use: nothing is downloaded at run time.
TOKENISERS = ("none", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab")
NORMAL_FORMS = ("nfc", "nfd")

_OF_WHOLE_LINES = ("ja-mecab", "ko-mecab")  # look for the most likely words of all
_AT_ONCE = 1 << 20
_BETWEEN_LETTERS = re.compile("(?<=[a-zA-Z]) (?=[a-zA-Z])")


@dataclass(frozen=True)
class Preprocessing:
    """Marks, then Unicode normal form, lower-casing and tokenising (the last two in sacreBLEU's order).

    Args:
        tokeniser: one of `TOKENISERS`. As in sacreBLEU, what they leave is split on any white space, no-break
            spaces included (``none`` does only that); None: tokens are what stands between spaces and tabs.
        lowercase: lower-case every line.
        normalise: ``nfc``, ``nfd`` or None.
        strip_marks: take phrase marks and factors of Moses away.
        join: put sub-words together, ``bpe`` or ``sentencepiece``, or None.
        unescape: turn what Moses' tokeniser escapes, as ``&quot;``, into the characters.

    Raises:
        UserError: an unknown tokeniser (with the nearest), or one whose dictionary is not installed.
    """

    tokeniser: str | None = None
    lowercase: bool = False
    normalise: str | None = None
    strip_marks: bool = False
    join: str | None = None
    unescape: bool = False

    def __post_init__(self) -> None:
        if self.tokeniser not in (None, *TOKENISERS):
            raise unknown("tokeniser", str(self.tokeniser), list(TOKENISERS))
        if self.normalise not in (None, *NORMAL_FORMS):
            raise unknown("normal form", str(self.normalise), list(NORMAL_FORMS))
        if self.join not in (None, *JOINTS):
            raise unknown("kind of sub-words", str(self.join), list(JOINTS))

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Preprocessing:
        """What options or settings say that are named as on the command line; others, and absent ones, mean nothing."""
        return cls(
            settings.get("tokenize"),
            bool(settings.get("lowercase")),
            settings.get("normalise"),
            bool(settings.get("strip_marks")),
            settings.get("join"),
            bool(settings.get("unescape")),
        )

    def function(self) -> Callable[[str], str] | None:
        """What to apply to every line, None if nothing is to be done: the `preprocess` of `read_corpus`."""
        steps: list[Callable[[str], str]] = []
        if self.strip_marks:
            steps.append(without_marks)
        if self.join:
            steps.append(JOINTS[self.join])
        if self.unescape:
            steps.append(unescaped)
        if self.normalise:
            form = cast(Literal["NFC", "NFD"], self.normalise.upper())
            steps.append(lambda line: unicodedata.normalize(form, line))
        if self.lowercase:
            steps.append(str.lower)
        if self.tokeniser is not None:
            steps.append(_tokeniser(self.tokeniser))
        if not steps:
            return None

        def apply(line: str) -> str:
            for step in steps:
                line = step(line)
            return line

        return apply

    def settings(self) -> dict[str, str]:
        """What stands in a signature."""
        settings = {"case": "lc" if self.lowercase else "mixed", "tok": self.tokeniser or "spaces"}
        if self.normalise:
            settings["normal-form"] = self.normalise
        if self.strip_marks:
            settings["marks"] = "stripped"
        if self.join:
            settings["join"] = self.join
        if self.unescape:
            settings["unescaped"] = "yes"
        return settings


def tokens(line: str) -> list[str]:
    """The tokens of a line: what stands between spaces and tabs."""
    return [token for token in line.replace("\t", " ").split(" ") if token]


def _tokeniser(name: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import BLEU

    try:
        tokenise = BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as error:
        raise UserError(f"tokeniser {name!r} needs something that is not installed ({error})") from None

    def apply(line: str) -> str:
        parts = [line.rstrip()] if name in _OF_WHOLE_LINES else _parts(line.rstrip())
        return " ".join([token for part in parts for token in tokenise(part).split()])

    return apply


def _parts(line: str) -> Iterator[str]:
    """The line, if it is long cut at spaces between letters, which no pattern of a tokeniser reaches across.

    So that signals are heeded: a pattern that goes through a line of millions of words is one step to Python.
    """
    first = 0
    while len(line) - first > _AT_ONCE and (cut := _BETWEEN_LETTERS.search(line, first + _AT_ONCE)):
        yield line[first : cut.end()]
        first = cut.end()
    yield line[first:]
