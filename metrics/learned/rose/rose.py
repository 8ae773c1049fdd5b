"""ROSE: a trained linear metric of simple features (Song & Cohn 2011; Song 2015, ch. 3.1).

``ROSE:model=FILE[:step=S]``, FILE as ``lasw train-metric rose`` wrote it. It does not decompose: the corpus score is
the mean of the sentence scores.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.base import LARGEST, MeanMetric, Signature
from lasw.metrics.errors import UserError
from lasw.metrics.learned.json_model import TrainedMetric, finite_numbers, model_file, open_model, strings
from lasw.metrics.learned.rose.characters import MOST_CHARACTERS
from lasw.metrics.learned.rose.features import PreparedReferences, RoseFeatures
from lasw.metrics.learned.tagging import tagged, tagger
from lasw.metrics.registry import NotNegative, check_options
from lasw.metrics.text import Corpus, References, Vocabulary

ROSE_KINDS = ("rank", "reg")
_STEP = 1 << 14  # hypotheses at once, so that their features stay in the processor's cache


@dataclass(frozen=True)
class RoseModel(TrainedMetric):
    """A linear model of d features (thesis 3.1.1): score = sum of weights * (features - mean) / scale + intercept.

    Attributes:
        kind: ``rank`` or ``reg``.
        features: which features, in which order, and how they are counted.
        weights, mean, scale: d numbers each.
        intercept: of the score.
        language: of the function words, free text.
        tagger: name of the tagger that tags plain text; empty: the text comes tagged, or there are no tags.
    """

    format = "lasw ROSE model"

    kind: str
    features: RoseFeatures
    weights: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    intercept: float
    language: str = ""
    text: dict[str, str] = field(default_factory=dict, hash=False)
    tagger: str = ""
    training: dict[str, Any] = field(default_factory=dict, hash=False)

    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that differ for models that score differently."""
        return self.digest("language")

    def values(self, path: str | Path) -> dict[str, Any]:
        """See `TrainedMetric`."""
        values = dataclasses.asdict(self)
        settings: dict[str, Any] = values.pop("features")
        values["features"] = list(self.features.names)
        if not self.features.characters:  # as files have it that are older than these features
            del settings["characters"]
        return values | settings

    def slopes(self) -> tuple[list[float], float]:
        """Weights of the features as they are, and what is added: the scaling multiplied in."""
        slopes = [w / s for w, s in zip(self.weights, self.scale, strict=True)]
        return slopes, self.intercept - math.fsum(w * m for w, m in zip(slopes, self.mean, strict=True))


def read_rose(path: str | Path) -> RoseModel:
    """Read what `write_trained_metric` wrote.

    Raises:
        UserError: no such file, not a model, of another version, or a value of it is wrong; it names the value.
    """
    get = open_model(path, RoseModel)
    features = RoseFeatures(
        function_words=tuple(get("function_words", list, strings, "a list of words")),
        pos=get("pos", bool),
        clip=get("clip", bool),
        ratio=get("ratio", bool),
        characters=get("characters", int, range(1, MOST_CHARACTERS + 1).__contains__, f"1 to {MOST_CHARACTERS}")
        if "characters" in get
        else 0,
    )
    names = list(features.names)
    if get("features", list, strings, "a list of names") != names:
        raise UserError("features that this version does not have in that order", path=path, expected=", ".join(names))
    numbers = f"{len(names)} finite numbers"
    vectors: dict[str, Any] = {
        key: tuple(map(float, get(key, list, lambda x: len(x) == len(names) and finite_numbers(x), numbers)))
        for key in ("weights", "mean", "scale")
    }
    if min(vectors["scale"]) < 1 / LARGEST:
        raise UserError(f"scale {min(vectors['scale'])}", path=path, expected="numbers above 0")
    return RoseModel(
        kind=get("kind", str, ROSE_KINDS.__contains__, " or ".join(ROSE_KINDS)),
        features=features,
        intercept=float(get("intercept", (int, float), lambda x: finite_numbers([x]), "a finite number")),
        language=get("language", str),
        tagger=get("tagger", str),
        **vectors,
        **get.history(),
    )


@dataclass(frozen=True)
class PreparedRose:
    """What `Rose.prepare` makes of the references: see `RoseFeatures`, and what tags plain text, if need be."""

    references: PreparedReferences
    tagging: Tagging | None


