"""Made-up N-best lists as a neural reranker has them: nothing is fetched, and each score knows something else."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

_SUBJECTS = "the old man,a young woman,our neighbour,the captain of the ship,my little sister,the driver,every child"
_VERBS = "is reading,has found,would like to sell,was looking for,has forgotten,is painting,wanted to buy"
_OBJECTS = (
    "the letter,a red bicycle,his grandfather's watch,the last ticket,an interesting book,some apples,the blue car"
)
_PLACES = "in the garden,at the station,behind the church,near the river,on the second floor,in front of the house"
_TIMES = "this morning,every day,before the rain came,after dinner,in spite of the cold,for the first time,again"
_FREE = {"the": "this", "a": "one", "an": "one", "some": "several", "is": "was", "has": "had", "his": "her"}
_WRONG = ("it", "of", "and", "house", "table", "that", "go")
_LOST, _WORD, _ORDER = range(3)
_ERRORS = 7  # that the model tends to make in a sentence, each in a share of the hypotheses of its own
HYPOTHESES = 16


@dataclass
class MadeLists:
    """Lists of sentences and their references.

    Attributes:
        references: a text a sentence.
        hypotheses: some texts of each, the model's favourite first.
        features: a number for every hypothesis, sentence by sentence: ``score``, the model's log-probability, likes
            short texts; ``reverse``, of a model of the other direction, misses what is left out; ``lm`` minds the order
            of words and nothing else; ``qe``, an estimate of quality between 0 and 1, knows a little of everything.
    """

    references: list[str] = field(default_factory=list)
    hypotheses: list[list[str]] = field(default_factory=list)
    features: dict[str, list[list[float]]] = field(
        default_factory=lambda: {name: [] for name in ("score", "reverse", "lm", "qe")}
    )


def made_lists(sentences: int, seed: int) -> MadeLists:
    """Lists of so many sentences.

    Args:
        sentences: how many.
        seed: of all that is drawn.
    """
    draw, made = np.random.default_rng(seed), MadeLists()
    parts = [text.split(",") for text in (_SUBJECTS, _VERBS, _OBJECTS, _PLACES, _TIMES)]
    for _ in range(sentences):
        words = " ".join(part[draw.integers(len(part))] for part in parts).split()
        free = [_FREE.get(word, word) if draw.random() < 0.5 else word for word in words]
        made.references.append(" ".join([*free, "."]))
        errors = _errors(words, draw)
        drawn = [_hypothesis(words, errors, draw) for _ in range(HYPOTHESES)]
        drawn.sort(key=lambda one: -one[1]["score"])
        made.hypotheses.append([text for text, _ in drawn])
        for name, values in made.features.items():
            values.append([round(features[name], 4) for _, features in drawn])
    return made


def _errors(words: list[str], draw: np.random.Generator) -> list[tuple[int, int, float, str]]:
    """Place, kind, how often, and the wrong word, from right to left: what is done does not move what is to be done."""
    places = sorted(draw.choice(len(words) - 1, _ERRORS, replace=False).tolist(), reverse=True)
    return [
        (place, int(draw.integers(3)), 0.1 + 0.6 * float(draw.random()), _WRONG[draw.integers(len(_WRONG))])
        for place in places
    ]


def _hypothesis(
    words: list[str], errors: list[tuple[int, int, float, str]], draw: np.random.Generator
) -> tuple[str, dict[str, float]]:
    """A text with some of the errors, and what the four scores see of them."""
    said, made = list(words), [0, 0, 0]
    for place, kind, often, word in errors:
        if draw.random() < often:
            said[place : place + 2] = {
                _LOST: said[place + 1 : place + 2],
                _WORD: [word, *said[place + 1 : place + 2]],
                _ORDER: said[place : place + 2][::-1],
            }[kind]
            made[kind] += 1
    noise = draw.normal(size=4)
    features = {
        "score": -0.9 * len(said) - 1.5 * made[_WORD] - 0.5 * made[_ORDER] + noise[0],
        "reverse": -0.8 * len(words) - 2.0 * made[_LOST] - made[_WORD] + noise[1],
        "lm": -1.1 * len(said) - 2.0 * made[_ORDER] - made[_WORD] + noise[2],
        "qe": 1 / (1 + math.exp(0.8 * sum(made) - 2 + noise[3])),
    }
    return " ".join([*said, "."]), features
