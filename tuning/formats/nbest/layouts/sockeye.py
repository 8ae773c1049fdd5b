"""Sockeye's ``--output-type json`` with ``--nbest-size``: an object a sentence, texts and scores side by side.

    {"sentence_id": 1, "translation": "...", "score": 0.9, "translations": ["...", "..."], "scores": [[0.9], [1.1]]}

Scores are costs there, negative logarithms of probabilities: totals here are their negatives, so that more is better.
The sentences are those of the input in their order, whatever the ids.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from lasw.metrics import UserError
from lasw.tuning.formats.nbest.layout import Fields, NBestLayout, Place, by_sentence
from lasw.tuning.formats.nbest.layouts.json_lines import parsed
from lasw.tuning.nbest import NBest

_KEYS = ('"sentence_id"', '"translation"', '"translations"', '"scores"')


class SockeyeLayout(NBestLayout):
    """Written with ids from 1 and one score a hypothesis, as Sockeye's command does."""

    holds = frozenset(("score",))

    def __init__(self, options: Any = None) -> None:
        super().__init__(options)
        self._sentences = 0

    @classmethod
    def detects(cls, line: str) -> bool:
        """See `NBestLayout`."""
        return line.lstrip().startswith("{") and all(key in line for key in _KEYS)

    def hypotheses(self, line: str, place: Place) -> Sequence[Fields]:
        """Those of the next sentence."""
        data = parsed(line, place)
        texts, scores = data.get("translations"), data.get("scores")
        if not isinstance(texts, list) or not isinstance(scores, list) or len(texts) != len(scores):
            expected = '"translations" and "scores", lists of one length'
            raise place.error("no N-best list", expected=expected, remedy="was Sockeye run with --nbest-size above 1?")
        found = [Fields(self._sentences, *_hypothesis(*pair, place)) for pair in zip(texts, scores, strict=True)]
        self._sentences += 1
        return found

    def text(self, nbest: NBest, path: str | os.PathLike[str] | None) -> Iterator[str]:
        """See `NBestLayout`; features are left to others."""
        for expected, (sentence, rows) in enumerate(by_sentence(nbest)):
            if sentence != expected:
                raise UserError(f"no hypotheses for sentence {expected}", path=path, expected="some for every sentence")
            texts = [nbest.hypotheses.text(k) for k in rows]
            costs = [[-score] for score in nbest.score[rows.start : rows.stop].tolist()]
            line: dict[str, Any] = {"sentence_id": sentence + 1, "translation": texts[0], "score": costs[0][0]}
            line |= {"translations": texts, "scores": costs}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _hypothesis(text: Any, score: Any, place: Place) -> tuple[str, None, list[str], str]:
    first = score[0] if isinstance(score, list) and score else score
    if not isinstance(text, str) or isinstance(first, bool) or not isinstance(first, (int, float)):
        raise place.error(
            f"{json.dumps(text)[:40]} with score {json.dumps(score)[:40]}", expected="a text and a number"
        )
    return text, None, [], repr(-float(first))
