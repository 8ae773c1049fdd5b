"""Filtering of phrase tables before the first decoding, by the program that Moses has for it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

from lasw.metrics import UserError
from lasw.tuning import last_lines

FOLDER = "filtered"
_UNFINISHED = "filtered.unfinished"


def filtered(folder: Path, command: str, config: Path, source: Path) -> Path:
    """The moses.ini of the filtered model, made unless it is there.

    Args:
        folder: the working directory.
        command: the program and its first options; it gets the new folder, the moses.ini and the input.
        config: the moses.ini of the whole model.
        source: what will be translated.

    Raises:
        UserError: the program cannot be run, failed, or left no moses.ini.
    """
    made, unfinished = folder / FOLDER / "moses.ini", folder / _UNFINISHED
    if made.exists() and not unfinished.exists():
        return made
    if unfinished.exists():
        shutil.rmtree(folder / FOLDER, ignore_errors=True)
    unfinished.touch()
    log = folder / "filterphrases.err"
    words = [*shlex.split(command), f"./{FOLDER}", str(config), str(source)]
    try:
        with open(folder / "filterphrases.out", "wb") as out, open(log, "wb") as errors:
            code = subprocess.run(words, cwd=folder, stdout=out, stderr=errors, check=False).returncode
    except OSError as error:
        raise UserError(
            f"{words[0]} cannot be run ({error.strerror})",
            remedy="give --filtercmd, or --no-filter-phrase-table if there is nothing to filter",
        ) from None
    if code or not made.exists():
        what = f"ended with code {code}" if code else f"left no {FOLDER}/moses.ini"
        raise UserError(
            f"{words[0]} {what}; its last lines: {last_lines(log)}",
            remedy="--no-filter-phrase-table goes on without it",
        )
    unfinished.unlink()
    return made
