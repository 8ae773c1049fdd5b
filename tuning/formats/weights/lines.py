"""Weight files of one weight or one group of weights a line, in the spellings that programs use.

==========  ======================  ===========================================================
kind        a line                  who writes it
==========  ======================  ===========================================================
pairs       ``LanguageModel 0.5``   cdec, Moses' sparse weight files
joshua      ``lm_0 = 0.5``          Joshua
travatar    ``lm=0.5``              Travatar
vectors     ``LM0 0.5 0.1``         people, who leave out the ``=`` of
groups      ``LM0= 0.5 0.1``        ``moses -show-weights``; also ``LM0 UNTUNEABLE``, ``WT=``
groups      ``LM0= 0.5`` twice      mert-moses.pl (runN.dense): a line for every component
==========  ======================  ===========================================================

Empty lines and lines that start with ``#`` mean nothing. Only spaces and tabs separate: names of sparse features hold
whatever words do, a no-break space too. In all kinds but groups dense features are written by component.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from lasw.metrics import UserError, read_lines, tokens, write_text
from lasw.tuning.formats.weights.base import (
    FilePath,
    WeightFormat,
    content,
    is_number,
    number,
    second_weight,
    sparse_beside,
)
from lasw.tuning.weights import Weights

UNTUNEABLE, UNTUNEABLE_COMPONENT = "UNTUNEABLE", "UNTUNEABLECOMPONENT"


class WeightLine(NamedTuple):
    """What one line says: `values` of the feature `name`; an empty list where it only names the feature."""

    name: str
    values: list[str]


class LineFormat(WeightFormat):
    """A format of lines; `shape` is one of them as messages show it."""

    shape: ClassVar[str]

    @abstractmethod
    def parsed(self, text: str) -> WeightLine | None:
        """What a line says, None if it is of another format."""

    def fits(self, lines: Sequence[str]) -> float:
        """See `WeightFormat`."""
        return sum(self.parsed(text) is not None for _, text in content(lines))

    def read(self, lines: Sequence[str], path: FilePath) -> Weights:
        """See `WeightFormat`."""
        return Weights.from_groups(self.values(lines, path))

    def values(self, lines: Sequence[str], path: FilePath) -> dict[str, list[float]]:
        """The values of every feature that the lines name; raises as `read`."""
        values: dict[str, list[float]] = {}
        seen: dict[str, int] = {}
        before = WeightLine("", [])
        for k, text in content(lines):
            parsed = self.parsed(text)
            if parsed is None:
                raise UserError(f"{text!r} gives no weight", path=path, line=k, expected=f"'{self.shape}' or a comment")
            if parsed.name in seen and not self.goes_on(before, parsed):
                raise second_weight(parsed.name, path, k, seen[parsed.name])
            seen.setdefault(parsed.name, k)
            found = [number(v, path=path, line=k, name=parsed.name) for v in parsed.values]
            if found:
                values[parsed.name] = values.get(parsed.name, []) + found
            before = parsed
        return values

    def goes_on(self, before: WeightLine, line: WeightLine) -> bool:
        """Whether a line has the next component of the group on the line before it."""
        return False

    def check(self, path: FilePath, weights: Weights | None, template: FilePath | None) -> None:
        """See `WeightFormat`."""
        if weights is not None:
            self.written(weights)

    def write(self, path: FilePath, weights: Weights, comment: Sequence[str], template: FilePath | None) -> None:
        """See `WeightFormat`."""
        lines = [*(f"# {line}" for line in comment), *self.written(weights)]
        write_text(path, "".join(line + "\n" for line in lines))

    @abstractmethod
    def written(self, weights: Weights) -> list[str]:
        """A line for every weight or group."""


class Pairs(LineFormat):
    """``NAME v``."""

    shape, flat = "NAME v", True
    between: ClassVar[str] = " "

    def parsed(self, text: str) -> WeightLine | None:
        """See `LineFormat`."""
        parts = tokens(text)
        return WeightLine(parts[0], parts[1:]) if len(parts) == 2 else None

    def written(self, weights: Weights) -> list[str]:
        """See `LineFormat`."""
        dense = list(zip(weights.names.components, weights.dense.tolist(), strict=True))
        flat = dense + sorted(weights.sparse.items())
        if len({name for name, _ in flat}) != len(flat):
            raise UserError("a dense and a sparse feature share one name", remedy="write the weights as JSON")
        return [f"{name}{self.between}{value!r}" for name, value in flat]


class Travatar(Pairs):
    """``NAME=v``, read with blanks around the ``=`` too; the last ``=`` counts, for a name may hold others."""

    shape, between = "NAME = v", "="

    def parsed(self, text: str) -> WeightLine | None:
        """See `LineFormat`."""
        name, equals, value = text.rpartition("=")
        name, value = name.strip(" \t"), value.strip(" \t")
        if not equals or not name or not value or len(tokens(name)) != 1 or len(tokens(value)) != 1:
            return None
        return WeightLine(name, [value])


class Joshua(Travatar):
    """``NAME = v``."""

    between = " = "

    def fits(self, lines: Sequence[str]) -> float:
        """None: a file of this kind is one of Travatar's, which are read the same."""
        return 0


