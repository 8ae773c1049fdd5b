"""Moses' own intermediate files: features (``features.dat``) and BLEU statistics (``scores.dat``), text and binary.

Both are blocks of one sentence each: a line ``FEATURES_TXT_BEGIN_0 SENTENCE N D NAME_0 ...`` or
``SCORES_TXT_BEGIN_0 SENTENCE N 9 BLEU``, N lines of numbers (features: then ``name=value`` for sparse ones), a line
with ``END``. In the binary forms (``_BIN_``) the numbers of a block are float32 without line ends. Which form a
file has is seen from its first bytes, compression too.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lasw.metrics import STANDARD_INPUT, Blocks, UserError, Vocabulary, first_bytes, metric, tokens
from lasw.tuning.formats.nbest import MAX_ID, Place, finite, is_number, read_matrix
from lasw.tuning.nbest import ScoredList
from lasw.tuning.weights import FeatureNames

_FEATURES, _SCORES = "FEATURES", "SCORES"
_METRIC = "PGBC4"  # BLEU, whose statistics these are, with the closest reference length as Moses takes it
_STATISTICS = 9  # match and total of four orders, reference length
_FLOAT = np.dtype("<f4")
_COUNT = re.compile(r"[0-9]{1,19}")


def is_features_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as Moses' features files do."""
    return first_bytes(path, len(_FEATURES) + 1) == f"{_FEATURES}_".encode()


def read_moses_files(
    features: str | os.PathLike[str],
    scores: str | os.PathLike[str],
    *,
    sparse_names: Vocabulary | None = None,
    encoding: str = "utf-8",
) -> ScoredList:
    """Candidates of a features file with the statistics of the scores file beside it.

    Args:
        features: the features file.
        scores: its scores file, with the same sentences in the same order.
        sparse_names: numbers sparse features; give the same for all files that belong together.
        encoding: of the names of features.

    Raises:
        UserError: a file of another kind or damaged; sentences or numbers of candidates that differ between the two.
    """
    sparse_names = Vocabulary() if sparse_names is None else sparse_names
    features, scores = os.fspath(features), os.fspath(scores)
    sections = list(_sections(features, _FEATURES, encoding))
    statistics = list(_sections(scores, _SCORES, encoding))
    _check_pairs(sections, statistics, features, scores)
    names = _names(sections, features)
    sparse = _sparse(sections, sparse_names)
    owner = np.repeat([s.sentence for s in sections], [s.count for s in sections]).astype(np.int32)
    return ScoredList(
        names,
        owner,
        np.concatenate([s.values for s in sections]),
        np.concatenate([_whole(s) for s in statistics]),
        metric(_METRIC).statistics_key(),
        sparse,
        sparse_names if len(sparse_names) else None,
        features,
    )


@dataclass
class _Section:
    """The candidates of one sentence: `values` (count, d) float64; `sparse` what stands behind them in each line."""

    place: Place
    sentence: int
    count: int
    labels: list[str]
    values: NDArray[np.float64]
    sparse: list[list[str]]


def _sections(path: str, kind: str, encoding: str) -> Iterator[_Section]:
    if path == STANDARD_INPUT:
        raise UserError(f"a {kind.lower()} file from standard input", path=path, expected="the name of a file")
    start = first_bytes(path, len(kind) + 4)
    if start == f"{kind}_BIN".encode():
        return _binary_sections(path, kind, encoding)
    if start == f"{kind}_TXT".encode():
        return _text_sections(path, kind, encoding)
    raise UserError(f"no {kind.lower()} file of Moses", path=path, expected=f"{kind}_TXT_BEGIN_0 at its start")