@dataclass(frozen=True)
class Rose(MeanMetric):
    """ROSE with a trained model.

    Args:
        model: as `read_rose` gives it.
        step: scores are rounded to its multiples, so that differences too small to mean anything are ties; 0 for none.
            WMT13's tau, which leaves the metric's ties out, rises with it; WMT14's, which counts them, does not.

    Scores of a model trained by ranking are scaled in training: 0 without any match at the reference's length and mix
    of words, 1 for the reference itself (of 4 words or more); they may be beyond. Those of a regression are on the
    scale of the judgements.

    Statistics: (n, 2) float64, sentence score and 1.
    """

    model: RoseModel
    step: NotNegative = 0.0

    name = "ROSE"

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def display_scale(self) -> float:  # type: ignore[override]
        """100 for ranking models; judgements stay on the scale people used."""
        return 100.0 if self.model.kind == "rank" else 1.0

    def signature(self) -> Signature:
        """Kind and fingerprint of the model, how features are counted, how its training text was prepared."""
        model, features = self.model, self.model.features
        settings = [
            *([("step", f"{self.step:g}")] if self.step else []),
            ("kind", model.kind),
            ("model", model.fingerprint()),
            ("clip", "yes" if features.clip else "no"),
            ("counts", "ratio" if features.ratio else "difference"),
            ("pos", (model.tagger or "in-text") if features.pos else "no"),
            *([("characters", str(features.characters))] if features.characters else []),
            *model.settings_of_text(),
        ]
        return Signature(self.name, tuple(settings))

    def prepare(self, references: References) -> PreparedRose:
        """Count the references' words, and tag them if the model has a tagger."""
        tagging = Tagging(tagger(self.model.tagger)) if self.model.tagger else None
        if tagging:
            references = References(tuple(map(tagging.tagged, references.corpora)))
        return PreparedRose(self.model.features.prepare(references), tagging)

    def features(self, hypotheses: Corpus, prepared: PreparedRose, owner: NDArray[np.integer]) -> NDArray[np.float64]:
        """(n, d) features of n hypotheses; arguments as `statistics`."""
        if prepared.tagging:
            hypotheses = prepared.tagging.tagged(hypotheses)
        return self.model.features.matrix(hypotheses, prepared.references, owner)

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[np.float64]:
        """Score and 1."""
        slopes, constant = self.model.slopes()
        out = np.ones((len(hypotheses), 2))
        owner = np.asarray(owner)
        for start in range(0, len(hypotheses), _STEP):
            rows = slice(start, start + _STEP)
            part = _rows(hypotheses, start, start + _STEP)
            out[rows, 0] = constant
            # Column by column, not as one product: so that the sums do not depend on how many rows there are.
            for slope, column in zip(slopes, self.features(part, prepared, owner[rows]).T, strict=True):
                out[rows, 0] += slope * column
        if self.step:
            out[:, 0] = np.rint(out[:, 0] / self.step) * self.step
        return out


@dataclass(frozen=True)
class Tagging:
    """Tags plain text, every distinct sentence once.

    Args:
        tag: from the words of a sentence to their tags.
    """

    tag: Callable[[list[str]], list[str]]
    _vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False)
    _known: dict[str, str] = field(default_factory=dict, repr=False)

    def tagged(self, corpus: Corpus) -> Corpus:
        """The corpus with ``word|TAG`` tokens, over a vocabulary that all that was tagged here shares."""
        lines = [corpus.text(k) for k in range(len(corpus))]
        new = list(dict.fromkeys(line for line in lines if line not in self._known))
        self._known.update(zip(new, tagged(new, self.tag, path=corpus.path or "text"), strict=True))
        return Corpus.from_lines((self._known[line] for line in lines), self._vocabulary)


def _rows(corpus: Corpus, start: int, end: int) -> Corpus:
    """Sentences start to end - 1, the same arrays seen in part."""
    offsets = corpus.offsets[start : end + 1]
    return Corpus(corpus.ids[offsets[0] : offsets[-1]], offsets - offsets[0], corpus.vocabulary, corpus.path)


def from_file(model: str = "", step: NotNegative = 0.0) -> Rose:
    """The metric of ``ROSE:model=FILE:step=S``.

    Raises:
        UserError: no model, or one that cannot be read.
    """
    return Rose(read_rose(model_file(Rose.name, model)), step)
