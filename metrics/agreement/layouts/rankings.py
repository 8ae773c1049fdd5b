"""WMT's rankings as CSV: a person ranked some systems' translations of a segment, five as a rule.

The columns, in any order and capitals: ``srclang trglang srcIndex judgeId`` and for k = 1, 2, ...: ``systemkId
systemkrank``; others are ignored. Rank 1 is best, equal ranks are a tie, -1 is none; each two systems ranked together
are a comparison. ``srcIndex`` is the segment, counted from 1. A system's name may have the test set and the language
pair around it (``newstest2013.cs-en.uedin``, ``newstest2014.uedin.12.cs-en``). The texts are in a folder, as
`read_judgements` has them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lasw.metrics.agreement.judgements import Judgements, Vote, judgements_of, read_systems_texts, segment_number
from lasw.metrics.agreement.layouts.commas import csv_rows
from lasw.metrics.agreement.layouts.registry import other_layouts
from lasw.metrics.errors import UserError

_NEEDED = ("srcindex", "system1id", "system2id", "system1rank", "system2rank")
_AROUND = re.compile(r"^newstest\d{4}\.|^newsdev\d{4}\.|\.[a-z]{2,3}-[a-z]{2,3}$|^[a-z]{2,3}-[a-z]{2,3}\.|\.txt$")
_REFERENCES = ("_ref", "ref", "reference")


@dataclass(frozen=True)
class _Ranking:
    line: int
    segment: str
    judge: str
    ranks: tuple[tuple[str, int], ...]


def read_rankings(
    path: str | Path,
    folder: str | Path,
    *,
    preprocess: Callable[[str], str] | None = None,
    encoding: str = "utf-8",
) -> Judgements:
    """Read the rankings that are about the systems of a folder.

    Args:
        path: the CSV file; of several language pairs that one is taken whose systems are in the folder.
        folder: with ref.txt and hyp/.
        preprocess: of every line of text.
        encoding: of all files.

    Raises:
        UserError: a column is missing, a line is wrong, no language pair or several have the folder's systems.
    """
    evaluation, names = read_systems_texts(Path(folder), preprocess, encoding)
    pairs = _read(path, encoding)
    fitting = [pair for pair, rankings in pairs.items() if _about(rankings, names)]
    if len(fitting) != 1:
        told = {" ".join(pair) or "all": _unknown(rankings, names) for pair, rankings in pairs.items()}
        found = "; ".join(f"{pair}: no text of {name}" for pair, name in told.items() if name)
        raise UserError(
            found or f"rankings of {len(fitting)} language pairs of these systems",
            path=path,
            expected=f"rankings of the systems in {folder}/hyp",
        )
    votes: list[Vote] = []
    with_reference = 0
    n = len(evaluation.references)
    for ranking in pairs[fitting[0]]:
        segment = segment_number(ranking.segment)
        if not 1 <= segment <= n:
            expected = f"a number from 1 to {n}"
            raise UserError(f"segment {ranking.segment!r}", path=path, line=ranking.line, expected=expected)
        for (first, a), (second, b) in itertools.combinations(ranking.ranks, 2):
            one, other = _name(first, names), _name(second, names)
            if one is None or other is None:
                with_reference += 1
            elif one != other:
                votes.append(
                    Vote(segment - 1, names.index(one), names.index(other), int(np.sign(b - a)), ranking.judge)
                )
    return judgements_of(Path(folder).resolve().name, names, evaluation, votes, with_reference)


def _read(path: str | Path, encoding: str) -> dict[tuple[str, ...], list[_Ranking]]:
    """The rankings by language pair."""
    rows = csv_rows(path, encoding)
    header = [name.strip().lower() for name in rows[0]] if rows else []
    missing = next((name for name in _NEEDED if name not in header), None)
    if missing is not None:
        expected = "a first line with srcIndex, system1Id, system1rank, ..., commas between"
        raise UserError(
            f"no column {missing!r}", path=path, line=1, expected=expected, remedy=other_layouts("--rankings")
        )
    numbers = [match[1] for name in header if (match := re.fullmatch(r"system(\d+)id", name))]
    ranked = sorted((number for number in numbers if f"system{number}rank" in header), key=int)
    pairs: dict[tuple[str, ...], list[_Ranking]] = {}
    for number, fields in enumerate(rows[1:], start=2):
        if len(fields) != len(header):
            raise UserError(f"{len(fields)} columns", path=path, line=number, expected=f"{len(header)}")
        row = dict(zip(header, fields, strict=True))
        ranks = []
        for k in ranked:
            name, text = row[f"system{k}id"].strip(), row[f"system{k}rank"].strip()
            if not re.fullmatch(r"-1|0*[1-9][0-9]{0,5}", text):
                raise UserError(f"rank {text!r}", path=path, line=number, expected="a number from 1, or -1 for none")
            if name and text != "-1":
                ranks.append((name, int(text)))
        pair = tuple(row[name] for name in ("srclang", "trglang") if name in row)
        ranking = _Ranking(number, row["srcindex"].strip(), row.get("judgeid", ""), tuple(ranks))
        pairs.setdefault(pair, []).append(ranking)
    if not pairs:
        raise UserError("no rankings", path=path, expected="a line a ranking")
    return pairs


def _name(text: str, names: Sequence[str]) -> str | None:
    """The system of the folder that is meant; None for the reference; an empty one if there is none."""
    if text in names:
        return text
    bare = text
    while (shorter := _AROUND.sub("", bare)) != bare:
        bare = shorter
        if bare in names:
            return bare
    return None if bare.lower() in _REFERENCES else ""


def _unknown(rankings: Sequence[_Ranking], names: Sequence[str]) -> str:
    """A system that the folder has no text of; empty if there is none."""
    return next((name for name in sorted({x for r in rankings for x, _ in r.ranks}) if _name(name, names) == ""), "")


def _about(rankings: Sequence[_Ranking], names: Sequence[str]) -> bool:
    return not _unknown(rankings, names)
