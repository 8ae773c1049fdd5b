"""Parallel text from LibreOffice's help, and its parts for training, development and test.

The pages are those of Debian's packages libreoffice-help-LANGUAGE, unpacked: ``LANGUAGE/text/**/*.html``. They have the
same names in every language, and paragraphs and headings carry an id (``<p id="par_id3147762" ...>``) that translation
leaves as it is.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lasw.metrics import UserError, read_bytes

Pair = tuple[str, str]

FEWEST_TOKENS, MOST_TOKENS = 4, 40  # of either side of a pair
MOST_RATIO = 2.5  # the longer side has at most so many times the tokens of the shorter one
_PARAGRAPH = re.compile(r'<(p|h[1-6])\s[^>]*?\bid="([^"]+)"[^>]*>(.*?)</\1>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_TOKEN = re.compile(r"\w+(?:[-'’.]\w+)*|[^\w\s]")


def read_help(folder: str | os.PathLike[str], source: str = "de", target: str = "en-US") -> list[Pair]:
    """All paragraphs that both languages have, in the order of the target's pages, tokenised and lower-cased.

    Args:
        folder: holds a folder for each language, at any depth.
        source: the language that will be translated.
        target: the language it will be translated into.

    Raises:
        UserError: a language is not there.
    """
    from_pages, into_pages = _pages(Path(folder), source), _pages(Path(folder), target)
    pairs = []
    for page in sorted(into_pages.rglob("*.html")):
        other = from_pages / page.relative_to(into_pages)
        if other.is_file():
            theirs = paragraphs(_text(other))
            ours = paragraphs(_text(page))
            pairs += [(tokenised(theirs[key]), tokenised(text)) for key, text in ours.items() if key in theirs]
    return [pair for pair in pairs if all(pair)]


def fingerprint_of_pages(folder: str | os.PathLike[str]) -> str:
    """A digest of the names and sizes of all pages in a folder (there are thousands; reading them takes seconds)."""
    pages = sorted((str(page.relative_to(folder)), page.stat().st_size) for page in Path(folder).rglob("*.html"))
    return hashlib.sha256(repr(pages).encode()).hexdigest()


def paragraphs(page: str) -> dict[str, str]:
    """The text of every paragraph and heading that has an id, by id; an id that is there twice names none."""
    found: dict[str, str] = {}
    twice = set()
    for _, key, content in _PARAGRAPH.findall(page):
        if key in found:
            twice.add(key)
        found[key] = " ".join(html.unescape(_TAG.sub("", _default(content).replace("<br", " <br"))).split())
    return {key: text for key, text in found.items() if key not in twice}


def tokenised(text: str) -> str:
    """Lower-cased words and punctuation marks, a space between; hyphens, apostrophes and points inside words stay."""
    return " ".join(_TOKEN.findall(text.lower()))


def _default(content: str) -> str:
    """A paragraph without the alternatives for one platform or program: of several hidden texts only the default."""
    if "hidden" not in content:
        return content
    kept = []
    depth = dropped_from = 0
    for piece in re.split(r"(</?span\b[^>]*>)", content):
        if piece.startswith("<span"):
            depth += 1
            if not dropped_from and "hidden=" in piece and "class=" in piece:
                dropped_from = depth
        if not dropped_from:
            kept.append(piece)
        if piece.startswith("</span"):
            if depth == dropped_from:
                dropped_from = 0
            depth -= 1
    return "".join(kept)


def _pages(folder: Path, language: str) -> Path:
    for found in sorted(folder.rglob("text")):
        if found.is_dir() and found.parent.name == language:
            return found
    raise UserError(
        f"no help pages in {language!r}",
        path=folder,
        expected=f"a folder {language}/text, from Debian's package libreoffice-help-{language.lower()}",
    )


def _text(path: Path) -> str:
    return read_bytes(path).decode("utf-8", "replace")


@dataclass(frozen=True)
class Split:
    """Pairs of (source, target) lines.

    Attributes:
        train: neither side of a pair is a side of any pair in `dev` or `test`.
        dev: pairs for tuning.
        test: pairs for the last look.
        dropped: how many pairs were left out, by the reason.
    """

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    dropped: dict[str, int]


def split(pairs: Sequence[Pair], *, dev: int, test: int, seed: int = 1) -> Split:
    """Draw a development and a test set from what is usable.

    Pairs are ordered by a digest of the seed and their text, so the order they come in plays no part.

    Args:
        pairs: lines of tokens.
        dev: size of the development set.
        test: size of the test set.
        seed: of the order.

    Raises:
        UserError: too few usable pairs to leave any for training.
    """
    dropped = dict.fromkeys(("length", "length ratio", "same on both sides", "repeated source", "in dev or test"), 0)
    usable: dict[str, Pair] = {}
    for pair in sorted(pairs, key=lambda pair: _digest(seed, pair)):
        reason = _unusable(pair) or ("repeated source" if pair[0] in usable else None)
        if reason:
            dropped[reason] += 1
        else:
            usable[pair[0]] = pair
    if len(usable) < 2 * (dev + test):
        raise UserError(
            f"{len(usable)} usable sentence pairs of {len(pairs)}",
            expected=f"at least {2 * (dev + test)}: {test} for test, {dev} for tuning and more to train from",
            remedy="left out: " + ", ".join(f"{count} {reason}" for reason, count in dropped.items() if count),
        )
    ordered = list(usable.values())
    held_out = ordered[: test + dev]
    sides = {line for pair in held_out for line in pair}
    train = [pair for pair in ordered[test + dev :] if not sides.intersection(pair)]
    dropped["in dev or test"] = len(ordered) - len(held_out) - len(train)
    return Split(train, held_out[test:], held_out[:test], dropped)


def _unusable(pair: Pair) -> str | None:
    counts = [len(side.split()) for side in pair]
    if min(counts) < FEWEST_TOKENS or max(counts) > MOST_TOKENS:
        return "length"
    if max(counts) > MOST_RATIO * min(counts):
        return "length ratio"
    return "same on both sides" if pair[0] == pair[1] else None


def _digest(seed: int, pair: Pair) -> bytes:
    return hashlib.sha256(f"{seed}\t{pair[0]}\t{pair[1]}".encode()).digest()
