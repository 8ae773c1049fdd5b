"""Commands that take long: what `signals` stops.

Every one is made long by what it reads: sentences of hundreds of thousands of words for kernels that look at a sentence
at a time, lines as long as they may be for those that are fast, many lists for the others.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from commands import Job
from made_text import parallel_text, write_judgements

_METRICS = ("WER", "CDER", "TER", "METEOR")  # quadratic
_FAST_METRICS = ("PER", "BLEU", "CHRF", "NIST", "PABC4", "RGC2:refs=each")
_EMBEDDED = ("WMD", "WMDO", "WE", "WEWPI", "SRBLEU")
_OPTIMISERS = ("expected", "mert", "mira", "mle", "perceptron", "pro", "ramp", "wro")
_SENTENCES, _DIFFERENT = 6000, 300
_PAIRS = [(a, b) for a in range(10) for b in range(a + 1, 10)]


def long_jobs() -> Iterator[Job]:
    """All of them."""
    score = ["score", "--references=../data/long.ref", "../data/long.hyp"]
    for name in _METRICS:
        yield Job(f"score {name}", [*score, "-m", name], _long)
    score = ["score", "--references=../data/longest.ref", "../data/longest.hyp"]
    for name in _FAST_METRICS:
        yield Job(f"score {name}", [*score, "-m", name], _longest)
    for name in _EMBEDDED:
        yield Job(
            f"score {name}",
            ["score", "--references=../data/some.ref", "../data/some.hyp", "-m", f"{name}:vectors=../data/vectors"],
            _embedded,
        )
    for name in ("13a", "intl", "char"):
        yield Job(f"tokenise {name}", [*score, "-m", "PER", "--tokenize", name], _longest)
    many = ["../data/nbest"]
    tune = ["optimise", "--references", "../data/ref", "--output", "out/w.json", *many]
    for name in _OPTIMISERS:
        yield Job(f"optimise {name}", [*tune, "--optimiser", name], _lists)
    for name in ("mira", "pro", "wro"):
        tune = ["optimise", "--references", "../data/ref", "--output", "out/w.json", "../data/sparse"]
        yield Job(f"sparse {name}", [*tune, "--optimiser", name], _sparse)
    trained = ["--output", "out/model.json", "--data", "../data/judged"]
    yield Job("train-metric rose", ["train-metric", "rose", "--kind", "rank", *trained, "--cost", "100"], _judged)
    yield Job("train-metric pairwise", ["train-metric", "pairwise", "--vectors", "../data/vectors", *trained], _judged)
    yield Job(
        "train-metric rose, values",
        ["train-metric", "rose", "--kind", "reg", "--output", "out/model.json", "--data", "../data/values.tsv"],
        _judged,
    )
    yield Job("rerank by METEOR", ["rerank", "--mbr", "METEOR", *many], _lists)
    yield Job("rerank by BLEU", ["rerank", "--mbr", "BLEU", *many], _lists)
    yield Job("nbest convert", ["nbest", "convert", *many, "out/lists.jsonl"], _lists)
    yield Job("nbest oracle", ["nbest", "oracle", "--metric", "TER", "--references", "../data/ref", *many], _lists)
    yield Job(
        "local train",
        ["local", "train", "--references", "../data/ref", "--source", "../data/source", "--output", "out/s", *many],
        _lists,
    )
    pool = ["--source", "../data/pool.source", "--target", "../data/pool.target"]
    aligned = [*pool, "--alignment", "../data/pool.align", "--low", "2", "--output", "out/dev"]
    yield Job("select", ["select", *aligned], _pool)
    yield Job("select, threads", ["select", *aligned, "--jobs", "2"], _pool)
    yield Job(
        "select svm",
        [
            "select",
            *aligned,
            "--method",
            "svm",
            "--trusted-source",
            "../data/pool.source",
            "--trusted-target",
            "../data/pool.target",
            "--trusted-alignment",
            "../data/pool.align",
        ],
        _pool,
    )
    yield Job("align", ["align", *pool, "--output", "out/a"], _pool)
    yield Job("train", ["train", *pool, "--output", "model"], _pool)
    yield Job(
        "vectors train",
        ["vectors", "train", "--text", "../data/pool.source", "--output", "out/v", "--epochs", "50"],
        _pool,
    )
    yield Job("vectors convert", ["vectors", "convert", "--vectors", "../data/many.vec", "--output", "out/v"], _vectors)
    yield Job(
        "bootstrap",
        [
            "score",
            "--paired-bs",
            "-m",
            "BLEU",
            "--references=../data/pool.source",
            "../data/pool.source",
            "../data/pool.target",
        ],
        _pool,
    )
    yield Job("read text", ["score", "-m", "BLEU", "--references=../data/pool.source", "../data/pool.target"], _pool)


def _write(path: Path, lines: Iterator[str] | list[str]) -> None:
    if not path.exists():
        with open(path, "w", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in lines)


def _long(data: Path) -> None:
    for name, seed in (("long.ref", 1), ("long.hyp", 2)):
        draw = random.Random(seed)
        _write(data / name, [" ".join(f"w{draw.randrange(3000)}" for _ in range(400_000))])


def _longest(data: Path) -> None:
    for name, seed in (("longest.ref", 1), ("longest.hyp", 2)):
        draw = random.Random(seed)
        words = [f"w{k}" if k % 5 else f"w{k},1." for k in range(3000)]
        _write(data / name, (" ".join(draw.choices(words, k=2_400_000)) for _ in range(3)))


def _embedded(data: Path) -> None:
    for name, seed in (("some.ref", 1), ("some.hyp", 2)):
        draw = random.Random(seed)
        _write(data / name, [" ".join(f"w{draw.randrange(3000)}" for _ in range(6000)) for _ in range(40)])
    rows = (f"w{k} " + " ".join(f"{draw.gauss(0, 1):.3f}" for _ in range(50)) for k in range(3000))
    _write(data / "vectors", rows)


def _judged(data: Path) -> None:
    _embedded(data)
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


def _vectors(data: Path) -> None:
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


def _lists(data: Path) -> None:
    _write(data / "nbest", _hypotheses(0))
    _write(data / "ref", _references())
    _write(data / "source", [f"a sentence {k} of {k % 7}" for k in range(_SENTENCES)])


def _sparse(data: Path) -> None:
    _lists(data)
    _write(data / "sparse", _hypotheses(20))


def _pool(data: Path) -> None:
    source, target = parallel_text(400_000)
    _write(data / "pool.source", source)
    _write(data / "pool.target", target)
    _write(data / "pool.align", ["0-0 1-1 2-2 3-3"] * len(source))
