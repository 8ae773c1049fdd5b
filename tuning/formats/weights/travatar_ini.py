"""The weights in a travatar.ini, read and replaced; everything else in it stays as it is.

They are the lines ``NAME=v`` of the section ``[weight_vals]``; other sections have the names of files and settings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from lasw.metrics import UserError, read_lines, write_text
from lasw.tuning.formats.weights.base import FilePath, WeightFormat
from lasw.tuning.formats.weights.lines import Travatar
from lasw.tuning.weights import Weights

_SECTION = re.compile(r"\s*\[[A-Za-z0-9_-]+\]\s*")
_WEIGHTS = "[weight_vals]"


class TravatarIni(WeightFormat):
    """A travatar.ini: to be written, one is needed whose other lines stay."""

    flat, usual_name = True, "travatar.ini"
    needs_template = True

    def fits(self, lines: Sequence[str]) -> float:
        """Infinity if it begins with a section and has that of weights."""
        first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
        return math.inf if _SECTION.fullmatch(first) and any(line.strip() == _WEIGHTS for line in lines) else 0

    def read(self, lines: Sequence[str], path: FilePath) -> Weights:
        """See `WeightFormat`."""
        inside = set(_inside(lines))
        return Travatar().read([line if k in inside else "" for k, line in enumerate(lines)], path)

    def check(self, path: FilePath, weights: Weights | None, template: FilePath | None) -> None:
        """See `WeightFormat`."""
        lines = _template(template, path)
        if weights is not None:
            self._rewritten(lines, weights)

    def write(self, path: FilePath, weights: Weights, comment: Sequence[str], template: FilePath | None) -> None:
        """See `WeightFormat`."""
        lines = [*(f"# {line}" for line in comment), *self._rewritten(_template(template, path), weights)]
        write_text(path, "".join(line + "\n" for line in lines))

    def _rewritten(self, lines: Sequence[str], weights: Weights) -> list[str]:
        """The lines with the weights where the old ones stood."""
        written = Travatar().written(weights)
        old = set(_inside(lines))
        heading = next(k for k, line in enumerate(lines) if line.strip() == _WEIGHTS)
        kept = [line for k, line in enumerate(lines) if k not in old or not line.strip()]
        return [*kept[: heading + 1], *written, *kept[heading + 1 :]]


def _inside(lines: Sequence[str]) -> Iterator[int]:
    """The lines of the section of weights, without its heading."""
    inside = False
    for k, line in enumerate(lines):
        if _SECTION.fullmatch(line):
            inside = line.strip() == _WEIGHTS
        elif inside:
            yield k


def _template(template: FilePath | None, path: FilePath) -> list[str]:
    if template is None:
        raise UserError(
            "no travatar.ini to take the other settings from", path=path, remedy="give one, or write weights as JSON"
        )
    lines = read_lines(template)
    if not TravatarIni().fits(lines):
        raise UserError("no travatar.ini", path=template, expected=f"sections, one of them {_WEIGHTS}")
    return lines
