"""What large data takes: processor seconds, wall time and peak memory of commands, each in a process of its own.

    python tests/benchmarks/bench_sizes.py [--scratch FOLDER] [--only NAME] [--scale 1.0]

5 million candidates, 2 million sparse features, 10 000-best lists, a pool of 5 million pairs with 1 GB of vectors. The
data is made, some GB in the scratch folder at a time, and removed; --scale makes all of it smaller.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lasw.metrics import write_vectors

_WORDS, _LENGTH, _DENSE = 20_000, 20, 14
_DIFFERENT = 200  # lists, which stand again under other numbers
_POOL_LENGTH, _PAIRS_AT_ONCE = 25, 200_000


def _references(sentences: int) -> list[str]:
    draw = random.Random(1)
    some = [" ".join(f"w{draw.randrange(_WORDS)}" for _ in range(_LENGTH)) for _ in range(_DIFFERENT)]
    return [some[k % _DIFFERENT] for k in range(sentences)]


def _lists(path: Path, sentences: int, each: int, sparse: int = 0, names: int = 0) -> None:
    """N-best lists in Moses' layout; `sparse` of `names` features a candidate, other ones in every sentence."""
    draw = np.random.default_rng(1)
    texts = []
    for reference in _references(min(sentences, _DIFFERENT)):
        words, lines = reference.split(), []
        spoilt = draw.random(each) * 0.7
        wrong = draw.random((each, len(words))) < spoilt[:, None]
        values = draw.normal(size=(each, _DENSE))
        values[:, 0] -= 3 * spoilt
        for k in range(each):
            text = " ".join(f"x{k % 100}" if bad else word for bad, word in zip(wrong[k], words, strict=True))
            numbers = " ".join(f"{value:.3f}" for value in values[k])
            lines.append(f" ||| {text} ||| F= {numbers}")
        texts.append(lines)
    with open(path, "w", encoding="utf-8") as out:
        for owner in range(sentences):
            lines = texts[owner % _DIFFERENT]
            if sparse:
                chosen = draw.integers(names, size=(each, sparse)).tolist()
                more = ["".join(f" S_{name}= 1" for name in sorted({*row})) for row in chosen]
                lines = [line + rest for line, rest in zip(lines, more, strict=True)]
            out.write("".join(f"{owner}{line} ||| 0\n" for line in lines))
    _write(path.with_suffix(".ref"), _references(sentences))


