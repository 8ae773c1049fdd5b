"""A JSON object a line: one for every sentence with its hypotheses, or one for every hypothesis.

    {"id": 0, "hypotheses": [{"text": "a house", "score": -1.5, "features": {"lm": -2, "tm": [-1, -3]}}, ...]}
    {"id": 0, "text": "a house", "score": -1.5, "lm": -2}

The list of hypotheses is also called ``translations`` or ``nbest``, and may be one of texts; their totals then stand
in ``scores``. A text is also called ``translation`` or ``hypothesis``. Besides ``features`` every number (or list of
numbers) under a name of its own is a dense feature; ``sparse`` is an object of sparse ones. The sentence's number is
its place in the file where there is no ``id`` (``sentence``, ``sentence_id``, ``source_id``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lasw.tuning.formats.nbest.layout import Fields, Group, NBestLayout, Place, by_sentence, only_score, shortened
from lasw.tuning.nbest import NBest

LISTS = ("hypotheses", "translations", "nbest")
TEXTS = ("text", "translation", "hypothesis")
IDS = ("id", "sentence", "sentence_id", "source_id")
_EXPECTED = '{"id": 0, "hypotheses": [{"text": "...", "score": -1.5, "features": {...}}, ...]}'


class JsonLinesLayout(NBestLayout):
    """Written with an object for every sentence."""

    @classmethod
    def detects(cls, line: str) -> bool:
        """See `NBestLayout`."""
        return line.lstrip().startswith("{") and "|||" not in line.partition('"')[0]

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self._sentences = 0

    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        """Those of the sentence, or the one."""
        data = parsed(line, place)
        key = next((key for key in LISTS if isinstance(data.get(key), list)), None)
        number = self._number(data, place, needed=key is None)
        self._sentences += 1
        if key is None:
            return (_one(data, number, place),)
        scores = data.get("scores")
        many = data[key]
        if scores is not None and (not isinstance(scores, list) or len(scores) != len(many)):
            raise place.error(f"{_count(scores)} scores", expected=f"{len(many)}, one for each of {key}")
        return [
            _one(one if isinstance(one, dict) else {"text": one}, number, place, scores[k] if scores else None)
            for k, one in enumerate(many)
        ]

    def _number(self, data: Mapping[str, Any], place: Place, *, needed: bool) -> int:
        found = next((data[key] for key in IDS if key in data), None)
        if found is None:
            if needed:
                raise place.error("a hypothesis without the number of its sentence", expected='"id": 0, 1, ...')
            return self._sentences
        if isinstance(found, bool) or not isinstance(found, (int, str)):
            raise place.error(f"id {shortened(json.dumps(found))}", expected="a whole number, or text")
        return self.sentence(str(found), place)

    def text(self, nbest: NBest, path: str | os.PathLike[str] | None) -> Iterator[str]:
        """See `NBestLayout`."""
        for sentence, rows in by_sentence(nbest):
            line = {"id": sentence, "hypotheses": [_object(nbest, k) for k in rows]}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # mostly one of two, which make a character


def parsed(line: str, place: Place) -> dict[str, Any]:
    """The object on a line.

    Raises:
        UserError: there is none.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        detail = f" ({error.msg}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise place.error(f"no JSON: {shortened(line)}{detail}", expected=_EXPECTED) from None
    if not isinstance(data, dict):
        raise place.error(f"{shortened(line)} is no JSON object", expected=_EXPECTED)
    if _HALF.search(line) and re.search("[\ud800-\udfff]", json.dumps(data, ensure_ascii=False)):
        raise place.error(f"{shortened(line)} has half a character (\\ud800 to \\udfff)", expected="text")
    return data


def _one(data: Mapping[str, Any], number: int, place: Place, score: Any = None) -> Fields:
    key = next((key for key in TEXTS if key in data), None)
    text = None if key is None else data[key]
    if not isinstance(text, str):
        raise place.error("a hypothesis without text" if text is None else f"{key} is no text", expected=_EXPECTED)
    if "\n" in text or "\r" in text:
        raise place.error(f"{shortened(text)} has a line break", expected="a hypothesis on one line")
    if score is None:
        score = data.get("score")
    groups = [
        *_groups(data.get("features", {}), place, dense=True),
        *_groups({name: value for name, value in data.items() if _is_feature(name, value)}, place, dense=True),
        *_groups(data.get("sparse", {}), place, dense=False),
    ]
    total = None if score is None else _numbers("score", score, place)
    if total is not None and len(total) != 1:
        raise place.error(f"score has {len(total)} values", expected="one number")
    return Fields(number, text, groups or None, [], total[0] if total else None)


def _is_feature(name: str, value: Any) -> bool:
    """Whether something beside the known keys is a number, or a list of them."""
    if name in (*LISTS, *TEXTS, *IDS, "score", "scores", "features", "sparse"):
        return False
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in values)


def _groups(data: Any, place: Place, *, dense: bool) -> list[Group]:
    if isinstance(data, list):
        data = {"F": data}
    if not isinstance(data, dict):
        raise place.error(f"features {shortened(json.dumps(data))}", expected='{"NAME": NUMBER, ...}')
    return [Group(name, _numbers(name, value, place), dense=dense) for name, value in data.items()]


def _numbers(name: str, value: Any, place: Place) -> list[str]:
    values = value if isinstance(value, list) else [value]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, (int, float)):
            raise place.error(f"{name} is {shortened(json.dumps(one))}", expected="a number")
    return [str(one) if isinstance(one, int) else repr(one) for one in values]


def _count(scores: Any) -> str:
    return str(len(scores)) if isinstance(scores, list) else "no list of"


def _object(nbest: NBest, row: int) -> dict[str, Any]:
    found: dict[str, Any] = {"text": nbest.hypotheses.text(row), "score": float(nbest.score[row])}
    if not only_score(nbest.names) and len(nbest.names):
        values = nbest.dense[row].tolist()
        found["features"] = {
            name: values[place] if place.stop - place.start > 1 else values[place.start]
            for name, place in nbest.names.slices.items()
        }
    if nbest.sparse is not None and nbest.sparse_names is not None:
        first, last = nbest.sparse.indptr[row], nbest.sparse.indptr[row + 1]
        names = [nbest.sparse_names[column] for column in nbest.sparse.indices[first:last].tolist()]
        found["sparse"] = dict(sorted(zip(names, nbest.sparse.data[first:last].tolist(), strict=True)))
    return found
