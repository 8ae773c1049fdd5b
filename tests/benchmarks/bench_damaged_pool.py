"""Does selection help? Pools with known damage, development sets of equal size from them, and a system tuned on each.

    python tests/benchmarks/bench_damaged_pool.py                          # which damage gets through
    python tests/benchmarks/bench_damaged_pool.py --only la la-added       # with either sign of table 4.1's last row
    python tests/benchmarks/bench_damaged_pool.py --tune --run FOLDER      # and test BLEU; hours

The pool is the part of Multi30k's training text that the system is not trained on, with half of its pairs damaged. A
seed is that of the damage, of what is drawn and of the optimiser: every seed has a pool of its own. The same command
goes on where it was stopped: whatever is in FOLDER is not made again, so a folder is for one setting.

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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lasw.metrics import read_lines, write_text

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from damage import KINDS, DamagedPool, damage

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "multi30k"
SETS = {"random": "random", "length": "length", "la": "LA", "svm": "learned LA", "clean": "clean"}
COUNTED = ("la", "la-added", "la-wide", "svm", "TAR", "tfidf", "edit", "random", "length")
LASW = [sys.executable, "-c", "import sys; from lasw.scripts.main import main; sys.exit(main())"]
SIDES = ("source", "target", "alignment")
GOAL_DAMAGED, GOAL_BEHIND = 5.0, 0.5


def main() -> None:
    """Make, select, count, and tune if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="where everything goes and stays (default: thrown away)")
    parser.add_argument("--only", nargs="+", choices=COUNTED, default=COUNTED, help="these methods instead of all")
    parser.add_argument("--tune", action="store_true", help="also tune a system on each set (of all methods)")
    parser.add_argument("--train", type=int, default=19_000, help="pairs that the system is trained on")
    parser.add_argument("--pool", type=int, default=10_000, help="pairs of the pool, taken from behind these")
    parser.add_argument("--damage", type=float, default=0.5, help="share of damaged pairs")
    parser.add_argument("--wrong-language", choices=("unrelated", "parallel"), default="unrelated")
    parser.add_argument("--words", type=int, default=10_000, help="source words of each set")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--nbest", type=int, default=100)
    parser.add_argument("--test", type=int, default=1000, help="test sentences")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.tune and arguments.only is not COUNTED:
        parser.error("--tune needs all methods: not with --only")
    if not DATA.is_dir():
        print("real data is not beside the checkout (../shared/data)")
        return
    with _folder(arguments.run) as folder:
        _same_setting(folder, arguments)
        pools = {seed: _make(folder / f"seed-{seed}", seed, arguments) for seed in range(1, arguments.seeds + 1)}
        for seed in pools:
            _select(folder / f"seed-{seed}", seed, arguments)
        _count(folder, pools, arguments)
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
    names = ("train", "pool", "damage", "wrong_language", "words", "iterations", "nbest", "test")
    setting = json.dumps({name: getattr(arguments, name) for name in names}) + "\n"
    file = folder / "setting.json"
    if file.exists() and file.read_text() != setting:
        sys.exit(f"{file}: made with other settings; give another --run")
    write_text(file, setting)


def _make(folder: Path, seed: int, arguments: argparse.Namespace) -> DamagedPool:
    """The text and the pool. All text is aligned together, as the system's text is there when one selects."""
    folder.mkdir(exist_ok=True)
    train = [read_lines(DATA / f"train.{end}.gz") for end in ("de", "en")]
    trusted = [read_lines(DATA / f"dev.{end}.gz") for end in ("de", "en")]
    test = [read_lines(DATA / f"test.{end}.gz")[: arguments.test] for end in ("de", "en")]
    first = arguments.train
    held_out = [side[first : first + arguments.pool] for side in train]
    foreign = train[0][:first] if arguments.wrong_language == "unrelated" else ()
    rates = dict.fromkeys(KINDS, arguments.damage / len(KINDS))
    pool = damage(*held_out, rates, seed=seed, foreign=foreign)
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


def _select(folder: Path, seed: int, arguments: argparse.Namespace) -> None:
    pool = ["--source", "pool.de", "--target", "pool.en", "--words", str(arguments.words), "--quiet"]
    aligned = ["--alignment", "pool.align"]
    trusted = [f"--trusted-{side}=trusted.{end}" for side, end in zip(SIDES, ("de", "en", "align"), strict=True)]
    options = {
        "la": aligned,
        "la-added": [*aligned, "--added-sign"],
        "la-wide": [*aligned, "--window", "1000"],
        "TAR": aligned,
        "svm": [*aligned, *trusted],
        "tfidf": ["--test-source", "test.de"],
        "edit": ["--test-source", "test.de"],
        "random": ["--seed", str(seed)],
        "length": ["--seed", str(seed)],
    }
    for name in arguments.only:
        if not (folder / f"{name}.lines").exists():
            _lasw("select", "--method", name.partition("-")[0], *pool, *options[name], "--output", name, cwd=folder)


