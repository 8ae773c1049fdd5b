"""Parallel text in two made-up languages, for tests that train a system: words with several translations, and an order
of words that differs a little. Folders of people's judgements."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_NOUNS = [("hund", "dog"), ("katze", "cat"), ("haus", "house"), ("baum", "tree"), ("bank", "bank"), ("bank", "bench")]
_NOUNS += [("schloss", "castle"), ("schloss", "lock"), ("fenster", "window"), ("strasse", "street"), ("buch", "book")]
_VERBS = [("sieht", "sees"), ("findet", "finds"), ("mag", "likes"), ("baut", "builds"), ("baut", "makes")]
_ADJECTIVES = [("alte", "old"), ("neue", "new"), ("kleine", "small"), ("kleine", "little"), ("schöne", "nice")]
_ADVERBS = [("heute", "today"), ("oft", "often"), ("nie", "never"), ("bald", "soon")]


def write_judgements(
    folder: Path,
    references: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    pairs: Iterable[str],
    header: str = "seg1\tsysA\tsysB\trel\n",
) -> Path:
    """A folder as `lasw agree` reads it; `pairs` are lines of its table, with their ends."""
    (folder / "hyp").mkdir(parents=True)
    for name, lines in {"ref": references, **{f"hyp/{system}": lines for system, lines in systems.items()}}.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "pairs.tsv").write_text(header + "".join(pairs))
    return folder


def parallel_text(count: int, seed: int = 1) -> tuple[list[str], list[str]]:
    """`count` pairs of sentences, source and target side."""
    draw = random.Random(seed)
    pairs = [_sentence(draw) for _ in range(count)]
    return [source for source, _ in pairs], [target for _, target in pairs]


WORDS = ["red", "blue", "house", "tree", "runs", "sees", "the", "a", "slowly", "today"]


def write_spoilt_lists(folder: Path, name: str, seed: int, sentences: int, words: int) -> list[str]:
    """``NAME.ref`` and ``NAME.nbest``, lists of 8; the feature TM tells how spoilt one is, LM nothing.

    Returns:
        The references.
    """
    draw = random.Random(seed)
    references, lines = [], []
    for owner in range(sentences):
        reference = [draw.choice(WORDS) for _ in range(words)]
        references.append(" ".join(reference))
        for _ in range(8):
            spoilt = 0.7 * draw.random()
            text = " ".join(w if draw.random() > spoilt else draw.choice(WORDS) for w in reference)
            lines.append(f"{owner} ||| {text} ||| LM= {draw.gauss(0, 1):.3f} TM= {-spoilt:.3f} ||| 0")
    (folder / f"{name}.ref").write_text("\n".join(references) + "\n")
    (folder / f"{name}.nbest").write_text("\n".join(lines) + "\n")
    return references


def _sentence(draw: random.Random) -> tuple[str, str]:
    subject, thing = _noun_phrase(draw), _noun_phrase(draw)
    verb, adverb = draw.choice(_VERBS), draw.choice(_ADVERBS)
    if draw.random() < 0.5:
        return f"{subject[0]} {verb[0]} {adverb[0]} {thing[0]} .", f"{subject[1]} {adverb[1]} {verb[1]} {thing[1]} ."
    source = f"{adverb[0]} {verb[0]} {subject[0]} {thing[0]} ."
    return source, f"{adverb[1]} {subject[1]} {verb[1]} {thing[1]} ."


def _noun_phrase(draw: random.Random) -> tuple[str, str]:
    noun = draw.choice(_NOUNS)
    if draw.random() < 0.4:
        return f"das {noun[0]}", f"the {noun[1]}"
    adjective = draw.choice(_ADJECTIVES)
    return f"das {adjective[0]} {noun[0]}", f"the {adjective[1]} {noun[1]}"
