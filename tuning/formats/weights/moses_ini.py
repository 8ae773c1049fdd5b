"""The weights in a moses.ini, read and replaced; everything else in it stays as it is, byte for byte.

New style: a section ``[weight]`` with lines ``LM0= 0.5`` and, for sparse features, a section ``[weight-file]`` that
names a file of ``NAME v`` lines. Old style: sections ``[weight-d]``, ``[weight-l]``, ... with one number a line; their
groups carry the labels that old N-best lists print (``d``, ``lm``, ``tm``, ``w``). As in Moses, ``#`` starts a comment
anywhere in a line.
"""

from __future__ import annotations

import codecs
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lasw.metrics import UserError, atomic_write, read_bytes, write_text
from lasw.tuning.formats.weights.base import FilePath, WeightFormat, number, second_weight
from lasw.tuning.formats.weights.lines import group_text, sparse_text
from lasw.tuning.formats.weights.old_style import OLD_LABELS, OLD_SECTIONS, old_values
from lasw.tuning.weights import Weights

_SECTION = re.compile(r"\[([A-Za-z][A-Za-z0-9-]*)\]")
_WEIGHT = re.compile(r"([^\s=]+)\s*=?\s*(.*)")
# What Moses' training writes above its weights, which is no longer true of these.
_UNTUNED = re.compile(r"\s*#.*(NOT optimized for translation quality|Documentation for tuning is here)")
_SETTINGS = "[alternate-weight-setting]"
_END_OF_TAG = "</seg>"


class MosesIni(WeightFormat):
    """A moses.ini: to be written, one is needed whose other lines stay."""

    usual_name = "moses.ini"
    needs_template = True

    def fits(self, lines: Sequence[str]) -> float:
        """Infinity if the first line that says something opens a section."""
        first = next(filter(None, map(_stripped, lines)), "")
        return math.inf if _SECTION.fullmatch(first) else 0

    def read(self, lines: Sequence[str], path: FilePath) -> Weights:
        """See `WeightFormat`.

        Raises:
            UserError: also new and old sections together.
        """
        layout = _layout(lines, path)
        groups: dict[str, list[float]] = {}
        for name, k in layout.groups.items():
            values = _weight_line(lines[k], path, k)[1].split()
            if values:
                groups[name] = [number(value, path=path, line=k + 1, name=name) for value in values]
        for label, places in layout.old.items():
            groups[label] = [number(_stripped(lines[k]), path=path, line=k + 1, name=label) for k in places]
        return Weights.from_groups(groups)

    def sparse_file(self, lines: Sequence[str], path: FilePath) -> FilePath | None:
        """What ``[weight-file]`` names: from the working directory, as in Moses, else from the folder of the file."""
        layout = _layout(lines, path)
        if layout.sparse < 0:
            return None
        name = _stripped(lines[layout.sparse])
        beside = os.path.join(os.path.dirname(os.fspath(path)), name)
        return beside if not os.path.exists(name) and os.path.exists(beside) else name

    def check(self, path: FilePath, weights: Weights | None, template: FilePath | None) -> None:
        """See `WeightFormat`."""
        check_moses_ini(_given(template, path), weights)

    def write(self, path: FilePath, weights: Weights, comment: Sequence[str], template: FilePath | None) -> None:
        """See `WeightFormat`."""
        rewrite_moses_ini(_given(template, path), path, weights, comment)


@dataclass
class _Layout:
    """Where the weights of a moses.ini stand, as 0-based line numbers."""

    groups: dict[str, int] = field(default_factory=dict)  # [weight]: the line of each group
    old: dict[str, list[int]] = field(default_factory=dict)  # label: the lines of its numbers
    last: int = -1  # the last line of [weight] that says something
    sparse: int = -1  # the line that names the file of sparse weights
    declared: set[str] = field(default_factory=set)  # feature functions of [feature]


def rewrite_moses_ini(template: FilePath, path: FilePath, weights: Weights, comment: Sequence[str] = ()) -> None:
    """Write `template`, a moses.ini, to `path` with these weights in it and `comment` on top.

    Groups that `weights` does not have (untuneable ones) keep their lines. A group of `weights` that has no line yet
    gets one if ``[feature]`` declares it. Sparse weights go to ``PATH.sparse-weights``, which ``[weight-file]`` then
    names. The comment that the weights are not tuned yet goes. A byte order mark is dropped.

    Raises:
        UserError: a group that the template does not declare, or of which it has another number of components.
    """
    lines, layout, end = _rewritten(template, weights)
    if weights.sparse:
        sparse_path = _write_sparse(weights, path)
        if layout.sparse >= 0:
            lines[layout.sparse] = _with_text(lines[layout.sparse], sparse_path)
        else:
            _append(lines, [end, "[weight-file]" + end, sparse_path + end], end)
    kept = (line for line in lines if not _UNTUNED.match(line))
    _write(path, "".join(f"# {text}{end}\n" for text in comment) + "\n".join(kept))


