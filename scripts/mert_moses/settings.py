"""From the options of mert-moses.pl to the settings of a run."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lasw.metrics import Preprocessing, UserError
from lasw.scripts.mert_moses.learning import Learning, chosen_learning
from lasw.scripts.mert_moses.options import Given, UsageError
from lasw.tuning import STEPS, Steps

NBEST = 100
ITERATIONS = 25
BPE = "bpe"


@dataclass(frozen=True)
class Settings:
    """A run as a command line wants it.

    Attributes:
        source, references, config: the files.
        decoder: the program.
        folder: the working directory.
        learning: the optimiser.
        metric: of the development score.
        keep: which weights are the result.
        aggregate: lists of so many last iterations; 0: all.
        step, noise: how far an iteration goes, and when there are no more, as of `RunSettings`.
        jobs: processes of the decoder.
        dask: address of a scheduler whose workers decode; then there is one process on each of their threads.
        moses_files: the files that Moses' own tools work on are left too.
        interpolation: share of the new weights from iteration 4 on; 1: the new ones alone.
        text: what is done to text before it is scored.
        force: text that is surely not what it seems is no reason to end.
        remarks: what is worth telling, one line each.
    """

    source: Path
    references: tuple[Path, ...]
    decoder: str
    config: Path
    folder: Path
    learning: Learning
    metric: str
    nbest: int
    iterations: int
    keep: Literal["best", "last"]
    aggregate: int
    step: Steps
    noise: float
    interpolation: float
    earlier_starts: bool
    normalise: bool
    text: Preprocessing
    force: bool
    seed: int
    flags: str
    inputtype: int | None
    jobs: int
    dask: str | None
    transform: str | None
    filtering: bool
    filter_command: str | None
    filter_source: Path
    moses_files: bool
    remarks: tuple[str, ...]


def settings(given: Given) -> Settings:
    """What the options ask for.

    Raises:
        UsageError: values out of their range, options that exclude each other.
        UserError: files that do not exist, arguments of Moses' tools that there are not.
    """
    remarks: list[str] = []
    learning, metric, lowercase, seed = chosen_learning(given, remarks)
    flags, jobs = _parallel(given, remarks)
    nbest, iterations = given.number("nbest", NBEST), given.number("maximum-iterations", ITERATIONS)
    if nbest < 1 or iterations < 0:
        raise UsageError(f"--nbest {nbest} --maximum-iterations {iterations}", expected="at least 1, and at least 0")
    share = float(str(given.values.get("historic-interpolation", 0.0)))
    if not 0 <= share <= 1:
        raise UsageError(f"--historic-interpolation {share:g}", expected="0 to 1")
    previous = given.number("prev-aggregate-nbestlist", -1)
    folder = Path(given.text("working-dir") or "mert-work").absolute()
    source = _file(given, "input")
    filterfile = given.text("filterfile")
    return Settings(
        source=source,
        references=_references(str(given.text("refs"))),
        decoder=_decoder(str(given.text("decoder"))),
        config=_file(given, "config"),
        folder=folder,
        learning=learning,
        metric=metric,
        nbest=nbest,
        iterations=iterations,
        keep="best" if given.flag("return-best-dev") else "last",
        aggregate=0 if previous < 0 else previous + 1,
        step=_step(given),
        noise=_noise(given),
        interpolation=share or 1.0,
        earlier_starts=given.flag("historic-bests"),
        normalise=not given.flag("use-config-weights-for-first-run"),
        text=Preprocessing(
            lowercase=lowercase,
            strip_marks=given.flag("strip-marks"),
            join=given.text("join"),
            unescape=given.flag("unescape"),
        ),
        force=given.flag("force"),
        seed=seed,
        flags=flags,
        inputtype=given.number("inputtype", 0) if "inputtype" in given.values else None,
        jobs=1 if given.text("dask") else jobs,
        dask=given.text("dask"),
        transform=_transform(given.text("transform-decoded-file")),
        filtering=given.flag("filter-phrase-table", True),
        filter_command=_filter_command(given),
        filter_source=_existing(filterfile, "filterfile") if filterfile else source,
        moses_files=given.flag("moses-files"),
        remarks=tuple(remarks),
    )


def _step(given: Given) -> Steps:
    """Mert-moses.pl's own methods go all the way, as there; methods that it does not have let the decoder judge."""
    if given.text("step") and given.values.get("historic-interpolation"):
        raise UsageError("--step and --historic-interpolation", expected="one of the two")
    name = given.text("step") or ("trust" if given.text("optimiser") else "whole")
    for step in STEPS:
        if step == name:
            return step
    raise UsageError(f"--step {name}", expected=", ".join(STEPS))