def _pool(folder: Path, pairs: int, words: int) -> None:
    """Sentences of 25 words, the first hundred of which are as frequent as Zipf has it, the others ever other ones."""
    draw, most = np.random.default_rng(1), min(pairs, _PAIRS_AT_ONCE)
    frequency = 1 / (np.arange(_WORDS) + 5)
    ids = draw.choice(_WORDS, size=(2, most, _POOL_LENGTH), p=frequency / frequency.sum())
    points = " ".join(f"{k}-{k}" for k in range(_POOL_LENGTH)) + "\n"
    with open(folder / "pool.f", "w") as f, open(folder / "pool.e", "w") as e, open(folder / "pool.a", "w") as a:
        for k in range(0, pairs, most):
            several = min(most, pairs - k)
            for side, out in zip(ids, (f, e), strict=True):
                numbers = draw.choice(words, size=_WORDS, replace=False)
                numbers[:100] = np.arange(100)
                names = [f"w{number}" for number in numbers]
                out.writelines(" ".join([names[j] for j in row]) + "\n" for row in side[:several].tolist())
            a.writelines(points for _ in range(several))
    for side in "fe":
        with open(folder / f"pool.{side}") as lines, open(folder / f"part.{side}", "w") as out:
            out.writelines(itertools.islice(lines, max(pairs // 10, 1)))


def _vector_count(size: int) -> int:
    """How many vectors of 500 numbers take so many bytes."""
    return max(size // 2000, _WORDS)


def _vectors(path: Path, size: int) -> None:
    """About so many bytes of vectors, 500 numbers each."""
    n = _vector_count(size)
    words = [f"w{k}".encode() for k in range(n)]
    write_vectors(path, words, np.random.default_rng(1).normal(size=(n, 500)).astype(np.float32), "packed")


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def cases(folder: Path, scale: float) -> Iterator[tuple[str, Callable[[], None], dict[str, list[str]]]]:
    """What the data is, how it is made, and the commands on it by name."""

    def n(full: int) -> int:
        return max(int(full * scale), 1)

    lists, ref = str(folder / "nbest"), str(folder / "nbest.ref")
    tune = ["optimise", "--references", ref, "--output", str(folder / "w.json"), lists, "--optimiser"]
    yield "5 million candidates", lambda: _lists(folder / "nbest", n(50_000), 100), {
        **{f"optimise, {name}": [*tune, name] for name in ("wro", "expected", "mert", "mira")},
        "nbest stats": ["nbest", "stats", lists, "--references", ref],
        "nbest convert": ["nbest", "convert", lists, str(folder / "lists.jsonl")],
    }  # fmt: skip
    yield (
        "2 million sparse features",
        lambda: _lists(folder / "nbest", n(5000), 100, 40, n(2_000_000)),
        {f"optimise, {name}": [*tune, name] for name in ("wro", "mira", "pro", "perceptron", "expected")},
    )
    rerank = ["rerank", lists]
    yield (
        "10 000-best lists of 200 sentences",
        lambda: _lists(folder / "nbest", n(200), n(10_000)),
        {
            **{f"optimise, {name}": [*tune, name] for name in ("wro", "expected", "mert", "mira")},
            "rerank by weights": [*rerank, "--weights", str(folder / "weights")],
            "rerank by CHRF, approximately": [*rerank, "--mbr", "CHRF", "--mbr-approx"],
            "nbest oracle, TER": ["nbest", "oracle", "--metric", "TER", "--references", ref, lists],
        },
    )
    pool = [
        word
        for name, end in (("source", "f"), ("target", "e"), ("alignment", "a"))
        for word in (f"--{name}", str(folder / f"pool.{end}"))
    ]
    select = ["select", *pool, "--low", "2", "--output", str(folder / "dev")]
    vectors = str(folder / "vectors")

    def made() -> None:
        _pool(folder, n(5_000_000), _vector_count(n(1 << 30)))
        _vectors(folder / "vectors", n(1 << 30))

    yield (
        "a pool of 5 million pairs, 1 GB of vectors",
        made,
        {
            "select": select,
            "select, similarity by vectors": [*select, "--similarity", f"WE:vectors={vectors}"],
            "vectors convert": ["vectors", "convert", "--vectors", vectors, "--output", str(folder / "other")],
            "score a tenth of it by vectors": [
                "score",
                "-m",
                f"WE:vectors={vectors}",
                "-r",
                str(folder / "part.e"),
                "--",
                str(folder / "part.f"),
            ],
        },
    )


def _apart(make: Callable[[], None]) -> None:
    """Do it in a process of its own: what a process has taken counts as taken by those that it starts."""
    child = multiprocessing.get_context("fork").Process(target=make)
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"the data was not made: code {child.exitcode}")


def measured(words: list[str]) -> tuple[float, float, float, str]:
    """Processor seconds, wall time, peak memory in MB of a command, and its fault if it has one."""
    program = "import sys; from lasw.scripts.entry import lasw; sys.exit(lasw())"
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    fault = said.strip().rpartition("\n")[2][:100] if os.waitstatus_to_exitcode(status) else ""
    return used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1024, fault


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, help="a folder with 5 GB of room (default: the system's)")
    parser.add_argument("--only", action="append", metavar="NAME", help="data whose name begins so; may be repeated")
    parser.add_argument("--command", action="append", metavar="NAME", help="the same of commands")
    parser.add_argument("--scale", type=float, default=1.0, help="of all data (default: %(default)s)")
    given = parser.parse_args()
    print("| data | command | CPU s | wall s | peak MB |\n| --- | --- | --- | --- | --- |", flush=True)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="lasw-sizes-", dir=given.scratch) as made:
        for name, make, commands in cases(Path(made), given.scale):
            if given.only is None or any(name.startswith(one) for one in given.only):
                _apart(make)
                _write(Path(made) / "weights", ["F= " + " ".join(["0.1"] * _DENSE)])
                for command, words in commands.items():
                    if given.command is not None and not any(command.startswith(one) for one in given.command):
                        continue
                    cpu, wall, memory, fault = measured(words)
                    faults += bool(fault)
                    print(f"| {name} | {command} | {cpu:.1f} | {wall:.1f} | {memory:.0f} | {fault}", flush=True)
                for path in Path(made).iterdir():
                    path.unlink()
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