def check_moses_ini(template: FilePath, weights: Weights | None = None) -> None:
    """Make sure that `rewrite_moses_ini` has a moses.ini to work on, and with `weights` that it has places for those.

    Raises:
        UserError: it cannot be read, is something else, or as `rewrite_moses_ini`.
    """
    if not MosesIni().fits(template_lines(template)):
        raise UserError("no moses.ini", path=template, expected="sections as [feature] and [weight]")
    if weights is not None:
        _rewritten(template, weights)


def _given(template: FilePath | None, path: FilePath) -> FilePath:
    if template is None:
        raise UserError(
            "no moses.ini to take the other settings from", path=path, remedy="give one, or write weights as JSON"
        )
    return template


def _rewritten(template: FilePath, weights: Weights) -> tuple[list[str], _Layout, str]:
    """The lines of `template` with the dense `weights` in them, where they stood, and what stands before LF."""
    lines = template_lines(template)
    layout = _layout(lines, template)
    end = "\r" if lines[0].endswith("\r") else ""
    if layout.old:
        _replace_old(lines, layout, weights, template)
    else:
        _replace_groups(lines, layout, weights, template, end)
    return lines, layout, end


def write_moses_settings(template: FilePath, path: FilePath, settings: Sequence[Weights]) -> None:
    """Write `template`, a moses.ini, to `path` with other weights for every sentence of an input that names them.

        [alternate-weight-setting]
        id=0
        LM0= 0.5                            <seg weight-setting="0">ein Bus</seg>
        TM0= 0.2 0.2

    A setting starts from nothing: what it does not list has weight 0, so every line of ``[weight]`` is in each, also
    of groups that the weights do not have (untuneable ones). Sparse weights of setting k go to
    ``PATH.k.sparse-weights``. Moses lowers the case of what stands in a tag, so ids are numbers, from 0. A sentence
    without a tag is translated with ``[weight]``, which gets the first setting. Moses refuses settings beside several
    threads.

    Raises:
        UserError: an old moses.ini (no ``[weight]``), one that has such settings already, a group that it does not
            declare, or of which it has another number of components.
        ValueError: no settings.
    """
    if not settings:
        raise ValueError("no settings")
    lines, _, end = _rewritten(template, settings[0])
    if any(line.strip() == _SETTINGS for line in lines):
        raise UserError("has alternate weight settings already", path=template, remedy="delete that section")
    own = MosesIni().read(lines, template)
    if not any(line.strip() == "[weight]" for line in lines):
        raise UserError("an old moses.ini", path=template, expected="a section [weight]")
    added = [end, _SETTINGS + end]
    for k, weights in enumerate(settings):
        named = f" weight-file={_write_sparse(weights, path, f'.{k}')}" if weights.sparse else ""
        added.append(f"id={k}{named}{end}")
        for group, values in {**own.by_group(), **weights.by_group()}.items():
            added.append(group_text(group, values) + end)
    _append(lines, added, end)
    _write(path, "\n".join(lines))


def marked_sentences(source: Sequence[str]) -> list[str]:
    """The sentences with the tag that names setting k for sentence k; blank ones stay as they are.

    Raises:
        UserError: a sentence that holds the tag's end.
    """
    lines = []
    for k, line in enumerate(source):
        if _END_OF_TAG in line.lower():
            raise UserError(f"sentence {k + 1} holds {_END_OF_TAG!r}", expected="text, as the tag names its weights")
        lines.append(f'<seg weight-setting="{k}">{line}{_END_OF_TAG}' if line.strip() else line)
    return lines


def template_lines(template: FilePath) -> list[str]:
    """The lines of a moses.ini without their LF, bytes that are no UTF-8 as surrogates."""
    raw = read_bytes(template).removeprefix(codecs.BOM_UTF8)
    # Bytes that are no UTF-8 (in a path, in a comment) go through unchanged.
    return raw.decode("utf-8", errors="surrogateescape").split("\n")


