"""Reading and writing weights in the files of many programs; what a file is, its content says.

A new format is one file, one line of `WEIGHT_FILES` and one test. A flat file does not say which of its features are
dense: all become groups of one component, and `lasw.tuning.formats.weights.matching.match` sorts them by the features
of the N-best lists.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from lasw.metrics import LARGEST_FILE, STANDARD_INPUT, Registry, UserError, read_lines
from lasw.tuning.formats.weights.base import FilePath, WeightFormat
from lasw.tuning.formats.weights.lines import LineFormat, read_sparse_weights
from lasw.tuning.formats.weights.moses_ini import MosesIni, template_lines
from lasw.tuning.formats.weights.travatar_ini import TravatarIni
from lasw.tuning.weights import Weights

MOSES, JSON, TRAVATAR_INI = "moses", "json", "travatar-ini"
# A file that several of them would take is the last one's: a group of one weight looks like a line of the others.
WEIGHT_FILES: Registry[type[WeightFormat]] = Registry(
    "kind of weight file",
    {
        MOSES: "lasw.tuning.formats.weights.moses_ini:MosesIni",
        JSON: "lasw.tuning.formats.weights.own_json:OwnJson",
        "flat-json": "lasw.tuning.formats.weights.own_json:FlatJson",
        TRAVATAR_INI: "lasw.tuning.formats.weights.travatar_ini:TravatarIni",
        "mert-log": "lasw.tuning.formats.weights.unnamed:MertLog",
        "values": "lasw.tuning.formats.weights.unnamed:Values",
        "pairs": "lasw.tuning.formats.weights.lines:Pairs",
        "joshua": "lasw.tuning.formats.weights.lines:Joshua",
        "travatar": "lasw.tuning.formats.weights.lines:Travatar",
        "vectors": "lasw.tuning.formats.weights.lines:Vectors",
        "groups": "lasw.tuning.formats.weights.lines:Groups",
    },
)


class WeightFile(NamedTuple):
    """What a file of weights holds, and which of `WEIGHT_FILES` it is."""

    weights: Weights
    kind: str

    @property
    def dense(self) -> tuple[str, ...]:
        """Names of features that the file says are dense; flat files do not say."""
        return () if WEIGHT_FILES.find(self.kind).flat else tuple(name for name, _ in self.weights.names.groups)


def read_weights(path: FilePath, *, sparse_path: FilePath | None = None, encoding: str = "utf-8") -> Weights:
    """The weights in a file, see `read_weight_file`."""
    return read_weight_file(path, sparse_path=sparse_path, encoding=encoding).weights


def read_weight_file(path: FilePath, *, sparse_path: FilePath | None = None, encoding: str = "utf-8") -> WeightFile:
    """The weights in a file of any format.

    Args:
        path: the file.
        sparse_path: a file of sparse weights (``NAME v``) beside it, as Moses' ``-weight-file``; it takes the place of
            the one that a moses.ini names.
        encoding: of both.

    Raises:
        UserError: no weights in it, a line that is none, a feature with two weights, a number that is not finite.
    """
    lines = _lines(path, encoding)
    kind = _kind(lines)
    form = WEIGHT_FILES.find(kind)()
    weights = form.read(lines, path)
    sparse_path = form.sparse_file(lines, path) if sparse_path is None else sparse_path
    if sparse_path is not None:
        sparse = read_sparse_weights(sparse_path, encoding)
        twice = sorted(set(weights.sparse) & set(sparse))
        if twice:
            raise UserError(f"{twice[0]} has a second weight", path=sparse_path, expected="one weight a feature")
        weights = Weights(weights.names, weights.dense, {**weights.sparse, **sparse})
    if not len(weights.names) and not weights.sparse:
        raise UserError("no weights in it", path=path, remedy="is this the right file?")
    return WeightFile(weights, kind)


def write_weights(
    path: FilePath,
    weights: Weights,
    *,
    kind: str | None = None,
    template: FilePath | None = None,
    comment: Sequence[str] = (),
) -> None:
    """Write weights so that `read_weights` gives the same numbers back, bit for bit.

    Args:
        path: the file to write.
        weights: what goes into it.
        kind: one of `WEIGHT_FILES`; None: what the name says (`kind_of_name`).
        template: for kind ``moses`` or ``travatar-ini``, the file whose weights are replaced; its other lines stay.
        comment: lines for the top of the file (JSON has no comments, so there they are left out).

    Raises:
        UserError: unknown kind, no template for a moses.ini, or a feature that it does not declare.
    """
    kind = check_output(path, kind=kind, template=template)
    WEIGHT_FILES.find(kind)().write(path, weights, comment, template)


def check_output(
    path: FilePath, *, kind: str | None = None, template: FilePath | None = None, weights: Weights | None = None
) -> str:
    """The kind that `write_weights` would write; what it would refuse is refused now, before a long run.

    Args:
        path: as there.
        kind: as there.
        template: as there.
        weights: of the features that will have weights, if they are known; their numbers do not matter.

    Raises:
        UserError: unknown kind, no template for a moses.ini or one that is none, no file that can be written there, or
            a feature that has no place in such a file.
    """
    kind = kind_of_name(path, template) if kind is None else kind
    WEIGHT_FILES.find(kind)().check(path, weights, template)
    if path == STANDARD_INPUT or (os.path.exists(path) and not os.path.isfile(path)):
        raise UserError("cannot be written (no regular file)", path=path, expected="the name of a file")
    folder = os.path.dirname(os.path.abspath(os.fspath(path)))
    if not os.path.isdir(folder):
        raise UserError("cannot be written (no such folder)", path=path, remedy=f"make {folder} first")
    if not os.access(folder, os.W_OK):
        raise UserError("cannot be written (no permission)", path=path, expected="a folder that can be written to")
    return kind


def kind_of_name(path: FilePath, template: FilePath | None = None) -> str:
    """``moses`` for a name that ends in ``.ini``, ``travatar-ini`` if `template` is one, else ``json``."""
    if not os.fspath(path).endswith(".ini"):
        return JSON
    travatar = template is not None and TravatarIni().fits(template_lines(template))
    return TRAVATAR_INI if travatar else MOSES


def _kind(lines: Sequence[str]) -> str:
    """The kind that the lines of a file are; if no format takes all of them, the one that takes the most."""
    formats = {kind: WEIGHT_FILES.find(kind)() for kind in reversed(list(WEIGHT_FILES))}
    # Those whose beginning tells come first: a line format takes a million lines apart to say how many it knows.
    for kind, one in formats.items():
        if not isinstance(one, LineFormat) and one.fits(lines):
            return kind
    fitting = {kind: one.fits(lines) for kind, one in formats.items() if isinstance(one, LineFormat)}
    return max(fitting, key=lambda kind: fitting[kind])


def _lines(path: FilePath, encoding: str) -> list[str]:
    """Of the file; in a moses.ini, bytes that are no UTF-8 (in a path, in a comment) are let through."""
    try:
        return read_lines(path, encoding=encoding, most=LARGEST_FILE)
    except UserError:
        if encoding != "utf-8" or not os.path.isfile(path):
            raise
        lines = template_lines(path)
        if not MosesIni().fits(lines) or any("\0" in line for line in lines):
            raise
        names = "".join(MosesIni().read(lines, path).names.slices)
        if not names.isprintable():  # they go into files of ours
            raise
        return lines