def _text_sections(path: str, kind: str, encoding: str) -> Iterator[_Section]:
    lines = enumerate(itertools.chain.from_iterable(b.text().split("\n")[:-1] for b in Blocks(path, encoding)), 1)
    for number, line in lines:
        place = Place(path, number)
        sentence, count, size, labels = _header(line, kind, "TXT", place)
        body = list(itertools.islice(lines, count))
        if len(body) < count:
            raise place.error(
                f"{len(body)} candidates of sentence {sentence}", expected=f"{count}; is the file cut off?"
            )
        values, rest = _matrix([text for _, text in body], size, path, number + 1)
        yield _Section(place, sentence, count, labels, values, rest)
        end = next(lines, (number, ""))
        if not end[1].startswith(f"{kind}_TXT_END"):
            raise Place(path, end[0]).error(f"sentence {sentence} does not end here", expected=f"{kind}_TXT_END_0")


def _matrix(lines: list[str], size: int, path: str, first_line: int) -> tuple[NDArray[np.float64], list[list[str]]]:
    """(n, size) numbers and, if there is more on some line, what stands behind them on each."""
    values = np.empty((len(lines), size))
    data = "".join(line + "\n" for line in lines).encode("utf-8")
    if read_matrix(np.frombuffer(data, dtype=np.uint8), values):
        return values, []
    rows = [tokens(line) for line in lines]
    for line, row in enumerate(rows, first_line):
        _check_row(row, size, Place(path, line))
    return np.array([list(map(float, row[:size])) for row in rows]), [row[size:] for row in rows]


def _check_row(row: list[str], size: int, place: Place) -> None:
    if len(row) < size:
        raise place.error(f"{len(row)} numbers", expected=str(size))
    for token in row[:size]:
        if not is_number(token):
            raise place.error(repr(token), expected="a number")
        finite(token, "a value", place)


def _binary_sections(path: str, kind: str, encoding: str) -> Iterator[_Section]:
    data = first_bytes(path, -1)
    end_mark = f"{kind}_BIN_END".encode()
    place = Place(path, None)
    at = 0
    while at < len(data):
        line_end = data.find(b"\n", at)
        header = _decoded(data[at:line_end], encoding, place) if line_end >= 0 else ""
        sentence, count, size, labels = _header(header, kind, "BIN", place)
        at = line_end + 1
        stop = at + count * size * _FLOAT.itemsize
        if data[stop : stop + len(end_mark)] != end_mark:
            raise place.error(
                f"sentence {sentence} does not end behind {count} candidates", remedy="is the file cut off?"
            )
        values = np.frombuffer(data[at:stop], dtype=_FLOAT).astype(np.float64).reshape(count, size)
        if not np.isfinite(values).all():
            raise place.error(f"a value of sentence {sentence} is not finite", expected="finite numbers")
        yield _Section(place, sentence, count, labels, values, [])
        line_end = data.find(b"\n", stop)
        at = line_end + 1 if line_end >= 0 else len(data)


def _decoded(header: bytes, encoding: str, place: Place) -> str:
    try:
        return header.decode(encoding)
    except (UnicodeError, LookupError) as error:
        raise place.error(f"the line before a sentence cannot be read ({error})", expected=f"{encoding} text") from None


def _header(line: str, kind: str, form: str, place: Place) -> tuple[int, int, int, list[str]]:
    mark, *fields = tokens(line) or [""]
    numbers = fields[:3]
    if not mark.startswith(f"{kind}_{form}_BEGIN") or len(numbers) < 3 or not all(map(_COUNT.fullmatch, numbers)):
        raise place.error(
            f"{line[:60]!r} begins no sentence", expected=f"{kind}_{form}_BEGIN_0 SENTENCE COUNT SIZE and names"
        )
    sentence, count, size = map(int, numbers)
    labels = fields[3:]
    for number, what in ((sentence, "sentence id"), (count, "number of candidates"), (size, "number of columns")):
        if number > MAX_ID:
            raise place.error(f"{what} {number}", expected=f"at most {MAX_ID}")
    if kind == _FEATURES and len(labels) != size:
        raise place.error(f"{len(labels)} names", expected=f"{size}, one for each feature")
    if kind == _SCORES and (labels != ["BLEU"] or size != _STATISTICS):
        raise place.error(f"scores {' '.join(labels)} with {size} numbers", expected=f"BLEU with {_STATISTICS}")
    return sentence, count, size, labels


