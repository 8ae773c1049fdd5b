"""The weights in a moses.ini, read and replaced; everything else in it stays as it is, byte for byte.

New style: a section ``[weight]`` with lines ``LM0= 0.5`` and, for sparse features, a section ``[weight-file]`` that
names a file of ``NAME v`` lines. Old style: sections ``[weight-d]``, ``[weight-l]``, ... with one number a line; their
groups carry the labels that old N-best lists print (``d``, ``lm``, ``tm``, ``w``). As in Moses, ``#`` starts a comment
anywhere in a line.
"""

from __future__ import annotations

import codecs
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lasw.metrics import UserError, atomic_write, open_bytes, read_lines, write_text
from lasw.tuning.formats.weights.lines import Path, number, read_pairs
from lasw.tuning.formats.weights.old_style import OLD_LABELS, OLD_SECTIONS, old_values
from lasw.tuning.weights import Weights

_SECTION = re.compile(r"\[([A-Za-z][A-Za-z0-9-]*)\]")
_WEIGHT = re.compile(r"([^\s=]+)\s*=?\s*(.*)")
_SPARSE_SUFFIX = ".sparse-weights"


def is_moses_ini(lines: Sequence[str]) -> bool:
    """Whether the first line that says something opens a section."""
    return next((bool(_SECTION.fullmatch(text)) for text in map(_said, lines) if text), False)


@dataclass
class _Layout:
    """Where the weights of a moses.ini stand, as 0-based line numbers."""

    groups: dict[str, int] = field(default_factory=dict)  # [weight]: the line of each group
    old: dict[str, list[int]] = field(default_factory=dict)  # label: the lines of its numbers
    last: int = -1  # the last line of [weight] that says something
    sparse: int = -1  # the line that names the file of sparse weights
    declared: set[str] = field(default_factory=set)  # feature functions of [feature]


def read(lines: Sequence[str], path: Path, *, read_sparse: bool = True, encoding: str = "utf-8") -> Weights:
    """The weights of a moses.ini; with `read_sparse` also those in the file that its ``[weight-file]`` names.

    That name counts from the working directory, as in Moses, else from the folder of the moses.ini.

    Raises:
        UserError: new and old sections together, a feature with two weights, no number where one belongs.
    """
    layout = _layout(lines, path)
    groups: dict[str, list[float]] = {}
    for name, k in layout.groups.items():
        values = _weight_line(lines[k], path, k)[1].split()
        if values:
            groups[name] = [number(value, path=path, line=k + 1, name=name) for value in values]
    for label, places in layout.old.items():
        groups[label] = [number(_said(lines[k]), path=path, line=k + 1, name=label) for k in places]
    sparse = {}
    if read_sparse and layout.sparse >= 0:
        sparse = read_sparse_weights(_beside(_said(lines[layout.sparse]), path), encoding)
    return Weights.from_groups(groups, sparse)


def read_sparse_weights(path: Path, encoding: str = "utf-8") -> dict[str, float]:
    """Sparse weights by name from ``NAME v`` lines."""
    return {name: values[0] for name, values in read_pairs(read_lines(path, encoding=encoding), "pairs", path).items()}


def rewrite(template: Path, path: Path, weights: Weights, comment: Sequence[str] = ()) -> None:
    """Write `template`, a moses.ini, to `path` with these weights in it and `comment` on top.

    Groups that `weights` does not have (untuneable ones) keep their lines. A group of `weights` that has no line yet
    gets one if ``[feature]`` declares it. Sparse weights go to ``PATH.sparse-weights``, which ``[weight-file]`` then
    names. A byte order mark is dropped.

    Raises:
        UserError: a group that the template does not declare, or of which it has another number of components.
    """
    lines, layout, end = _rewritten(template, weights)
    if weights.sparse:
        sparse_path = os.path.abspath(os.fspath(path)) + _SPARSE_SUFFIX
        write_text(sparse_path, "".join(f"{name} {value!r}\n" for name, value in sorted(weights.sparse.items())))
        _name_sparse_file(lines, layout, sparse_path, end)
    top = "".join(f"# {text}{end}\n" for text in comment)
    with atomic_write(path) as out:
        out.write((top + "\n".join(lines)).encode("utf-8", errors="surrogateescape"))


def check_template(template: Path, weights: Weights | None = None) -> None:
    """Make sure that `rewrite` has a moses.ini to work on, and with `weights` that it has places for those.

    Raises:
        UserError: it cannot be read, is something else, or as `rewrite`.
    """
    if not is_moses_ini(template_lines(template)):
        raise UserError("no moses.ini", path=template, expected="sections as [feature] and [weight]")
    if weights is not None:
        _rewritten(template, weights)


