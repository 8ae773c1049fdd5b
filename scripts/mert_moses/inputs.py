"""What a run of lasw-mert-moses reads: the decoder with its moses.ini, the sentences, their references."""

from __future__ import annotations

import re
from pathlib import Path

from lasw.metrics import Preprocessing, References, UserError, read_lines
from lasw.scripts.mert_moses.filter import filtered
from lasw.scripts.mert_moses.settings import Settings
from lasw.tuning import Moses

CONFUSION_NETWORKS = 1


def open_decoder(settings: Settings) -> tuple[Moses, list[str]]:
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
            config = filtered(settings.folder, settings.filter_command, config, settings.filter_source)
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
        scratch=settings.folder,
        transform=settings.transform,
    )
    return decoder, [*remarks, *decoder.remarks]


def _has_models(config: Path, folder: Path) -> bool:
    """Whether the relative paths of models in a moses.ini lead somewhere from a folder."""
    found = [name for line in _text(config).split("\n") for name in re.findall(r"\bpath=(\S+)", line.partition("#")[0])]
    relative = [Path(name) for name in found if not name.startswith("/")]
    return all(any((folder / name).parent.glob(name.name + "*")) for name in relative)


def _text(config: Path) -> str:
    """Of a moses.ini; in which encoding its comments and paths are is Moses' own business."""
    return config.read_text(encoding="utf-8", errors="surrogateescape")


def read_data(settings: Settings) -> tuple[list[str], References, Preprocessing]:
    """The sentences, their references, and what is done to text before it is scored."""
    source = read_lines(settings.source)
    if _input_type(settings) == CONFUSION_NETWORKS:
        source = _networks(source)
    text = Preprocessing(lowercase=settings.lowercase)
    references = References.read(settings.references, preprocess=text.function())
    if len(source) != len(references):
        raise UserError(
            f"{len(source)} sentences",
            path=settings.source,
            expected=f"{len(references)}, as many as {settings.references[0]} has lines",
        )
    return source, references, text


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