def _layout(lines: Sequence[str], path: FilePath) -> _Layout:
    layout = _Layout()
    unnamed: Counter[str] = Counter()
    for k, section, text in _sections(lines):
        if section == "weight":
            name = _weight_line(text, path, k)[0]
            if name in layout.groups:
                raise second_weight(name, path, k + 1, layout.groups[name] + 1)
            layout.groups[name] = layout.last = k
        elif section in OLD_SECTIONS:
            layout.old.setdefault(OLD_SECTIONS[section], []).append(k)
        elif section == "weight-file":
            layout.sparse = k if layout.sparse < 0 else layout.sparse
        elif section.startswith("weight-"):
            _refuse_unknown(section, path, k)
        elif section == "feature":
            layout.declared.add(_declared(text, unnamed))
    if layout.groups and layout.old:
        first = min(places[0] for places in layout.old.values())
        raise UserError(
            "old weights ([weight-d], [weight-l], ...) beside a section [weight]",
            path=path,
            line=first + 1,
            expected="one of the two",
            remedy="delete the sections that Moses should not use",
        )
    return layout


def _refuse_unknown(section: str, path: FilePath, k: int) -> None:
    # A section that changes weights in a way not known here would make every number that follows wrong.
    raise UserError(
        f"weights in a section [{section}]",
        path=path,
        line=k + 1,
        expected=f"[weight], [weight-file], {', '.join(f'[{old}]' for old in OLD_SECTIONS)}",
        remedy="move them to [weight]",
    )


def _sections(lines: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """(line, section, what it says) of every line within a section that says something."""
    section = ""
    for k, line in enumerate(lines):
        text = _stripped(line)
        opened = _SECTION.fullmatch(text)
        if opened:
            section = opened.group(1)
        elif text:
            yield k, section, text


def _stripped(line: str) -> str:
    return line.partition("#")[0].strip(" \t\r")


def _declared(text: str, unnamed: Counter[str]) -> str:
    """The name of a feature function: what `name=` says, else its class and a running number."""
    words = [word for word in text.replace("\t", " ").split(" ") if word]
    for word in words[1:]:
        if word.startswith("name="):
            return word.removeprefix("name=")
    unnamed[words[0]] += 1
    return f"{words[0]}{unnamed[words[0]] - 1}"


def _weight_line(line: str, path: FilePath, k: int) -> tuple[str, str]:
    matched = _WEIGHT.fullmatch(_stripped(line))
    if matched is None:
        raise UserError(f"{line.strip()!r} gives no weight", path=path, line=k + 1, expected="'NAME= v v v'")
    return matched.group(1), matched.group(2)


def _replace_groups(lines: list[str], layout: _Layout, weights: Weights, path: FilePath, end: str) -> None:
    added: list[str] = []
    for name, values in weights.by_group().items():
        text = group_text(name, values)
        if name in layout.groups:
            k = layout.groups[name]
            have = len(_weight_line(lines[k], path, k)[1].split())
            if have not in (0, len(values)):
                raise UserError(
                    f"{have} weights for {name}",
                    path=path,
                    line=k + 1,
                    expected=f"{len(values)}, as the N-best lists have",
                )
            lines[k] = _with_text(lines[k], text)
        elif name in layout.declared:
            added.append(text + end)
        else:
            raise UserError(
                f"no weight line and no feature {name}",
                path=path,
                remedy="is this the configuration of these N-best lists?",
            )
    if added and layout.last < 0:
        _append(lines, ["[weight]" + end, *added], end)
    elif added:
        lines[layout.last + 1 : layout.last + 1] = added


def _replace_old(lines: list[str], layout: _Layout, weights: Weights, path: FilePath) -> None:
    for label, values in old_values(weights).items():
        places = layout.old.get(label, [])
        if len(places) != len(values):
            raise UserError(
                f"{len(places)} weights in [{OLD_LABELS[label]}]",
                path=path,
                expected=f"{len(values)}, as the N-best lists have",
            )
        for k, value in zip(places, values, strict=True):
            lines[k] = _with_text(lines[k], repr(value))


def _with_text(line: str, text: str) -> str:
    """The line with `text` in the place of what it says; what is around it (spaces, a comment) stays."""
    said = _stripped(line)
    start = line.index(said)
    return line[:start] + text + line[start + len(said) :]


def _append(lines: list[str], added: list[str], end: str) -> None:
    """Add lines at the end of the file, behind a last line that may lack its end."""
    last = [lines[-1] + end] if lines[-1] else []
    lines[-1:] = [*last, *added, ""]


def _write_sparse(weights: Weights, path: FilePath, number: str = "") -> str:
    """Write the sparse weights beside the moses.ini `path`; the name of their file."""
    name = f"{os.path.abspath(os.fspath(path))}{number}.sparse-weights"
    write_text(name, sparse_text(weights.sparse))
    return name


def _write(path: FilePath, text: str) -> None:
    with atomic_write(path) as out:
        out.write(text.encode("utf-8", errors="surrogateescape"))