class Vectors(Pairs):
    """``NAME v v v``."""

    shape = "NAME v v v"

    def parsed(self, text: str) -> WeightLine | None:
        """See `LineFormat`."""
        name, *values = tokens(text)
        # Where the name is a number too, the line is a list of values that is longer or shorter than others.
        numbers = all(map(is_number, values)) and not (is_number(name) and len(values) > 1)
        return WeightLine(name, values) if values and numbers else None

    def fits(self, lines: Sequence[str]) -> float:
        """See `WeightFormat`; without a group of several weights it is a file of pairs."""
        sizes = [len(tokens(text)) for _, text in content(lines) if self.parsed(text)]
        return len(sizes) if max(sizes, default=0) > 2 else 0

    def written(self, weights: Weights) -> list[str]:
        """See `LineFormat`."""
        twice = sorted(set(weights.sparse) & set(weights.names.slices))
        if twice:
            raise UserError(
                f"a dense and a sparse feature share the name {twice[0]}", remedy="write the weights as JSON"
            )
        groups = [f"{name} {' '.join(map(repr, values))}" for name, values in weights.by_group().items()]
        return [*groups, *(f"{name} {value!r}" for name, value in sorted(weights.sparse.items()))]


class Groups(LineFormat):
    """``NAME= v v v``, ``NAME=`` or ``NAME UNTUNEABLE``; a group of single values may be written a line each."""

    shape = "NAME= v v v"

    def parsed(self, text: str) -> WeightLine | None:
        """See `LineFormat`."""
        parts = tokens(text)
        if len(parts) == 2 and parts[1] == UNTUNEABLE:
            return WeightLine(parts[0].removesuffix("="), [])
        if len(parts[0]) > 1 and parts[0].endswith("="):
            return WeightLine(parts[0][:-1], [value for value in parts[1:] if value != UNTUNEABLE_COMPONENT])
        return None

    def goes_on(self, before: WeightLine, line: WeightLine) -> bool:
        """See `LineFormat`."""
        return before.name == line.name and len(before.values) == len(line.values) == 1

    def sparse_file(self, lines: Sequence[str], path: FilePath) -> FilePath | None:
        """See `WeightFormat`."""
        return sparse_beside(path)

    def written(self, weights: Weights) -> list[str]:
        """See `LineFormat`."""
        if weights.sparse:
            raise UserError("lines of groups have no place for sparse weights", remedy="write json, moses or pairs")
        return group_lines(weights)


def group_lines(weights: Weights) -> list[str]:
    """The dense weights, a line a group."""
    return [group_text(name, values) for name, values in weights.by_group().items()]


def group_text(name: str, values: Sequence[float]) -> str:
    """The line of a group."""
    return f"{name}= {' '.join(map(repr, values))}"


def read_sparse_weights(path: FilePath, encoding: str = "utf-8") -> dict[str, float]:
    """Sparse weights by name from ``NAME v`` lines.

    Raises:
        UserError: as `LineFormat.read`.
    """
    return {name: values[0] for name, values in Pairs().values(read_lines(path, encoding=encoding), path).items()}


def sparse_text(sparse: Mapping[str, float]) -> str:
    """What `read_sparse_weights` reads."""
    return "".join(f"{name} {value!r}\n" for name, value in sorted(sparse.items()))