def _check_pairs(features: list[_Section], scores: list[_Section], features_path: str, scores_path: str) -> None:
    for ours, theirs in itertools.zip_longest(features, scores):
        if ours is not None and theirs is not None and ours.sentence == theirs.sentence:
            if ours.count != theirs.count:
                raise theirs.place.error(
                    f"{theirs.count} candidates of sentence {theirs.sentence}",
                    expected=f"{ours.count}, as in {features_path}",
                )
            continue
        same_order = "the same sentences in the same order"
        if ours is not None:
            if ours.sentence not in {section.sentence for section in scores}:
                raise UserError(
                    f"sentence {ours.sentence} is missing", path=scores_path, expected=f"as in {features_path}"
                )
            if theirs is None:
                raise ours.place.error(f"sentence {ours.sentence} once more than in {scores_path}", expected=same_order)
        if theirs.sentence not in {section.sentence for section in features}:
            raise UserError(
                f"sentence {theirs.sentence} is missing", path=features_path, expected=f"as in {scores_path}"
            )
        have = "none" if ours is None else ours.sentence
        raise theirs.place.error(f"sentence {theirs.sentence} where {features_path} has {have}", expected=same_order)


def _names(sections: list[_Section], path: str) -> FeatureNames:
    first = sections[0].labels
    for section in sections:
        if section.labels != first:
            raise section.place.error(f"features {' '.join(section.labels)}", expected=f"{' '.join(first)}, as before")
    groups: list[tuple[str, int]] = []
    for label in first:
        name, _, index = label.rpartition("_")
        if not name or not index.isdecimal():
            raise UserError(f"feature {label}", path=path, expected="NAME_0, NAME_1, ...")
        if index == "0":
            groups.append((name, 1))
        elif groups and groups[-1] == (name, int(index)):
            groups[-1] = (name, int(index) + 1)
        else:
            raise UserError(f"feature {label} out of order", path=path, expected="NAME_0, NAME_1, ...")
    return FeatureNames(tuple(groups))


def _sparse(sections: list[_Section], names: Vocabulary) -> scipy.sparse.csr_array | None:
    """The sparse features of all candidates."""
    starts, columns, values = [0], [], []
    for section in sections:
        for k in range(section.count):
            entries = sorted(_entries(section, k, names).items()) if section.sparse else []
            columns += [column for column, value in entries if value]
            values += [value for _, value in entries if value]
            starts.append(len(columns))
    if not len(names):
        return None
    arrays = (np.array(values, dtype=np.float64), np.array(columns, dtype=np.int32), np.array(starts, dtype=np.int64))
    return scipy.sparse.csr_array(arrays, shape=(len(starts) - 1, len(names)))


def _entries(section: _Section, k: int, names: Vocabulary) -> dict[int, float]:
    """The sparse features of candidate k by column."""
    place = Place(section.place.path, None if section.place.line is None else section.place.line + 1 + k)
    row: dict[int, float] = {}
    for token in section.sparse[k]:
        name, _, value = token.rpartition("=")
        if not name or not is_number(value):
            raise place.error(repr(token), expected="NAME=VALUE")
        column = names.add(name)
        if column in row:
            raise place.error(f"feature {name} is there twice", expected="once")
        row[column] = finite(value, f"feature {name}", place)
    return row


def _whole(section: _Section) -> NDArray[Any]:
    values = section.values
    if (values != np.floor(values)).any() or (values < 0).any() or (values >= 2**31).any():
        raise section.place.error(f"BLEU statistics of sentence {section.sentence}", expected="whole numbers from 0")
    if any(section.sparse):
        raise section.place.error(f"more numbers than {_STATISTICS} for sentence {section.sentence}")
    if (values[:, 0:8:2] > values[:, 1:8:2]).any():
        raise section.place.error(
            f"more matches than n-grams in the BLEU statistics of sentence {section.sentence}",
            expected="match1 total1 ... match4 total4 and the reference length",
        )
    return values.astype(np.int32)
