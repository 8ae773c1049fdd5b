"""A system for the stand-in for Moses, and calls of lasw-mert-moses with it."""

from __future__ import annotations

import random
from pathlib import Path

from stand_in_moses import Candidate, system

from lasw.tuning import FeatureNames

GROUPS = {"LM0": 1, "WordPenalty0": 1, "TranslationModel0": 3}
NAMES = FeatureNames(tuple(GROUPS.items()))
INI = """\
# a system
[feature]
UnknownWordPenalty
WordPenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=3
KENLM name=LM0

[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
TranslationModel0= 0.2 0.2 0.2
LM0= 0.5
"""
WORDS = ["the", "a", "cat", "dog", "bird", "house", "sees", "hears", "finds", "old", "new", "Small", "often", "here"]
SENTENCES = 16
REST = ["--decoder-flags", " -v 0 ", "--rootdir", "scripts", "-mertdir", "scripts", "--no-filter-phrase-table"]


def made(folder: Path, *, sparse: bool = False) -> Path:
    """A system of 80 candidates a sentence, spoilt references with features that tell how far, and its dev set."""
    draw = random.Random(5)
    references = [" ".join(draw.choice(WORDS) for _ in range(draw.randint(8, 14))) for _ in range(SENTENCES)]
    candidates: dict[str, list[Candidate]] = {}
    for k, reference in enumerate(references):
        found = []
        for _ in range(80):
            spoilt = 0.7 * draw.random()
            words = [word if draw.random() > spoilt else draw.choice(WORDS) for word in reference.split()]
            words = words[: draw.randint(len(words) - 3, len(words))]
            dense = [round(-9 * spoilt + draw.gauss(0, 2), 4), -float(len(words))]
            dense += [round(weight * spoilt + draw.gauss(0, 1), 4) for weight in (-2.0, 2.0, 0.0)]
            found.append((" ".join(words), dense, {f"WT_{words[0]}~x": 1.0} if sparse else {}))
        candidates[f"satz {k} &#124; ende"] = found
    (folder / "dev.de").write_text("".join(line + "\n" for line in candidates), encoding="utf-8")
    (folder / "dev.en").write_text("".join(line + "\n" for line in references), encoding="utf-8")
    (folder / "moses.ini").write_text(INI, encoding="utf-8")
    system(folder, candidates, GROUPS, sparse=["WT"] if sparse else [])
    return folder


def call(place: Path, folder: Path, *more: str) -> list[str]:
    """As Moses' experiment manager calls."""
    files = [str(place / name) for name in ("dev.de", "dev.en", "moses", "moses.ini")]
    return [*files, "--nbest", "5", "--working-dir", str(folder), *REST, "--quiet", *more]


def files(folder: Path) -> dict[str, bytes]:
    """All that scripts look for, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
