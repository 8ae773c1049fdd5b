"""From the options of mert-moses.pl to the settings of a run."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lasw.metrics import UserError
from lasw.scripts.command_line import single_assignments
from lasw.scripts.mert_moses.arguments import MERT, MIRA, PRO, read_arguments, whole
from lasw.scripts.mert_moses.metric import BLEU, read_config, specification
from lasw.scripts.mert_moses.options import Given, UsageError
from lasw.tuning import DEFAULT_SEED

NBEST = 100
ITERATIONS = 25
MANY_DIRECTIONS = 50  # what --random-directions means there
BPE = "bpe"
_OPTIMISERS = {"batch-mira": "mira", "pairwise-ranked": "pro"}
_MERT_ONLY = ("historic-bests", "random-directions", "number-of-random-directions", "random-restarts")
_ALSO_MERT_ONLY = ("activate-features", "range")


@dataclass(frozen=True)
class Learning:
    """The optimiser and what it is told.

    Attributes:
        name: of the optimiser.
        options: its hyper-parameters as text.
        loss: a metric's specification; None: the optimiser's own default.
        pro_first: PRO gives MERT another point to start from.
        ranges: of single features, as given.
        active: features to tune, as given.
    """

    name: str
    options: Mapping[str, str]
    loss: str | None
    pro_first: bool = False
    ranges: tuple[str, ...] = ()
    active: str = ""


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
        interpolation: share of the new weights from iteration 4 on; 1: the new ones alone.
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
    interpolation: float
    earlier_starts: bool
    normalise: bool
    lowercase: bool
    seed: int
    flags: str
    inputtype: int | None
    jobs: int
    transform: str | None
    filtering: bool
    filter_command: str | None
    filter_source: Path
    remarks: tuple[str, ...]


def settings(given: Given) -> Settings:
    """What the options ask for.

    Raises:
        UsageError: values out of their range, options that exclude each other.
        UserError: files that do not exist, arguments of Moses' tools that there are not.
    """
    remarks: list[str] = []
    learning, metric, lowercase, seed = _learning(given, remarks)
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
        interpolation=share or 1.0,
        earlier_starts=given.flag("historic-bests"),
        normalise=not given.flag("use-config-weights-for-first-run"),
        lowercase=lowercase,
        seed=seed,
        flags=flags,
        inputtype=given.number("inputtype", 0) if "inputtype" in given.values else None,
        jobs=jobs,
        transform=_transform(given.text("transform-decoded-file")),
        filtering=given.flag("filter-phrase-table", True),
        filter_command=_filter_command(given),
        filter_source=_existing(filterfile, "filterfile") if filterfile else source,
        remarks=tuple(remarks),
    )


def _learning(given: Given, remarks: list[str]) -> tuple[Learning, str, bool, int]:
    """The optimiser, the metric of the development score, whether text is lower-cased, the seed."""
    name = _optimiser(given)
    told, options = _told(given, name, remarks)
    config = {**read_config(told.pop("scconfig", "")), **_reference_length(given)}
    sctype = told.pop("sctype", BLEU)
    metric, said = specification(sctype, config)
    remarks += said
    seed = given.number("seed", whole("seed", told.pop("seed", str(DEFAULT_SEED))))
    if seed < 0:
        raise UsageError(f"--seed {seed}", expected="at least 0")
    if given.text("metric") and given.text("loss"):
        raise UsageError("--metric and --loss", expected="one of the two, they are the same")
    wanted = given.text("metric") or given.text("loss")
    mine = given.text("optimiser") is not None
    loss = wanted or (None if mine and metric == BLEU else _loss(name, metric, told.pop("smooth_bp", None)))
    options.update(single_assignments("--option", given.texts("option")))
    learning = Learning(
        name,
        options,
        loss,
        given.flag("pro-starting-point"),
        tuple(given.texts("range")),
        given.text("activate-features") or told.pop("active", ""),
    )
    return learning, metric, given.flag("nocase") or config.get("case") == "false", seed


def _optimiser(given: Given) -> str:
    chosen = [option for option in (*_OPTIMISERS, "pro-starting-point", "optimiser") if given.values.get(option)]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]}", expected="one optimiser")
    return given.text("optimiser") or next((_OPTIMISERS[one] for one in chosen if one in _OPTIMISERS), "mert")


def _told(given: Given, name: str, remarks: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What the arguments for Moses' tools say, and the optimiser's hyper-parameters among them."""
    told: dict[str, str] = {}
    for option, known in (("batch-mira-args", MIRA), ("mertargs", MERT), ("mertmertargs", MERT), ("proargs", PRO)):
        text = given.text(option)
        if text:
            told.update(read_arguments(f"--{option}", text, known))
    options: dict[str, str] = {}
    no_shuffle = told.pop("no_shuffle", None)
    of_mira: dict[str, str] = {
        key: told.pop(key) for key in ("c", "decay", "passes", "model_bg", "safe_hope") if key in told
    }
    if no_shuffle:
        of_mira["shuffle"] = "false"
    of_mert = _of_mert(given, told)
    if name == "mira":
        options = of_mira
    elif name == "mert":
        options = of_mert
    if name != "mert":
        useless = [one for one in (*_MERT_ONLY, *_ALSO_MERT_ONLY) if given.values.get(one)]
        remarks += [f"--{one} has no effect: only MERT knows it" for one in useless]
    return told, options


def _of_mert(given: Given, told: dict[str, str]) -> dict[str, str]:
    """MERT's hyper-parameters: the script's own options count before the arguments."""
    options: dict[str, str] = {key: told.pop(key) for key in ("restarts", "random_directions") if key in told}
    kind = told.pop("type", "powell")
    if kind not in ("powell", "random-direction", "random"):
        raise UserError(f"--mertargs -t {kind}", expected="powell, random-direction, random")
    if given.flag("random-directions") or kind != "powell":
        options.setdefault("random_directions", str(MANY_DIRECTIONS))
    if given.values.get("number-of-random-directions"):
        options["random_directions"] = str(given.number("number-of-random-directions", 0))
    if "random-restarts" in given.values:
        options["restarts"] = str(given.number("random-restarts", 0))
    return options


def _loss(name: str, metric: str, smooth_bp: str | None) -> str:
    """What the optimiser maximises for a metric of a corpus."""
    if name != "pro" or metric.partition(":")[0] != BLEU:
        return metric
    sentence = metric.replace(BLEU, "BLEU+1", 1)
    return f"{sentence}:bp=reference" if smooth_bp else sentence


def _reference_length(given: Given) -> dict[str, str]:
    chosen = [length for length in ("shortest", "average", "closest") if given.flag(length)]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]}", expected="one reference length")
    return {"reflen": chosen[0]} if chosen else {}


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
    if asked > processors:
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
