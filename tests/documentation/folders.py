"""The files that the examples of the documentation start from: small, made, the same every time.

``python tests/documentation/folders.py NAME FOLDER`` writes those of one kind, for who wants to type the examples.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import moses_runs
from made_text import parallel_text, write_judgements

INI = """\
[feature]
UnknownWordPenalty
WordPenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=2
KENLM name=LM0

[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
TranslationModel0= 0.2 0.2
LM0= 0.5
"""


def write(path: Path, lines: Iterable[str]) -> None:
    """A text file, compressed if its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def spoilt(draw: random.Random, text: str, share: float) -> tuple[str, int]:
    """A text with so many of its words replaced, and how many are."""
    other = ["dog", "cat", "house", "tree", "bank", "old", "new", "small", "nice", "sees", "finds", "today", "often"]
    words = [draw.choice(other) if draw.random() < share else word for word in text.split()]
    return " ".join(words), sum(a != b for a, b in zip(words, text.split(), strict=True))


def parts(folder: Path, sizes: dict[str, int], joined: int = 1) -> dict[str, list[str]]:
    """``NAME.de`` and ``NAME.en`` of every part, `joined` short sentences a line; the English sides."""
    source, target = parallel_text(joined * sum(sizes.values()))
    lines = [[" ".join(side[k : k + joined]) for k in range(0, len(side), joined)] for side in (source, target)]
    sides, first = {}, 0
    for name, size in sizes.items():
        for end, side in zip(("de", "en"), lines, strict=True):
            write(folder / f"{name}.{end}", side[first : first + size])
        sides[name] = lines[1][first : first + size]
        first += size
    return sides


def lists(folder: Path) -> None:
    """N-best lists of two rounds of Moses, and those of a test set."""
    draw = random.Random(1)
    sides = parts(folder, {"dev": 80, "test": 100}, joined=2)
    for name, part in (
        ("run1.best100.out.gz", "dev"),
        ("run2.best100.out.gz", "dev"),
        ("test.nbest.gz", "test"),
        ("samples.gz", "test"),
    ):
        write(folder / name, nbest(draw, sides[part], 30))
    first = {}
    with gzip.open(folder / "test.nbest.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            first.setdefault(*line.split(" ||| ")[:2])
    write(folder / "baseline.out", first.values())
    write(folder / "run1.moses.ini", INI.rstrip("\n").split("\n"))
    with gzip.open(folder / "test.nbest.gz", "rt", encoding="utf-8") as stream:
        write(folder / "test.lm", (f"{-0.1 * len(line.split(' ||| ')[1]):.3f}" for line in stream))
    with gzip.open(folder / "run1.best100.out.gz", "rt", encoding="utf-8") as stream:
        write(folder / "dev.lm", (f"{-0.1 * len(line.split(' ||| ')[1]):.3f}" for line in stream))


def nbest(draw: random.Random, references: Sequence[str], size: int) -> Iterable[str]:
    """Lists in Moses' layout: the language model knows a little of what is wrong, the first table more."""
    for owner, reference in enumerate(references):
        found = []
        for _ in range(size):
            text, wrong = spoilt(draw, reference, 0.6 * draw.random())
            lm, tm = draw.gauss(-wrong, 2.5), [draw.gauss(-wrong, 1.5), draw.gauss(0, 9)]
            found.append((0.5 * lm + 0.2 * sum(tm) + len(text.split()), text, lm, tm))
        for total, text, lm, tm in sorted(found, reverse=True):
            values = f"LM0= {lm:.3f} WordPenalty0= {-len(text.split())} TranslationModel0= {tm[0]:.3f} {tm[1]:.3f}"
            yield f"{owner} ||| {text} ||| {values} ||| {total:.3f}"


DECODER = """\
import gzip, sys

weights = {}
for line in open(sys.argv[1]):
    name, *values = line.replace("=", " ").split()
    weights[name] = list(map(float, values))
lists = {}
for line in gzip.open("test.nbest.gz", "rt"):
    owner, text, features, _ = line.rstrip("\\n").split(" ||| ")
    total, name, place = 0.0, "", 0
    for word in features.split():
        if word.endswith("="):
            name, place = word[:-1], 0
        else:
            total += weights[name][place] * float(word)
            place += 1
    lists.setdefault(int(owner), []).append((total, f"{text} ||| {features} ||| {total:.6f}"))
known = {line: k for k, line in enumerate(open("test.de"))}
for k, line in enumerate(sys.stdin):
    for _, found in sorted(lists[known[line]], key=lambda one: -one[0])[: int(sys.argv[2])]:
        print(f"{k} ||| {found}")
"""


def own(folder: Path) -> None:
    """The lists, and a program that decodes with what they hold."""
    lists(folder)
    write(folder / "decoder.py", DECODER.rstrip("\n").split("\n"))
    write(folder / "start.txt", ["LM0= 0.5", "WordPenalty0= -1", "TranslationModel0= 0.2 0.2"])


def neural(folder: Path) -> None:
    """Lists of a neural system as JSON lines, with the scores of a language model and of an estimate of quality."""
    draw = random.Random(6)
    sides = parts(folder, {"dev": 60, "test": 80}, joined=2)
    for name, references in sides.items():
        lines, lm, qe = [], [], []
        for owner, reference in enumerate(references):
            found = []
            for _ in range(10):
                text, wrong = spoilt(draw, reference, 0.5 * draw.random())
                found.append((*(round(draw.gauss(-wrong, deviation), 3) for deviation in (5, 8, 2)), text))
            found.sort(key=lambda one: -one[0])
            hypotheses = [{"text": text, "score": score} for score, *_, text in found]
            lm += [str(one[1]) for one in found]
            qe += [str(one[2]) for one in found]
            lines.append(json.dumps({"id": owner, "hypotheses": hypotheses}))
        write(folder / f"{name}.jsonl", lines)
        write(folder / f"{name}.lm", lm)
        write(folder / f"{name}.qe", qe)
        (folder / f"{name}.en").rename(folder / f"{name}.ref")


def thot(folder: Path) -> None:
    """Parallel text to train, tune and test a system."""
    parts(folder, {"train": 600, "dev": 100, "test": 100})


def moses(folder: Path) -> None:
    """A program that stands in for Moses, its moses.ini, and a development set."""
    moses_runs.made(folder)
    for name, place in (("moses", "bin"), ("moses.ini", "model")):
        (folder / place).mkdir()
        (folder / name).rename(folder / place / name)
    write(folder / "test.de", (folder / "dev.de").read_text(encoding="utf-8").splitlines())
    write(folder / "test.en", (folder / "dev.en").read_text(encoding="utf-8").splitlines())


def pool(folder: Path) -> None:
    """Parallel text of which a part is damaged, good text, and a test set."""
    draw = random.Random(3)
    source, target = parallel_text(3 * 500, seed=2)
    pairs = [(" ".join(source[k : k + 3]), " ".join(target[k : k + 3])) for k in range(0, len(source), 3)]
    rows = []
    for k, (f, e) in enumerate(pairs[:400]):
        damage = k % 4
        e = pairs[draw.randrange(400)][1] if damage == 1 else e[: len(e) // 3] if damage == 2 else e
        rows.append((f, e.strip()))
    for end, side in zip(("de", "en"), zip(*rows, strict=True), strict=True):
        write(folder / f"pool.{end}", side)
    for name, some in (("trusted", pairs[400:480]), ("test", pairs[480:])):
        for end, side in zip(("de", "en"), zip(*some, strict=True), strict=True):
            write(folder / f"{name}.{end}", side)


def judgements(folder: Path) -> None:
    """Systems, what people say about pairs of them, and their marks."""
    draw = random.Random(4)
    _, references = parallel_text(2 * 60, seed=3)
    references = [" ".join(references[k : k + 2]) for k in range(0, len(references), 2)]
    rates = {"online": 0.2, "phrases": 0.25, "baseline": 0.3, "rules": 0.4}
    for language in ("cs-en", "de-en"):
        systems = {name: [spoilt(draw, one, rate) for one in references] for name, rate in rates.items()}
        pairs, names = [], sorted(systems)
        for k in range(len(references)):
            for a in names:
                for b in names:
                    if a < b:
                        gap = systems[b][k][1] - systems[a][k][1] + draw.gauss(0, 4)
                        pairs.append(f"{k + 1}\t{a}\t{b}\t{'<' if gap > 0.3 else '>' if gap < -0.3 else '='}\n")
        texts = {name: [text for text, _ in lines] for name, lines in systems.items()}
        write_judgements(folder / language, references, texts, pairs)
        marks = ["seg1\tsystem\thuman\thyp\tref"]
        for name, lines in systems.items():
            marks += [
                f"{k + 1}\t{name}\t{draw.gauss(-wrong, 3):.3f}\t{text}\t{references[k]}"
                for k, (text, wrong) in enumerate(lines)
            ]
        write(folder / f"{language}.tsv", marks)
    write(folder / "ref.en", references)
    for name, rate in rates.items():
        write(folder / name, (spoilt(draw, one, rate)[0] for one in references))
    vectors(folder)


def vectors(folder: Path) -> None:
    """Vectors of the words, in GloVe's layout."""
    draw = random.Random(5)
    _, lines = parallel_text(200, seed=3)
    words = sorted({word for line in lines for word in line.split()})
    write(
        folder / "glove.txt.gz", (f"{word} {' '.join(f'{draw.gauss(0, 1):.4f}' for _ in range(8))}" for word in words)
    )


FOLDERS: dict[str, Callable[[Path], None]] = {
    "lists": lists,
    "own": own,
    "neural": neural,
    "thot": thot,
    "moses": moses,
    "pool": pool,
    "judgements": judgements,
}


def make(name: str, folder: Path) -> None:
    """Write the files of one kind into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    FOLDERS[name](folder)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in FOLDERS:
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(FOLDERS)} FOLDER")
    make(sys.argv[1], Path(sys.argv[2]))
