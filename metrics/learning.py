"""What metrics are trained on: people's preferences between two translations, or their marks for one."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import References
from lasw.metrics.errors import UserError
from lasw.metrics.files import open_bytes, read_lines
from lasw.metrics.judgements import Judgements, read_judgements
from lasw.metrics.text import Corpus, Vocabulary

_CHUNK = 1 << 20
_COLUMNS = ("human", "hyp", "ref")


@dataclass(frozen=True)
class Marks:
    """n translations, each with its own references and a number that says how good a person found it.

    Attributes:
        name: of the file.
        hypotheses: n sentences.
        references: of as many segments, over the same vocabulary.
        marks: (n,) finite, higher is better.
    """

    name: str
    hypotheses: Corpus
    references: References
    marks: NDArray[np.float64]

    @property
    def owner(self) -> NDArray[np.int32]:
        """(n,) the segment of each hypothesis: its own."""
        return np.arange(len(self.hypotheses), dtype=np.int32)


def read_marks(path: str | Path, *, preprocess: Callable[[str], str] | None = None, encoding: str = "utf-8") -> Marks:
    """Read a table with the columns ``human hyp ref`` (others are ignored), tabs between, compressed or not.

    Raises:
        UserError: a column is missing, a line has another number of columns, or a mark is no finite number.
    """
    lines = read_lines(path, encoding=encoding)
    header = lines[0].split("\t") if lines else []
    for name in _COLUMNS:
        if name not in header:
            raise UserError(
                f"no column {name!r}", path=path, line=1, expected="a first line that names the columns, with tabs"
            )
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        if len(fields) != len(header):
            raise UserError(f"{len(fields)} columns", path=path, line=number, expected=f"{len(header)}")
        rows.append([fields[header.index(name)] for name in _COLUMNS])
        if _number(rows[-1][0]) is None:
            raise UserError(f"mark {rows[-1][0]!r}", path=path, line=number, expected="a finite number")
    if not rows:
        raise UserError("no marks", path=path, expected="a line a translation")
    marks, hypotheses, references = zip(*rows, strict=True)
    vocabulary = Vocabulary()
    texts = [Corpus.from_lines(lines, vocabulary, preprocess) for lines in (references, hypotheses)]
    return Marks(Path(path).name, texts[1], References((texts[0],)), np.array(list(map(float, marks))))


def read_preferences(
    folders: Iterable[str | Path], *, preprocess: Callable[[str], str] | None = None, encoding: str = "utf-8"
) -> list[Judgements]:
    """Read folders of judgements (`lasw.metrics.judgements`), each with at least one preference.

    Raises:
        UserError: as `read_judgements`, a folder without preferences, or one that is given twice.
    """
    paths = [Path(folder) for folder in folders]
    for k, path in enumerate(paths):
        if path.resolve() in [other.resolve() for other in paths[:k]]:
            raise UserError("the same folder twice", path=path, expected="each one once")
    found = [read_judgements(path, preprocess=preprocess, encoding=encoding) for path in paths]
    for judgements, path in zip(found, paths, strict=True):
        if not len(judgements.segment):
            raise UserError("no preferences", path=path, expected="pairs of which one is better")
    return found


def by_system(
    judgements: Judgements, columns: Callable[[Corpus, NDArray[np.int32]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """(S, n, d): the d numbers that `columns` gives for each translation of each system, 0 where nobody judged one.

    Args:
        judgements: of S systems and n segments.
        columns: from m hypotheses and their segments (m,) to (m, d).
    """
    judged = np.zeros((len(judgements.systems), len(judgements.evaluation.references)), dtype=np.bool_)
    judged[judgements.better, judgements.segment] = True
    judged[judgements.worse, judgements.segment] = True
    out: NDArray[np.float64] | None = None
    for system, rows in enumerate(judged):
        segments = np.flatnonzero(rows).astype(np.int32)
        found = columns(judgements.evaluation.systems[system].take(segments), segments)
        if out is None:
            out = np.zeros((*judged.shape, found.shape[1]))
        out[system, segments] = found
    assert out is not None  # a folder without systems was refused when it was read
    return out


def preference_columns(
    judgements: Judgements, columns: Callable[[Corpus, NDArray[np.int32]], NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(m, d) numbers of the better and of the worse translation of each preference; arguments as `by_system`."""
    table = by_system(judgements, columns)
    return table[judgements.better, judgements.segment], table[judgements.worse, judgements.segment]


def fingerprint(paths: Sequence[str | Path]) -> str:
    """Twelve hexadecimal digits of the content of files, and of folders of judgements; compression does not matter."""
    total = hashlib.sha256()
    for path in map(Path, paths):
        files = sorted(x for x in (path, *path.rglob("*")) if x.is_file()) if path.is_dir() else [path]
        for file in files:
            part = hashlib.sha256()
            with open_bytes(file) as stream:
                while chunk := stream.read(_CHUNK):
                    part.update(chunk)
            total.update(part.digest())
    return total.hexdigest()[:12]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
