"""A program with Moses' command line that translates with what is recorded: the best under the weights it is given.

It is no decoder: `system` writes a pool of candidates (sentence -> text, dense values, sparse values) beside a script
that runs `main`. The environment variable STAND_IN, a list `KNOB=VALUE,...`, makes it fail:

    crash=K       dies (SIGSEGV) at sentence K (1-based) of the whole source
    fewer=K       stops behind sentence K and says nothing of it
    rename=A:B    prints the feature A as B
    extra=NAME    prints one feature more
    old           does not know -show-weights and prints `d: 0 lm: -47`
    mute          knows -show-weights but prints nothing for it
    sleep=S       seconds for every sentence
    ignore        takes no notice of the weights
    silent=K      has no translation of sentence K
    loads=FILE    adds a line to FILE when it has loaded its models
    child=FILE    starts a process that sleeps, and writes its number to FILE
"""

from __future__ import annotations

import os
import pickle
import signal
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Candidate = tuple[str, list[float], dict[str, float]]

SCRIPT = """#!{python} -SE
import sys
sys.path.insert(0, {tests!r})
from stand_in_moses import main
sys.exit(main({pool!r}, sys.argv[1:]))
"""


def system(
    folder: Path, candidates: Mapping[str, Sequence[Candidate]], groups: Mapping[str, int], sparse: Sequence[str] = ()
) -> Path:
    """Write the program and its pool; the path of the program.

    Args:
        folder: where to.
        candidates: of every source sentence.
        groups: number of components of every dense feature function, in the order of the lists.
        sparse: feature functions that have sparse features only.
    """
    pool = folder / "stand-in.pool"
    pool.write_bytes(pickle.dumps((dict(candidates), dict(groups), tuple(sparse))))
    program = folder / "moses"
    program.write_text(
        SCRIPT.format(python=sys.executable, tests=str(Path(__file__).parent), pool=str(pool)), encoding="utf-8"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def main(pool_path: str, arguments: Sequence[str]) -> int:
    knobs = dict(part.partition("=")[::2] for part in os.environ.get("STAND_IN", "").split(",") if part)
    given = parsed(arguments)
    for name in given:
        if name not in KNOWN or ("old" in knobs and name == "show-weights"):
            said = "".join(f"\t{one}: {' '.join(values)} \n" for one, values in sorted(given.items()))
            print(f"Defined parameters (per moses.ini or switch):\n{said}illegal switch: -{name}", file=sys.stderr)
            return 1
    with open(pool_path, "rb") as stream:
        candidates, groups, sparse = pickle.load(stream)
    weights, sparse_weights, problem = read_ini(given["config"][0], groups, sparse)
    if problem:
        print(problem, file=sys.stderr)
        return 1
    if "show-weights" in given:
        if "mute" not in knobs:
            show(weights, sparse)
        return 0
    if "loads" in knobs:
        with open(knobs["loads"], "a", encoding="utf-8") as loads:
            loads.write("loaded\n")
    if "child" in knobs:
        import subprocess  # takes a third of the start

        child = subprocess.Popen(["sleep", "60"])
        Path(knobs["child"]).write_text(str(child.pid))
    if given.get("weight-overwrite"):
        overwrite(weights, given["weight-overwrite"][0])
    decode(given, knobs, candidates, groups, weights, sparse_weights)
    return 0


KNOWN = {
    "config", "input-file", "inputtype", "n-best-list", "weight-overwrite", "weight-file", "threads", "show-weights",
    "verbose", "v", "cube-pruning-pop-limit", "search-algorithm", "stack", "drop-unknown", "th",
}  # fmt: skip
SHORT = {"f": "config", "i": "input-file", "wf": "weight-file", "th": "threads"}


def parsed(arguments: Sequence[str]) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for word in arguments:
        if word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            name = word.lstrip("-")
            given[SHORT.get(name, name)] = last = []
        else:
            last.append(word)
    return given


def read_ini(
    path: str, groups: Mapping[str, int], sparse: Sequence[str]
) -> tuple[dict[str, list[float]], dict[str, float], str]:
    sections: dict[str, list[str]] = {}
    section = ""
    for line in Path(path).read_text(encoding="utf-8", errors="surrogateescape").split("\n"):
        said = line.partition("#")[0].strip()
        if said.startswith("["):
            section = said[1:-1]
        elif said:
            sections.setdefault(section, []).append(said)
    weights: dict[str, list[float]] = {}
    for line in sections.get("weight", []):
        name, _, values = line.partition("=")
        weights[name] = [float(value) for value in values.split()]
    for old, name in (("weight-d", "d"), ("weight-l", "lm"), ("weight-t", "tm"), ("weight-w", "w")):
        if old in sections:
            weights[name] = [float(value) for value in sections[old]]
    for name, values in weights.items():
        if name not in groups and name not in sparse and not name.startswith("UnknownWordPenalty"):
            return {}, {}, f"The following weights have no feature function. Maybe incorrectly spelt weights: {name},"
        if name in groups and len(values) != groups[name]:
            found = f"(features: {groups[name]} vs. weights: {len(values)})"
            blame = f"Mismatch in number of features and number of weights for Feature Function {name} {found}"
            return {}, {}, f"line=KENLM name={name}\nException: moses/FF/Factory.cpp:189\nFATAL ERROR: {blame}"
    weights = {name: weights.get(name, [1.0] * size) for name, size in groups.items()}
    sparse_weights = {}
    for file in sections.get("weight-file", []):
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            name, value = line.split()
            sparse_weights[name] = float(value)
    return weights, sparse_weights, ""


def overwrite(weights: dict[str, list[float]], text: str) -> None:
    name = ""
    for word in text.split():
        if word.endswith("="):
            name, position = word[:-1], 0
        else:
            weights[name][position] = weights[name][position] if word == "x" else float(word)
            position += 1


def show(weights: Mapping[str, Sequence[float]], sparse: Sequence[str]) -> None:
    for name, values in weights.items():
        print(f"{name}= {' '.join(f'{value:.6f}' for value in values)}")
    for name in sparse:
        print(f"{name}=")
    print("UnknownWordPenalty0 UNTUNEABLE")


def decode(
    given: Mapping[str, list[str]],
    knobs: Mapping[str, str],
    candidates: Mapping[str, Sequence[Candidate]],
    groups: Mapping[str, int],
    weights: Mapping[str, Sequence[float]],
    sparse_weights: Mapping[str, float],
) -> None:
    vector = [value for name in groups for value in weights[name]]
    if "ignore" in knobs:
        vector, sparse_weights = [1.0] * len(vector), {}
    numbers = {sentence: k for k, sentence in enumerate(candidates, 1)}
    path, n, *rest = given["n-best-list"]
    separator = "\n\n" if given.get("inputtype") == ["1"] else "\n"
    with (
        open(path, "w", encoding="utf-8") as nbest,
        open(given["input-file"][0], encoding="utf-8") as source,
    ):
        # As Moses reads a file that still grows: sentence by sentence.
        sentences = source if separator == "\n" else source.read().removesuffix(separator).split(separator)
        for k, sentence in enumerate(sentences):
            number = numbers.get(sentence.strip(), 0)
            if knobs.get("crash") == str(number):
                print(f"about to translate {sentence}", file=sys.stderr, flush=True)
                nbest.flush()
                os.kill(os.getpid(), signal.SIGSEGV)
            if "sleep" in knobs:
                time.sleep(float(knobs["sleep"]))
            best: list[tuple[float, Candidate]] = []
            if sentence.strip() and knobs.get("silent") != str(number):
                found = candidates[sentence.strip()]
                scored = [(score(one, vector, sparse_weights), one) for one in found]
                best = sorted(scored, key=lambda pair: -pair[0])
            elif not sentence.strip():
                best = [(0.0, ("", [0.0] * len(vector), {}))]
            print(best[0][1][0] if best else "", flush=True)
            write(nbest, k, best, int(n), "distinct" in rest, groups, knobs)
            nbest.flush()
            if knobs.get("fewer") == str(number):
                return


def score(candidate: Candidate, vector: Sequence[float], sparse_weights: Mapping[str, float]) -> float:
    dense = sum(w * h for w, h in zip(vector, candidate[1], strict=True))
    return dense + sum(sparse_weights.get(name, 0.0) * value for name, value in candidate[2].items())


def write(
    nbest: Any,
    k: int,
    best: Sequence[tuple[float, Candidate]],
    n: int,
    distinct: bool,
    groups: Mapping[str, int],
    knobs: Mapping[str, str],
) -> None:
    old, _, new = knobs.get("rename", "").partition(":")
    mark = ":" if "old" in knobs else "="
    seen: set[str] = set()
    for total, (text, dense, sparse) in best:
        if len(seen) == n:
            return
        if distinct and text in seen:
            continue
        seen.add(text if distinct else str(len(seen)))
        words, start = [], 0
        for name, size in groups.items():
            values = " ".join(f"{value:g}" for value in dense[start : start + size])
            words.append(f"{new if name == old else name}{mark} {values}")
            start += size
        if "extra" in knobs:
            words.append(f"{knobs['extra']}= 1")
        words += [f"{name}= {value:g}" for name, value in sparse.items()]
        tokens = "".join(word + " " for word in text.split())
        nbest.write(f"{k} ||| {tokens} ||| {' '.join(words)} ||| {total:g}\n")
