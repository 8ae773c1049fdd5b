"""SIGTERM and Ctrl-C within long computations: ``python tests/fuzz/signals.py [--only NAME] [--moments 3] [--seed 1]``.

Every command here is made long by what it reads: sentences of hundreds of thousands of words for kernels that look at a
sentence at a time, lines as long as they may be for those that are fast, many lists for the others. It is stopped at
moments drawn from a seed, counted in its own processor seconds, out of those that it takes when nobody stops it; how
long it takes to end is told, which may be two seconds, not counting those that it waits for a processor.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from commands import Job  # noqa: E402
from made_text import parallel_text  # noqa: E402

MOST = 2.0  # seconds
_TICK = os.sysconf("SC_CLK_TCK")
_METRICS = ("WER", "CDER", "TER", "METEOR")  # quadratic
_FAST_METRICS = ("PER", "BLEU", "CHRF", "NIST", "PABC4", "RGC2:refs=each")
_EMBEDDED = ("WMD", "WMDO", "WE", "WEWPI", "SRBLEU")
_OPTIMISERS = ("expected", "mert", "mira", "mle", "perceptron", "pro", "ramp", "wro")
_SENTENCES, _DIFFERENT = 6000, 300


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
    yield Job(
        "optimise pro, sparse",
        ["optimise", "--references", "../data/ref", "--output", "out/w.json", "../data/sparse", "--optimiser", "pro"],
        _sparse,
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


def _seconds(process: subprocess.Popen[str]) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _waiting(process: subprocess.Popen[str]) -> float:
    """Seconds that its first thread would have run, had others not: no fault of its own."""
    try:
        return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def _heeding() -> None:
    """What runs in the background of a shell takes no notice of Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def lasting(job: Job, place: Path, most: float) -> float:
    """Processor seconds that it takes when nobody stops it, at most so many."""
    process, took = _started(job, place), 0.0
    while process.poll() is None and took < most:
        took = _seconds(process)
        time.sleep(0.02)
    over = process.poll() is not None
    process.kill()
    _, said = process.communicate()
    if over and process.returncode:
        raise RuntimeError(said)
    return took


def stopped(job: Job, place: Path, moment: float, number: int) -> tuple[float, int, str] | None:
    """How long it took to end, its code and its last line; None if it was over before."""
    process = _started(job, place)
    while process.poll() is None and _seconds(process) < moment:
        time.sleep(0.02)
    if process.poll() is not None:
        _, said = process.communicate()
        if process.returncode:
            raise RuntimeError(said)
        return None
    began, waited = time.monotonic(), _waiting(process)
    late = waited
    process.send_signal(number)
    while process.poll() is None:
        late = max(late, _waiting(process))
        time.sleep(0.005)
    took = time.monotonic() - began - (late - waited)
    _, said = process.communicate()
    left = [path.name for path in (place / "run" / "out").iterdir()]
    last = said.rstrip().rpartition("\n")[2]
    return took, process.returncode, f"{last} left: {left}" if left else last


def _started(job: Job, place: Path) -> subprocess.Popen[str]:
    shutil.rmtree(place / "run", ignore_errors=True)
    return job.start(place / "run", preexec_fn=_heeding)


def tried(job: Job, place: Path, moments: int, latest: float, seed: int) -> tuple[str, int]:
    """A line about one command, and how often it ended late or otherwise than it should."""
    job.prepare(place)
    draw, slowest, ended, late = random.Random(f"{job.name} {seed}"), 0.0, [], 0
    last = lasting(job, place, latest)
    for k in range(moments):
        number = signal.SIGTERM if k % 2 else signal.SIGINT
        moment = draw.uniform(min(0.5, 0.3 * last), 0.95 * last)
        found = stopped(job, place, moment, number)
        if found is None:
            ended.append(f"over before {moment:.1f} s")
            continue
        took, code, said = found
        slowest = max(slowest, took)
        stopped_well = code in (128 + number, -number) and "left:" not in said
        wrong = took > MOST or not (stopped_well or code == 0) or "Error" in said  # 0: it was just over
        late += wrong
        ended.append(f"{moment:.1f}: {took:.2f} s{f' code {code} {said}' if wrong else ''}")
    return f"{job.name:22} of {last:5.1f} s   slowest {slowest:5.2f} s   {'; '.join(ended)}", late


def main() -> int:
    """Print a line for every command; 1 if one takes too long or ends otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="commands whose name begins so; may be repeated"
    )
    parser.add_argument("--moments", type=int, default=3, help="of each command (default: %(default)s)")
    parser.add_argument(
        "--latest", type=float, default=20.0, help="of them, in processor seconds (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--place", type=Path, help="where the data stays")
    given = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="lasw-signals-") as made:
        for job in long_jobs():
            if given.only is None or any(job.name.startswith(name) for name in given.only):
                line, late = tried(job, given.place or Path(made), given.moments, given.latest, given.seed)
                faults += late
                print(line, flush=True)
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
