"""Small runs of every command that writes, on data made here: what `kills` kills and `troubles` makes trouble for."""

# ruff: noqa: E501 - a command a line
from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import moses_runs
import numpy as np
from made_text import parallel_text, write_judgements, write_spoilt_lists

_ENTRY = "import sys; from lasw.scripts.entry import {0}; sys.exit({0}())"

# Translates as "x" or "y" for every word, n times; the features tell how many there are of each.
_DECODER = """\
import json, random, sys
weights, n, source, out = sys.argv[1:]
w = json.load(open(weights))["dense"]
with open(out, "w") as lists:
    for s, line in enumerate(open(source).read().split("\\n")[:-1]):
        draw, found = random.Random(line), []
        for k in range(60):
            words = [word if draw.random() > 0.4 else "x" for word in line.split()]
            h = [-words.count("x") + draw.gauss(0, 1), draw.gauss(0, 1)]
            found.append((w["LM"][0] * h[0] + w["TM"][0] * h[1], k, h, words))
        for total, _, h, words in sorted(found, reverse=True)[: int(n)]:
            lists.write(f"{s} ||| {' '.join(words)} ||| LM= {h[0]:.4f} TM= {h[1]:.4f} ||| {total:.4f}\\n")
"""
_DECODER_WORDS = f"{sys.executable} -SE ../data/decode.py {{weights}} {{n}} {{source}} {{nbest}}"

_GRID = """\
[comparison]
seeds = [1, 2]
measures = ["BLEU"]
samples = 20
[development.dev]
source = "DATA/dev.source"
references = ["DATA/dev.ref"]
lists = ["DATA/dev.nbest"]
[test.test]
source = "DATA/dev.source"
references = ["DATA/dev.ref"]
lists = ["DATA/dev.nbest"]
[system.untuned]
optimiser = "none"
[system.PRO]
optimiser = "pro"
draws = 100
[system.WRO]
optimiser = "wro"
draws = 100
"""
_DECODED_GRID = (
    _GRID.replace('lists = ["DATA/dev.nbest"]\n', "")
    + """\
[run]
iterations = 3
nbest = 20
[decoder]
name = "command"
initial = "DATA/start.json"
command = "COMMAND"
"""
)


@dataclass(frozen=True)
class Job:
    """A command line that stands in a folder beside ``data`` and writes to ``out`` there.

    Args:
        name: of it.
        words: behind the program's name.
        make: puts what it reads into a folder, data that several share in it already.
        program: of `lasw.scripts.entry`.
        environment: of it.
        folder: whether ``out`` is a folder of the run's own, which nobody makes before.
        resumes: whether it goes on where it was, so that two at a time are refused.
    """

    name: str
    words: Sequence[str]
    make: Callable[[Path], object]
    program: str = "lasw"
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: bool = False

    def command(self) -> list[str]:
        """How it is started."""
        return [sys.executable, "-c", _ENTRY.format(self.program), *self.words]

    def prepare(self, place: Path) -> None:
        """Make its data, in ``data`` beside the folders that it is started in."""
        (place / "data").mkdir(parents=True, exist_ok=True)
        self.make(place / "data")

    def start(self, folder: Path, before: Sequence[str] = (), **more: object) -> subprocess.Popen[str]:
        """Start it in a folder beside ``data``, in a process group of its own; temporary files go to ``tmp`` there.

        Args:
            folder: made if need be.
            before: words before its own.
            more: of `subprocess.Popen`.
        """
        for name in ("tmp", *(() if self.folder else ("out",))):
            if not (folder / name).exists():
                (folder / name).mkdir(parents=True)
        environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "PYTHONHASHSEED": "random", **self.environment}
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        return subprocess.Popen([*before, *self.command()], cwd=folder, env=environment, **{**options, **more})  # type: ignore[call-overload, no-any-return]


def ended(process: subprocess.Popen[str], longest: float) -> tuple[int, str]:
    """Its exit code and what it said.

    Raises:
        RuntimeError: it had not ended after so many seconds; it has by now, with its children.
    """
    try:
        _, said = process.communicate(timeout=longest)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise RuntimeError(f"no end within {longest:g} s") from None
    return process.returncode, said


