"""What a run of lasw-mert-moses reads: the decoder with its moses.ini, the sentences, their references."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lasw.metrics import Metric, References, UserError, command_words, metric, read_lines
from lasw.scripts.mert_moses.learning import check, optimiser_for
from lasw.scripts.mert_moses.settings import BPE, Settings
from lasw.tuning import Moses, Optimiser, Weights, last_lines, refuse_program

CONFUSION_NETWORKS = 1
_FILTERED = "filtered"
_UNFINISHED = "filtered.unfinished"


@dataclass(frozen=True)
class Inputs:
    """What a run is made of, read and checked.

    Attributes:
        source: the sentences.
        references: theirs.
        decoder: its phrase tables filtered if that is asked for.
        start: the weights of the first decoding.
        optimiser: makes one for a seed.
        metric: of the development score.
    """

    source: list[str]
    references: References
    decoder: Moses
    start: Weights
    optimiser: Callable[[int], Optimiser]
    metric: Metric


def open_inputs(settings: Settings, tell: Callable[[str], None]) -> Inputs:
    """All that a run is made of; `tell` is told what is worth it.

    Raises:
        UserError: files that cannot be read or do not fit together, features or settings that there are not, a filter
            that failed.
    """
    check(settings.learning)  # what can be wrong with it is better said before anything is filtered or decoded
    refuse_program(settings.config)
    development = metric(settings.metric)
    source, references = _read_data(settings)
    try:
        settings.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the working directory cannot be made ({error.strerror})", path=settings.folder) from None
    decoder, remarks = _open_decoder(settings)
    for remark in remarks:
        tell(remark)
    start = _start(decoder.start_weights(), settings.normalise)
    optimiser = optimiser_for(settings.learning, start.names)
    return Inputs(source, references, decoder, start, optimiser, development)


def _start(weights: Weights, normalise: bool) -> Weights:
    """The weights of the first decoding: divided by the absolute sum of the dense ones, as mert-moses.pl does."""
    total = float(np.abs(weights.dense).sum())
    if not normalise or total == 0:
        return weights
    return Weights(weights.names, weights.dense / total, {name: v / total for name, v in weights.sparse.items()})


def _open_decoder(settings: Settings) -> tuple[Moses, list[str]]:
    """The decoder, its phrase tables filtered if that is asked for, and what is worth telling.

    Raises:
        UserError: files that are no program or no moses.ini, features that do not fit, a filter that failed.
    """
    remarks: list[str] = []
    config = settings.config
    if settings.filtering:
        if settings.filter_command is None:
            remarks.append(
                "phrase tables are not filtered: no --filtercmd, and no filter-model-given-input.pl below --rootdir"
            )
        else:
            config = _filtered(settings.folder, settings.filter_command, config, settings.filter_source)
    folder = settings.folder
    if not _has_models(config, folder) and _has_models(config, Path.cwd()):
        remarks.append(f"relative paths in {config.name} count from {Path.cwd()}, where their files are")
        folder = Path.cwd()
    decoder = Moses(
        config,
        moses=settings.decoder,
        flags=settings.flags,
        inputtype=settings.inputtype,
        jobs=settings.jobs,
        folder=folder,
        scratch=None if settings.dask else settings.folder,  # locks tell whose it is, and cross no network
        transform=_shell(settings.transform),
    )
    return decoder, [*remarks, *decoder.remarks]


def _shell(transform: str | None) -> str | None:
    """The command that lists go through: a line for the shell, as mert-moses.pl takes it."""
    return transform if transform in (None, BPE) else shlex.join(["sh", "-c", transform])


def _has_models(config: Path, folder: Path) -> bool:
    """Whether the relative paths of models in a moses.ini lead somewhere from a folder."""
    found = [name for line in _text(config).split("\n") for name in re.findall(r"\bpath=(\S+)", line.partition("#")[0])]
    relative = [Path(name) for name in found if not name.startswith("/")]
    return all(any((folder / name).parent.glob(name.name + "*")) for name in relative)


def _text(config: Path) -> str:
    """Of a moses.ini; in which encoding its comments and paths are is Moses' own business."""
    return config.read_text(encoding="utf-8", errors="surrogateescape")


def _read_data(settings: Settings) -> tuple[list[str], References]:
    """The sentences and their references."""
    source = read_lines(settings.source)
    if _input_type(settings) == CONFUSION_NETWORKS:
        source = _networks(source)
    references = References.read(settings.references, preprocess=settings.text.function())
    if len(source) != len(references):
        raise UserError(
            f"{len(source)} sentences",
            path=settings.source,
            expected=f"{len(references)}, as many as {settings.references[0]} has lines",
        )
    return source, references


def _input_type(settings: Settings) -> int:
    """What the option, the decoder's own options or the moses.ini say, in this order."""
    if settings.inputtype is not None:
        return settings.inputtype
    given = re.findall(r"(?:^|\s)--?inputtype\s+(\d+)", settings.flags)
    said = re.findall(r"^\s*\[inputtype\]\s*\n\s*(\d+)", _text(settings.config), re.MULTILINE)
    return int([*given, *said, "0"][0])


def _networks(lines: list[str]) -> list[str]:
    """Confusion networks: a blank line ends each, and stays with it."""
    networks: list[str] = []
    current: list[str] = []
    for line in lines:
        if line.strip():
            current.append(line + "\n")
        else:
            networks.append("".join(current))
            current = []
    return [*networks, "".join(current)] if current else networks


def _filtered(folder: Path, command: str, config: Path, source: Path) -> Path:
    """The moses.ini of the filtered model, made unless it is there.

    Args:
        folder: the working directory.
        command: the program and its first options; it gets the new folder, the moses.ini and the input.
        config: the moses.ini of the whole model.
        source: what will be translated.

    Raises:
        UserError: the program cannot be run, failed, or left no moses.ini.
    """
    made, unfinished = folder / _FILTERED / "moses.ini", folder / _UNFINISHED
    if made.exists() and not unfinished.exists():
        return made
    if unfinished.exists():
        shutil.rmtree(folder / _FILTERED, ignore_errors=True)
    unfinished.touch()
    log = folder / "filterphrases.err"
    words = [*command_words(command, "--filtercmd"), f"./{_FILTERED}", str(config), str(source)]
    try:
        with open(folder / "filterphrases.out", "wb") as out, open(log, "wb") as errors:
            code = subprocess.run(words, cwd=folder, stdout=out, stderr=errors, check=False).returncode
    except OSError as error:
        raise UserError(
            f"{words[0]} cannot be run ({error.strerror})",
            remedy="give --filtercmd, or --no-filter-phrase-table if there is nothing to filter",
        ) from None
    if code or not made.exists():
        what = f"ended with code {code}" if code else f"left no {_FILTERED}/moses.ini"
        raise UserError(
            f"{words[0]} {what}; its last lines: {last_lines(log)}",
            remedy="--no-filter-phrase-table goes on without it",
        )
    unfinished.unlink()
    return made