def _noise(given: Given) -> float:
    noise = float(str(given.values.get("noise", 0.0)))
    if noise < 0:
        raise UsageError(f"--noise {noise:g}", expected="at least 0")
    return noise


def _parallel(given: Given, remarks: list[str]) -> tuple[str, int]:
    """The decoder's options, and how many processes there are of it."""
    flags, processors = given.text("decoder-flags") or "", os.cpu_count() or 1
    if given.flag("multi-moses"):
        found = re.search(r"(?:^|\s)--?(?:threads|th)\s+(\S+)", flags)
        processes, threads, extra = _instances(found[1] if found else "1", processors)
        if found:
            flags = (flags[: found.start()] + " " + flags[found.end() :]).strip()
        return f"{flags} -threads {threads}".strip(), processes + (1 if extra else 0)
    asked = max(1, given.number("jobs", 1))
    if given.text("dask"):
        remarks.extend(["--jobs has no effect: the workers of --dask decode"] if asked > 1 else [])
    elif asked > processors:
        remarks.append(f"--jobs {asked}: {processors} processes, one per processor of this machine")
    return flags, min(asked, processors)


def _instances(text: str, processors: int) -> tuple[int, int, int]:
    """P:T:E of multi_moses.py: processes, threads of each, threads of one more."""
    parts = text.split(":")
    if text == "all":
        return processors, 1, 0
    if len(parts) > 3 or not all(part.isdecimal() for part in parts) or int(parts[0]) < 1:
        raise UserError(f"--decoder-flags with -threads {text}", expected="P, P:T or P:T:E with --multi-moses")
    numbers = [*map(int, parts), *[1, 1, 0][len(parts) :]]
    return numbers[0], max(1, numbers[1]), numbers[2]


def _file(given: Given, name: str) -> Path:
    return _existing(str(given.text(name)), name)


def _existing(text: str, name: str) -> Path:
    path = Path(text).absolute()
    if not path.exists():
        raise UserError(f"no such file ({name})", path=path)
    return path


def _references(text: str) -> tuple[Path, ...]:
    """The file, or REFS0, REFS1, ..., or REFS.ref0, REFS.ref1, ..."""
    whole_path = Path(text).absolute()
    if whole_path.exists():
        return (whole_path,)
    for stem in (str(whole_path), f"{whole_path}.ref"):
        found: list[Path] = []
        while Path(f"{stem}{len(found)}").exists():
            found.append(Path(f"{stem}{len(found)}"))
        if found:
            return tuple(found)
    raise UserError("no such file (refs)", path=whole_path, expected="a file, or files NAME0, NAME1, ...")


def _decoder(text: str) -> str:
    """The program as a command: by its path if there is such a file, else as it is, to be found on PATH."""
    path = Path(text).absolute()
    return shlex.quote(str(path) if path.exists() or "/" in text else text)


def _transform(text: str | None) -> str | None:
    """Of --transform-decoded-file: a file or a text with spaces is a command, any other word means subwords."""
    if not text:
        return None
    return text if os.path.exists(text) or " " in text else BPE


def _filter_command(given: Given) -> str | None:
    given_command = given.text("filtercmd")
    if given_command:
        return given_command
    root = given.text("rootdir") or os.environ.get("SCRIPTS_ROOTDIR")
    path = Path(root or "") / "training" / "filter-model-given-input.pl"
    return shlex.quote(str(path.absolute())) if root and os.access(path, os.X_OK) else None
