"""Does selection help? A pool with known damage, development sets of equal size from it, and a system tuned on each.

    python tests/benchmarks/bench_damaged_pool.py                          # which damage gets through
    python tests/benchmarks/bench_damaged_pool.py --tune --run FOLDER      # and test BLEU; hours

The pool is the part of Multi30k's training text that the system is not trained on, with half of its pairs damaged. The
same command goes on where it was stopped: whatever is in FOLDER is not made again, so a folder is for one setting.

Targets in the wrong language are sentences of the source language with another meaning. With --wrong-language parallel
they are the right translations in a third language as regular as English (its letters exchanged), which word alignment
alone cannot tell from English.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from lasw.metrics.files import read_lines, write_text
from lasw.selection.damage import KINDS, DamagedPool, damage

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "multi30k"
TUNED = ("random", "length", "la", "svm", "clean")
RANDOM = ("random", "length")  # differ from seed to seed
SETS = {"random": "random", "length": "length", "la": "LA", "svm": "learned LA", "clean": "clean"}
LASW = [sys.executable, "-c", "import sys; from lasw.scripts.main import main; sys.exit(main())"]
SIDES = ("source", "target", "alignment")
GOAL_DAMAGED, GOAL_BEHIND = 5.0, 0.5


def main() -> None:
    """Make, select, count, and tune if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="where everything goes and stays (default: thrown away)")
    parser.add_argument("--tune", action="store_true", help="also tune a system on each set")
    parser.add_argument("--train", type=int, default=19_000, help="pairs that the system is trained on")
    parser.add_argument("--pool", type=int, default=10_000, help="pairs of the pool, taken from behind these")
    parser.add_argument("--damage", type=float, default=0.5, help="share of damaged pairs")
    parser.add_argument("--damage-seed", type=int, default=1, help="of the pool; --seeds are of selection and tuning")
    parser.add_argument("--wrong-language", choices=("unrelated", "parallel"), default="unrelated")
    parser.add_argument("--words", type=int, default=10_000, help="source words of each set")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--nbest", type=int, default=100)
    parser.add_argument("--test", type=int, default=1000, help="test sentences")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if not DATA.is_dir():
        print("real data is not beside the checkout (../shared/data)")
        return
    with _folder(arguments.run) as folder:
        _same_setting(folder, arguments)
        pool = _make(folder, arguments)
        _select(folder, arguments)
        _count(folder, pool, arguments)
        if arguments.tune:
            _tune(folder, arguments)


@contextlib.contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is None:
        with tempfile.TemporaryDirectory(prefix="lasw-damaged-") as scratch:
            yield Path(scratch)
    else:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()


def _same_setting(folder: Path, arguments: argparse.Namespace) -> None:
    names = ("train", "pool", "damage", "damage_seed", "wrong_language", "words", "iterations", "nbest", "test")
    setting = json.dumps({name: getattr(arguments, name) for name in names}) + "\n"
    file = folder / "setting.json"
    if file.exists() and file.read_text() != setting:
        sys.exit(f"{file}: made with other settings; give another --run")
    write_text(file, setting)


def _make(folder: Path, arguments: argparse.Namespace) -> DamagedPool:
    """The text and the pool. All text is aligned together, as the system's text is there when one selects."""
    train = [read_lines(DATA / f"train.{end}.gz") for end in ("de", "en")]
    trusted = [read_lines(DATA / f"dev.{end}.gz") for end in ("de", "en")]
    test = [read_lines(DATA / f"test.{end}.gz")[: arguments.test] for end in ("de", "en")]
    first = arguments.train
    held_out = [side[first : first + arguments.pool] for side in train]
    foreign = train[0][:first] if arguments.wrong_language == "unrelated" else ()
    pool = damage(
        *held_out, dict.fromkeys(KINDS, arguments.damage / len(KINDS)), seed=arguments.damage_seed, foreign=foreign
    )
    clean = _clean_set(trusted, arguments.words)
    for k, end in enumerate(("de", "en")):
        side = (pool.source, pool.target)[k]
        _write(folder / f"train.{end}", train[k][:first])
        _write(folder / f"pool.{end}", side)
        _write(folder / f"trusted.{end}", trusted[k])
        _write(folder / f"all.{end}", [*side, *trusted[k], *train[k][:first]])
        _write(folder / f"test.{end}", test[k])
        _write(folder / f"clean.{end}", [trusted[k][line] for line in clean])
    if not (folder / "all.align").exists():
        _lasw("align", "--source", "all.de", "--target", "all.en", "--output", "all.align", cwd=folder)
    points = read_lines(folder / "all.align")
    size = len(pool.source)
    _write(folder / "pool.align", points[:size])
    _write(folder / "trusted.align", points[size : size + len(trusted[0])])
    return pool


