"""Data that commands take long on, made once in a folder: what `long_jobs` reads."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from made_text import parallel_text, write_judgements

_SENTENCES, _DIFFERENT = 6000, 300
_PAIRS = [(a, b) for a in range(10) for b in range(a + 1, 10)]

_GRID = """\
[comparison]
seeds = [1, 2]
measures = ["BLEU"]
samples = 100
[development.dev]
source = "DATA/source"
references = ["DATA/ref"]
lists = ["DATA/nbest"]
[test.test]
source = "DATA/source"
references = ["DATA/ref"]
lists = ["DATA/nbest"]
[system.untuned]
optimiser = "none"
[system.PRO]
optimiser = "pro"
[system.MERT]
optimiser = "mert"
"""


def _write(path: Path, lines: Iterable[str]) -> None:
    if not path.exists():
        with open(path, "w", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in lines)


def long(data: Path) -> None:
    """Two lines of 400 000 words, for what takes quadratic time."""
    for name, seed in (("long.ref", 1), ("long.hyp", 2)):
        draw = random.Random(seed)
        _write(data / name, [" ".join(f"w{draw.randrange(3000)}" for _ in range(400_000))])


def longest(data: Path) -> None:
    """Three lines of 2.4 million words, 15 MB each, on each side."""
    for name, seed in (("longest.ref", 1), ("longest.hyp", 2)):
        draw = random.Random(seed)
        words = [f"w{k}" if k % 5 else f"w{k},1." for k in range(3000)]
        _write(data / name, (" ".join(draw.choices(words, k=2_400_000)) for _ in range(3)))


def embedded(data: Path) -> None:
    """Forty long lines of words that have vectors."""
    for name, seed in (("some.ref", 1), ("some.hyp", 2)):
        draw = random.Random(seed)
        _write(data / name, [" ".join(f"w{draw.randrange(3000)}" for _ in range(6000)) for _ in range(40)])
    rows = (f"w{k} " + " ".join(f"{draw.gauss(0, 1):.3f}" for _ in range(50)) for k in range(3000))
    _write(data / "vectors", rows)


def judged(data: Path) -> None:
    """Ten systems, judged by people in 3000 lines."""
    embedded(data)
    if (data / "judged").exists():
        return
    draw = random.Random(1)
    references = [" ".join(f"w{draw.randrange(3000)}" for _ in range(25)) for _ in range(3000)]
    systems = {
        f"s{k}": [" ".join(w if draw.random() > k / 20 else "x" for w in line.split()) for line in references]
        for k in range(10)
    }
    pairs = (f"{k + 1}\ts{a}\ts{b}\t{'<' if draw.random() < 0.7 else '>'}\n" for k in range(3000) for a, b in _PAIRS)
    write_judgements(data / "judged", references, systems, pairs)
    rows = (f"{draw.random()}\t{h}\t{r}" for lines in systems.values() for h, r in zip(lines, references, strict=True))
    _write(data / "values.tsv", ["human\thyp\tref", *rows])


def vectors(data: Path) -> None:
    """Many, as text."""
    draw = random.Random(1)
    row = " ".join(f"{draw.gauss(0, 1):.4f}" for _ in range(100))
    _write(data / "many.vec", (f"w{k} {row}" for k in range(300_000)))


def _hypotheses(sparse: int) -> Iterator[str]:
    draw = random.Random(1)
    some = [_one_list(draw, reference, sparse) for reference in _references()[:_DIFFERENT]]
    for owner in range(_SENTENCES):
        yield from (f"{owner} ||| {line}" for line in some[owner % _DIFFERENT])


def _one_list(draw: random.Random, reference: str, sparse: int) -> list[str]:
    lines = []
    for _ in range(200):
        spoilt = 0.7 * draw.random()
        text = " ".join(word if draw.random() > spoilt else "x" for word in reference.split())
        more = "".join(f" S_{name}= 1" for name in draw.sample(range(100_000), sparse))
        lines.append(f"{text} ||| LM= {draw.gauss(0, 1):.3f} TM= {-spoilt:.3f} {draw.gauss(0, 1):.3f}{more} ||| 0")
    return lines


def _references() -> list[str]:
    draw = random.Random(2)
    some = [" ".join(f"w{draw.randrange(3000)}" for _ in range(25)) for _ in range(_DIFFERENT)]
    return some * (_SENTENCES // _DIFFERENT)


def lists(data: Path) -> None:
    """Of 200 for each of 6000 sentences."""
    _write(data / "nbest", _hypotheses(0))
    _write(data / "ref", _references())
    _write(data / "source", [f"a sentence {k} of {k % 7}" for k in range(_SENTENCES)])


def sparse(data: Path) -> None:
    """The same with 20 of 100 000 features each."""
    lists(data)
    _write(data / "sparse", _hypotheses(20))


def pool(data: Path) -> None:
    """400 000 pairs."""
    source, target = parallel_text(400_000)
    _write(data / "pool.source", source)
    _write(data / "pool.target", target)
    _write(data / "pool.align", ["0-0 1-1 2-2 3-3"] * len(source))


def long_and_vectors(data: Path) -> None:
    """Of all words of the lines, too."""
    long(data)
    embedded(data)


def pool_and_vectors(data: Path) -> None:
    """Of all words of the pool, and of those of `embedded`."""
    pool(data)
    embedded(data)


def sets(data: Path) -> None:
    """Lists, and for each of 6000 sentences the 100 that are most like it."""
    lists(data)
    draw = random.Random(1)
    rows = (
        f"{sentence}\t{k + 1}\t{line}\t0.5"
        for sentence in range(1, _SENTENCES + 1)
        for k, line in enumerate(draw.sample(range(301, _SENTENCES), 100))
    )
    _write(data / "sets.local.tsv", itertools.chain(["test_line\trank\tline\tsimilarity"], rows))


def grid(data: Path) -> None:
    """A comparison of four optimisers on the lists."""
    lists(data)
    _write(data / "grid.toml", _GRID.replace("DATA", str(data)).splitlines())


def longest_list(data: Path) -> None:
    """The lines of `longest` as hypotheses of one sentence."""
    longest(data)
    if not (data / "longest.list").exists():
        (data / "longest.list").write_bytes((data / "longest.ref").read_bytes() + (data / "longest.hyp").read_bytes())