def jobs() -> list[Job]:
    """All of them, the cheapest first."""
    tune = ["tune", "--seed", "1", "--run", "out", "--source", "../data/dev.source", "--references", "../data/dev.ref"]
    lists = ["--references", "../data/dev.ref", "--source", "../data/dev.source", "../data/dev.nbest"]
    judged = ["--data", "../data/judged", "--output", "out/model.json"]
    decoder = ["--decoder", "command", "--command", _DECODER_WORDS, "--initial", "../data/start.json"]
    thot = ["--decoder", "thot", "--model", "../data/model", "--jobs", "2", "--nbest", "20", "--iterations", "3"]
    vectors = ["vectors", "train", "--text", "../data/text", "--output", "out/vectors", "--size", "16", "--epochs", "3"]
    mert = [f"../data/{name}" for name in ("dev.de", "dev.en", "moses", "moses.ini")]
    mert += ["--working-dir", "out", "--nbest", "5", *moses_runs.REST, "--continue", "--maximum-iterations", "5"]
    return [
        Job("tune fixed", [*tune, "--optimiser", "wro", "--decoder", "fixed", "--lists", "../data/dev.nbest"], _lists, folder=True),
        Job("tune command", [*tune, "--optimiser", "pro", "--nbest", "20", "--iterations", "5", *decoder], _decoded, folder=True),
        Job("mert-moses", [*mert, "--batch-mira"], _moses, "mert_moses", {"STAND_IN": "sleep=0.01"}, folder=True),
        Job("compare", ["compare", "../data/grid.toml", "--run", "out", "--jobs", "2"], _grid, folder=True),
        Job("compare, decoder", ["compare", "../data/decoded.toml", "--run", "out", "--jobs", "2"], _grid, folder=True),
        Job("select", ["select", "--shards", "../data/shards", "--jobs", "2", "--words", "2000", "--low", "2", "--output", "out/dev"], _shards),
        Job("local train", ["local", "train", "--output", "out/samples", *lists], _lists),
        Job("train-metric rose", ["train-metric", "rose", "--kind", "rank", *judged], _judged),
        Job("train-metric pairwise", ["train-metric", "pairwise", "--vectors", "../data/vectors.vec", *judged], _judged),
        Job("vectors train", vectors, _text),
        Job("vectors convert", ["vectors", "convert", "--vectors", "../data/many.vec", "--output", "out/packed"], _many),
        Job("tune thot", [*tune, "--optimiser", "wro", *thot], _thot, folder=True),
        Job("train", ["train", "--source", "../data/pool.source", "--target", "../data/pool.target", "--output", "out"], _pool, folder=True),
    ]  # fmt: skip


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _lists(data: Path) -> None:
    references = write_spoilt_lists(data, "dev", 1, 60, 8)
    _write(data / "dev.source", [line.upper() for line in references])


def _decoded(data: Path) -> None:
    references = write_spoilt_lists(data, "dev", 1, 60, 8)
    _write(data / "dev.source", references)
    (data / "decode.py").write_text(_DECODER)
    (data / "start.json").write_text('{"dense": {"LM": [0.5], "TM": [1.0]}}')


def _grid(data: Path) -> None:
    _decoded(data)
    here = "../data"
    (data / "grid.toml").write_text(_GRID.replace("DATA", str(data)))
    command = _DECODER_WORDS.replace(here, str(data))
    (data / "decoded.toml").write_text(_DECODED_GRID.replace("COMMAND", command).replace("DATA", str(data)))


def _moses(data: Path) -> None:
    moses_runs.made(data)


def _pool(data: Path, count: int = 1500) -> None:
    for side, lines in zip(("source", "target"), parallel_text(count), strict=True):
        _write(data / f"pool.{side}", lines)


def _shards(data: Path) -> None:
    table = []
    for k in range(4):
        source, target = parallel_text(3000, k)
        draw = random.Random(k)
        source = [f"{line} {draw.randrange(5000)}" for line in source]
        points = [
            " ".join(f"{j}-{j}" for j in range(min(len(a.split()), len(b.split()))))
            for a, b in zip(source, target, strict=True)
        ]
        for side, lines in (("f", source), ("e", target), ("a", points)):
            _write(data / f"pool{k}.{side}", lines)
        table.append("\t".join(f"pool{k}.{side}" for side in "fea"))
    _write(data / "shards", table)


def _judged(data: Path) -> None:
    draw = np.random.default_rng(2)
    words = list("abcdefgh")
    references = [list(draw.choice(words, size=7)) for _ in range(200)]
    systems = {}
    for name, share in (("one", 0.1), ("two", 0.4), ("three", 0.7)):
        systems[name] = [
            " ".join(str(draw.choice(words)) if draw.random() < share else w for w in r) for r in references
        ]
    better = [("one", "two"), ("two", "three"), ("one", "three")]
    pairs = [f"{k + 1}\t{a}\t{b}\t<\n" for k in range(len(references)) for a, b in better]
    shutil.rmtree(data / "judged", ignore_errors=True)
    write_judgements(data / "judged", [" ".join(line) for line in references], systems, pairs)
    _write(data / "vectors.vec", [f"{w} {' '.join(f'{x:.3f}' for x in draw.normal(size=3))}" for w in words])


def _text(data: Path) -> None:
    _write(data / "text", parallel_text(3000)[0])


def _many(data: Path) -> None:
    draw = np.random.default_rng(1)
    rows = draw.normal(size=(20_000, 20)).astype(np.float32)
    _write(data / "many.vec", [f"w{k} " + " ".join(f"{x:.4f}" for x in row) for k, row in enumerate(rows)])


def _thot(data: Path) -> None:
    for name, count, seed in (("train", 1500, 1), ("dev", 40, 2)):
        for side, lines in zip(("source", "target"), parallel_text(count, seed), strict=True):
            _write(data / f"{name}.{side}", lines)
    (data / "dev.target").rename(data / "dev.ref")
    words = ["train", "--source", "train.source", "--target", "train.target", "--output", "model", "--quiet"]
    if not (data / "model").exists():
        subprocess.run(
            [sys.executable, "-c", _ENTRY.format("lasw"), *words], cwd=data, check=True, stdout=subprocess.DEVNULL
        )