def _count(folder: Path, pools: Mapping[int, DamagedPool], arguments: argparse.Namespace) -> None:
    """Damaged pairs of each selection; a near duplicate counts beside its original, or always (strict)."""
    share = statistics.mean(sum(map(bool, pool.damage)) / len(pool.source) for pool in pools.values())
    print(f"{len(pools)} pools of {arguments.pool} pairs, {share:.1%} damaged; sets of {arguments.words} words")
    print(f"{'method':<10}{'pairs':>6}{'damaged':>9}{'strict':>8}  by pool; kinds (strict: near duplicates alone too)")
    for name in arguments.only:
        sizes, shares, stricter, kinds = [], [], [], Counter[str]()
        for seed, pool in pools.items():
            lines = [int(line) for line in read_lines(folder / f"seed-{seed}" / f"{name}.lines")]
            counts = pool.damaged(lines)
            kinds += counts
            sizes.append(len(lines))
            shares.append(100 * sum(counts.values()) / max(1, len(lines)))
            stricter.append(100 * sum(bool(pool.damage[line - 1]) for line in lines) / max(1, len(lines)))
        mark = ("  reached" if max(shares) < GOAL_DAMAGED else "  missed") if name == "la" else ""
        each = " ".join(f"{share:.1f}" for share in shares)
        told = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common(4))
        means = (statistics.mean(values) for values in (sizes, shares, stricter))
        print("{:<10}{:>6.0f}{:>8.1f}%{:>7.1f}%".format(name, *means), f" {each}; {told}{mark}")


def _tune(folder: Path, arguments: argparse.Namespace) -> None:
    """A comparison for each seed, in its folder."""
    system = folder / "system"
    if not system.exists():
        _lasw("train", "--source", "train.de", "--target", "train.en", "--output", system, cwd=folder / "seed-1")
    scores: dict[str, dict[str, list[float]]] = {}
    for seed in range(1, arguments.seeds + 1):
        changes = [f"comparison.seeds={seed}", f"run.iterations={arguments.iterations}", f"run.nbest={arguments.nbest}"]
        changes.append(f"decoder.model={system}")
        for method, name in SETS.items():
            changes += [f"development.{name}.source={method}.de", f"development.{name}.references={method}.en"]
        began = time.perf_counter()
        command = ["compare", "compare/selection", "--run", "tuned", "--jobs", str(arguments.jobs), "--quiet"]
        for change in changes:
            command += ["--set", change]
        _lasw(*command, cwd=folder / f"seed-{seed}")
        for row in json.loads((folder / f"seed-{seed}" / "tuned" / "table.json").read_text())["rows"]:
            of_system = scores.setdefault(row["row"].partition(",")[0], {name: [] for name in SETS.values()})
            of_system[row["development"]].append(row["cells"][0]["mean"])
        print(f"seed {seed}: {time.perf_counter() - began:.0f} s", flush=True)
    for system_name, found in scores.items():
        _print_scores(system_name, found)


def _print_scores(system: str, scores: Mapping[str, Sequence[float]]) -> None:
    print(f"\n{system + ' on':<16}{'test BLEU':>10}{'std':>7}   runs")
    spread = {name: statistics.stdev(values) if len(values) > 1 else 0.0 for name, values in scores.items()}
    means = {name: statistics.mean(values) for name, values in scores.items()}
    for name, values in scores.items():
        runs = " ".join(f"{value:.2f}" for value in values)
        print(f"{name:<16}{means[name]:>10.2f}{spread[name]:>7.2f}   {runs}")
    print(f"LA - (random + std): {means['LA'] - means['random'] - spread['random']:+.2f}, wanted at least 0")
    print(f"clean - LA: {means['clean'] - means['LA']:+.2f}, wanted at most {GOAL_BEHIND}")
    print(f"clean - random: {means['clean'] - means['random']:+.2f}, what there is to gain")


def _write(path: Path, lines: Sequence[str]) -> None:
    if not path.exists():
        write_text(path, "".join(line + "\n" for line in lines))


def _lasw(*words: str | Path, cwd: Path) -> None:
    subprocess.run([*LASW, *map(str, words)], check=True, cwd=cwd, env=os.environ, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