def rewritten_lines(template: Path, weights: Weights) -> tuple[list[str], str]:
    """The lines of `template`, a moses.ini, with the dense `weights` in them, and what stands before LF.

    Raises:
        UserError: as `rewrite`.
    """
    lines, _, end = _rewritten(template, weights)
    return lines, end


def _rewritten(template: Path, weights: Weights) -> tuple[list[str], _Layout, str]:
    """The lines of `template` with the dense `weights` in them, where they stood, and what stands before LF."""
    lines = template_lines(template)
    layout = _layout(lines, template)
    end = "\r" if lines[0].endswith("\r") else ""
    if layout.old:
        _replace_old(lines, layout, weights, template)
    else:
        _replace_groups(lines, layout, weights, template, end)
    return lines, layout, end


def template_lines(template: Path) -> list[str]:
    """The lines of a moses.ini as `rewrite` takes them: without their LF, other bytes than UTF-8 as surrogates."""
    with open_bytes(template) as stream:
        raw = stream.read().removeprefix(codecs.BOM_UTF8)
    # Bytes that are no UTF-8 (in a path, in a comment) go through unchanged.
    return raw.decode("utf-8", errors="surrogateescape").split("\n")


def _layout(lines: Sequence[str], path: Path) -> _Layout:
    layout = _Layout()
    unnamed: Counter[str] = Counter()
    for k, section, text in _sections(lines):
        if section == "weight":
            name = _weight_line(text, path, k)[0]
            if name in layout.groups:
                raise UserError(
                    f"{name} has a second weight",
                    path=path,
                    line=k + 1,
                    expected=f"one (the first: line {layout.groups[name] + 1})",
                )
            layout.groups[name] = k
        elif section in OLD_SECTIONS:
            layout.old.setdefault(OLD_SECTIONS[section], []).append(k)
        elif section == "weight-file":
            layout.sparse = k if layout.sparse < 0 else layout.sparse
        elif section.startswith("weight-"):
            _refuse_unknown(section, path, k)
        elif section == "feature":
            layout.declared.add(_declared(text, unnamed))
        if section == "weight":
            layout.last = k
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


def _refuse_unknown(section: str, path: Path, k: int) -> None:
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
        text = _said(line)
        opened = _SECTION.fullmatch(text)
        if opened:
            section = opened.group(1)
        elif text:
            yield k, section, text


def _said(line: str) -> str:
    return line.partition("#")[0].strip(" \t\r")


def _declared(text: str, unnamed: Counter[str]) -> str:
    """The name of a feature function: what `name=` says, else its class and a running number."""
    words = text.split()
    for word in words[1:]:
        if word.startswith("name="):
            return word.removeprefix("name=")
    unnamed[words[0]] += 1
    return f"{words[0]}{unnamed[words[0]] - 1}"


def _weight_line(line: str, path: Path, k: int) -> tuple[str, str]:
    matched = _WEIGHT.fullmatch(_said(line))
    if matched is None:
        raise UserError(f"{line.strip()!r} gives no weight", path=path, line=k + 1, expected="'NAME= v v v'")
    return matched.group(1), matched.group(2)


def _beside(name: str, path: Path) -> str:
    here = os.path.join(os.path.dirname(os.fspath(path)), name)
    return here if not os.path.exists(name) and os.path.exists(here) else name


def _replace_groups(lines: list[str], layout: _Layout, weights: Weights, path: Path, end: str) -> None:
    added: list[str] = []
    for name, values in weights.by_group().items():
        text = f"{name}= {' '.join(map(repr, values))}"
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


def _replace_old(lines: list[str], layout: _Layout, weights: Weights, path: Path) -> None:
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
    said = _said(line)
    start = line.index(said)
    return line[:start] + text + line[start + len(said) :]


def _name_sparse_file(lines: list[str], layout: _Layout, sparse_path: str, end: str) -> None:
    if layout.sparse >= 0:
        lines[layout.sparse] = _with_text(lines[layout.sparse], sparse_path)
        return
    _append(lines, [end, "[weight-file]" + end, sparse_path + end], end)


def _append(lines: list[str], added: list[str], end: str) -> None:
    """Add lines at the end of the file, behind a last line that may lack its end."""
    last = [lines[-1] + end] if lines[-1] else []
    lines[-1:] = [*last, *added, ""]
