"""Parallel text in two made-up languages, for tests that train a system: words with several translations, and an order
of words that differs a little. Folders of people's judgements."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

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


def write_mtme(folder: Path, pair: str, gaps: bool = False) -> Path:
    """A test set as mt-metrics-eval has it: five systems, one of them a second reference, twelve segments.

    People gave `refB` and three systems marks, of the last two segments none, and with `gaps` not all others. There are
    the metrics `good` (of refA and of refB), `free` of no reference, and `only` of systems.
    """
    draws = np.random.default_rng(11)
    systems, n = ("one", "refB", "three", "two", "unmarked"), 12
    for name in (
        "documents",
        "sources",
        "references",
        f"system-outputs/{pair}",
        "human-scores",
        f"metric-scores/{pair}",
    ):
        (folder / name).mkdir(parents=True, exist_ok=True)

    def texts(path: str, wrong: int) -> None:
        lines = [" ".join("zz" if (k + j) % 7 < wrong else f"w{k}.{j}" for j in range(8)) for k in range(n)]
        (folder / path).write_text("".join(f"{line}\n" for line in lines))

    def scores(path: str, rows: Mapping[str, Sequence[object]]) -> None:
        (folder / path).write_text("".join(f"{name}\t{x}\n" for name, row in rows.items() for x in row))

    (folder / "documents" / f"{pair}.docs").write_text("news doc1\n" * 7 + "talk doc2\n" * 5)
    texts(f"sources/{pair}.txt", 0)
    texts(f"references/{pair}.refA.txt", 0)
    texts(f"references/{pair}.refB.txt", 1)
    for k, name in enumerate(systems):
        texts(f"system-outputs/{pair}/{name}.txt", k + (name == "refB"))
    texts(f"system-outputs/{pair}/refA.txt", 0)
    people = -np.round(draws.random((4, n)) * 5 + np.arange(4)[:, None] / 2)
    good = np.round(people / 5 + draws.normal(size=(4, n)) / 3, 3)
    free = np.round(people / 9 + draws.normal(size=(4, n)) / 3, 2)
    marked = [name for name in systems if name != "unmarked"]
    lacking = draws.random((4, n)) < (0.2 if gaps else 0)
    lacking[:, n - 2 :] = True
    marks = {
        s: ["None" if gone else x for x, gone in zip(people[k], lacking[k], strict=True)] for k, s in enumerate(marked)
    }
    scores(f"human-scores/{pair}.mqm.seg.score", marks | {"unmarked": ["None"] * n, "refA": ["None"] * n})
    scores(f"human-scores/{pair}.mqm.sys.score", {s: [people[k].mean()] for k, s in enumerate(marked)})
    scores(f"human-scores/{pair}.wmt.seg.score", dict.fromkeys(marked, people[0]))
    for name, values in (("good-refA", good), ("good-refB", -good), ("free-src", free)):
        rows = {s: values[k] for k, s in enumerate(marked)} | {"unmarked": values[0]}
        rows |= {"refA": values[0]} if name != "good-refA" else {}
        scores(f"metric-scores/{pair}/{name}.seg.score", rows)
        scores(f"metric-scores/{pair}/{name}.sys.score", {s: [np.mean(row)] for s, row in rows.items()})
    scores(f"metric-scores/{pair}/only-refA.sys.score", {s: [k] for k, s in enumerate([*marked, "unmarked"])})
    return folder
