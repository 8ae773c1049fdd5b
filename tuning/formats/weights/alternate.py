"""Moses with other weights for every sentence: a moses.ini with several settings, and input that names them.

    [alternate-weight-setting]
    id=0
    LM0= 0.5                            <seg weight-setting="0">ein Bus</seg>
    TM0= 0.2 0.2

A setting starts from nothing: what it does not list has weight 0, so every line of ``[weight]`` is in each. Moses
lowers the case of what stands in a tag, so ids are numbers. A sentence without a tag is translated with ``[weight]``.
Moses refuses settings beside several threads.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from lasw.metrics import UserError, atomic_write, write_text
from lasw.tuning.formats.weights.lines import Path
from lasw.tuning.formats.weights.moses_ini import read as read_ini
from lasw.tuning.formats.weights.moses_ini import rewritten_lines
from lasw.tuning.weights import Weights

_END = "</seg>"


def write_settings(template: Path, path: Path, settings: Sequence[Weights]) -> None:
    """Write `template`, a moses.ini, to `path` with one setting for each of `settings`, numbered from 0.

    ``[weight]`` gets the first one. Groups that the weights do not have (untuneable ones) are in every setting as in
    the template. Sparse weights of setting k go to ``PATH.k.sparse-weights``.

    Raises:
        UserError: an old moses.ini (no ``[weight]``), one that has such settings already, a group that it does not
            declare, or of which it has another number of components.
        ValueError: no settings.
    """
    if not settings:
        raise ValueError("no settings")
    lines, end = rewritten_lines(template, settings[0])
    if any(line.strip() == "[alternate-weight-setting]" for line in lines):
        raise UserError("has alternate weight settings already", path=template, remedy="delete that section")
    said = read_ini(lines, template, read_sparse=False)
    if not any(line.strip() == "[weight]" for line in lines):
        raise UserError("an old moses.ini", path=template, expected="a section [weight]")
    added = [end, f"[alternate-weight-setting]{end}"]
    for number, weights in enumerate(settings):
        sparse = ""
        if weights.sparse:
            name = f"{os.path.abspath(os.fspath(path))}.{number}.sparse-weights"
            write_text(name, "".join(f"{key} {value!r}\n" for key, value in sorted(weights.sparse.items())))
            sparse = f" weight-file={name}"
        added.append(f"id={number}{sparse}{end}")
        for group, values in {**said.by_group(), **weights.by_group()}.items():
            added.append(f"{group}= {' '.join(map(repr, values))}{end}")
    last = [lines[-1] + end] if lines[-1] else []
    lines[-1:] = [*last, *added, ""]
    with atomic_write(path) as out:
        out.write("\n".join(lines).encode("utf-8", errors="surrogateescape"))


def marked(source: Sequence[str]) -> list[str]:
    """The sentences with the tag that names setting k for sentence k; blank ones stay as they are.

    Raises:
        UserError: a sentence that holds the tag's end.
    """
    lines = []
    for number, line in enumerate(source):
        if _END in line.lower():
            raise UserError(f"sentence {number + 1} holds {_END!r}", expected="text, as the tag names its weights")
        lines.append(f'<seg weight-setting="{number}">{line}{_END}' if line.strip() else line)
    return lines