def _clean_set(trusted: Sequence[Sequence[str]], words: int) -> list[int]:
    """The first sentences of LA's length limits that have so many words, as the other sets."""
    chosen, count = [], 0
    for k, text in enumerate(trusted[0]):
        size = len(text.split())
        if 10 < size < 50 and count < words:
            chosen.append(k)
            count += size
    return chosen


def _select(folder: Path, arguments: argparse.Namespace) -> None:
    pool = ["--source", "pool.de", "--target", "pool.en", "--words", str(arguments.words), "--quiet"]
    aligned = ["--alignment", "pool.align"]
    trusted = [f"--trusted-{side}=trusted.{end}" for side, end in zip(SIDES, ("de", "en", "align"), strict=True)]
    options = {
        "la": aligned,
        "la-paper": [*aligned, "--paper-sign"],
        "TAR": aligned,
        "svm": [*aligned, *trusted],
        "tfidf": ["--test-source", "test.de"],
        "edit": ["--test-source", "test.de"],
    }
    for method, more in options.items():
        if not (folder / f"{method}.lines").exists():
            _lasw("select", "--method", method.partition("-")[0], *pool, *more, "--output", method, cwd=folder)
    for seed in range(1, arguments.seeds + 1):
        for method in RANDOM:
            name = f"{method}-{seed}"
            if not (folder / f"{name}.lines").exists():
                _lasw("select", "--method", method, *pool, "--seed", str(seed), "--output", name, cwd=folder)


def _count(folder: Path, pool: DamagedPool, arguments: argparse.Namespace) -> None:
    """Damaged pairs of each selection; a near duplicate counts beside its original, or always (strict)."""
    share = sum(map(bool, pool.damage)) / len(pool.source)
    print(f"{len(pool.source)} pairs, {share:.1%} damaged; sets of {arguments.words} words")
    print(f"{'method':<10}{'pairs':>6}{'damaged':>9}{'strict':>8}  kinds (strict: near duplicates alone too)")
    names = ["la", "la-paper", "svm", "TAR", "tfidf", "edit"]
    names += [f"{method}-{seed}" for method in RANDOM for seed in range(1, arguments.seeds + 1)]
    for name in names:
        lines = [int(line) for line in read_lines(folder / f"{name}.lines")]
        counts = pool.damaged(lines)
        every = Counter(pool.damage[line - 1] for line in lines if pool.damage[line - 1])
        share = 100 * sum(counts.values()) / max(1, len(lines))
        kinds = ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
        mark = ("  reached" if share < GOAL_DAMAGED else "  missed") if name == "la" else ""
        strict = 100 * sum(every.values()) / max(1, len(lines))
        print(f"{name:<10}{len(lines):>6}{share:>8.1f}%{strict:>7.1f}%  {kinds}{mark}")


def _tune(folder: Path, arguments: argparse.Namespace) -> None:
    """A comparison for each seed, in a folder of its own."""
    if not (folder / "system").exists():
        _lasw("train", "--source", "train.de", "--target", "train.en", "--output", "system", cwd=folder)
    scores: dict[str, list[float]] = {method: [] for method in TUNED}
    for seed in range(1, arguments.seeds + 1):
        changes = [f"comparison.seeds={seed}", f"run.iterations={arguments.iterations}", f"run.nbest={arguments.nbest}"]
        for method in TUNED:
            name = f"{method}-{seed}" if method in RANDOM else method
            key = f"development.{SETS[method]}"
            changes += [f"{key}.source={name}.de", f"{key}.references={name}.en"]
        run = f"tuned-{seed}"
        began = time.perf_counter()
        command = ["compare", "compare/selection", "--run", run, "--jobs", str(arguments.jobs), "--quiet"]
        for change in changes:
            command += ["--set", change]
        _lasw(*command, cwd=folder)
        table = json.loads((folder / run / "table.json").read_text())
        for row in table["rows"]:
            method = next(method for method, name in SETS.items() if name == row["development"])
            scores[method].append(row["cells"][0]["mean"])
        print(f"seed {seed}: {time.perf_counter() - began:.0f} s", flush=True)
    print(f"\n{'development set':<16}{'test BLEU':>10}{'std':>7}   runs")
    spread = {method: statistics.stdev(values) if len(values) > 1 else 0.0 for method, values in scores.items()}
    means = {method: statistics.mean(values) for method, values in scores.items()}
    for method in TUNED:
        runs = " ".join(f"{value:.2f}" for value in scores[method])
        print(f"{SETS[method]:<16}{means[method]:>10.2f}{spread[method]:>7.2f}   {runs}")
    print(f"LA - (random + std): {means['la'] - means['random'] - spread['random']:+.2f}, wanted at least 0")
    print(f"clean - LA: {means['clean'] - means['la']:+.2f}, wanted at most {GOAL_BEHIND}")


def _write(path: Path, lines: Sequence[str]) -> None:
    if not path.exists():
        write_text(path, "".join(line + "\n" for line in lines))


def _lasw(*words: str, cwd: Path) -> None:
    subprocess.run([*LASW, *words], check=True, cwd=cwd, env=os.environ, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
