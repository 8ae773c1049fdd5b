"""Weights without names, as Moses' tuning leaves them: in the order of the features of the N-best lists.

==========  ==========================================  ====================================================
kind        a file                                      who writes it
==========  ==========================================  ====================================================
values      ``0.5 0.1 -0.2``                            Moses' mert (weights.txt)
values      three such lines: weights, minima, maxima   mert-moses.pl (init.opt)
mert-log    ``Best point: 0.5 0.1 -0.2  => 0.41``       Moses' mert (mert.log), among other lines
==========  ==========================================  ====================================================

They are called ``F0``, ``F1``, ... as Moses' MIRA and PRO call them (``F0 0.5``, mert.out), and
`lasw.tuning.formats.weights.matching.match` gives them to the features by their place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import islice

from lasw.metrics import UserError, tokens, write_text
from lasw.tuning.formats.weights.base import FilePath, WeightFormat, content, is_number, number, sparse_beside
from lasw.tuning.weights import Weights, by_place

_BEST = re.compile(r"Best point:(.*)=>")
_MIRA = "Best BLEU = "
_ELSEWHERE = "those of MIRA and PRO stand in mert.out (runN.mert.out), and in runN.dense of the next iteration"
_NOT_USED = ["not", "used"]  # what mert-moses.pl writes where MIRA or PRO did the work
_LINES = (1, 3)
_RANGES = "the weights on one line, or three lines: weights, minima, maxima"


class Values(WeightFormat):
    """A line of weights; of three lines, which must be as long, the first."""

    nameless = True

    def fits(self, lines: Sequence[str]) -> float:
        """See `WeightFormat`."""
        rows = [tokens(text) for _, text in islice(content(lines), max(_LINES) + 1)]
        if rows == [_NOT_USED]:
            return math.inf
        # Two numbers on a line are a name and its weight.
        as_long = len(rows) in _LINES and len({len(row) for row in rows}) == 1 and len(rows[0]) != 2
        return math.inf if as_long and all(is_number(word) for row in rows for word in row) else 0

    def read(self, lines: Sequence[str], path: FilePath) -> Weights:
        """See `WeightFormat`."""
        rows = list(content(lines))
        if len(rows) not in _LINES:
            raise UserError(f"{len(rows)} lines", path=path, expected=_RANGES)
        k, text = rows[0]
        words = tokens(text)
        if words == _NOT_USED:
            raise UserError("no weights in it ('not used')", path=path, remedy=_ELSEWHERE)
        return by_place([number(word, path=path, line=k, what=f"weight {w + 1}") for w, word in enumerate(words)])

    def sparse_file(self, lines: Sequence[str], path: FilePath) -> FilePath | None:
        """See `WeightFormat`."""
        return sparse_beside(path)

    def check(self, path: FilePath, weights: Weights | None, template: FilePath | None) -> None:
        """See `WeightFormat`."""
        if weights is not None and weights.sparse:
            raise UserError("a line of values has no place for sparse weights", remedy="write json, moses or pairs")

    def write(self, path: FilePath, weights: Weights, comment: Sequence[str], template: FilePath | None) -> None:
        """See `WeightFormat`."""
        self.check(path, weights, template)
        lines = [*(f"# {line}" for line in comment), values_text(weights.dense.tolist())]
        write_text(path, "".join(line + "\n" for line in lines))


class MertLog(WeightFormat):
    """The log of Moses' mert, of which one line has the weights; it is read only."""

    nameless = True
    written_by = "Moses' mert"

    def fits(self, lines: Sequence[str]) -> float:
        """Infinity if a line tells the best point, or the best BLEU of MIRA."""
        return math.inf if any(_BEST.search(line) or line.startswith(_MIRA) for line in lines) else 0

    def read(self, lines: Sequence[str], path: FilePath) -> Weights:
        """See `WeightFormat`."""
        for k, line in enumerate(lines, start=1):
            found = _BEST.search(line)
            if found:
                words = tokens(found[1])
                return by_place([number(w, path=path, line=k, what=f"weight {i + 1}") for i, w in enumerate(words)])
        raise UserError("no weights in it", path=path, remedy=_ELSEWHERE)

    def sparse_file(self, lines: Sequence[str], path: FilePath) -> FilePath | None:
        """See `WeightFormat`."""
        return sparse_beside(path)


def values_text(values: Sequence[float]) -> str:
    """A line of weights."""
    return " ".join(map(repr, values))
