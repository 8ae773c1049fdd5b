"""A trained pairwise network: its inputs, how they are scaled, its weights, as one JSON file."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lasw.metrics.errors import UserError
from lasw.metrics.learned.json_model import ModelFile, TrainedMetric, finite_numbers, open_model, strings
from lasw.metrics.learned.pairwise.inputs import SENTENCES, WORDS, PairwiseInputs
from lasw.metrics.learned.pairwise.network import Floats, Network, Shape, sigmoid
from lasw.metrics.registry import named_in
from lasw.metrics.vectors import described

_KINDS = re.compile(f"none|({WORDS}|{SENTENCES})([+]{SENTENCES})*")


@dataclass(frozen=True)
class Scaling:
    """Maps what was seen in training onto [-1, 1], number by number; constants onto 0.

    Attributes:
        vector_low, vector_high: (d,) least and largest number of all sentence vectors, references' included.
        skip_low, skip_high: (k,) of all skip features.
    """

    vector_low: Floats
    vector_high: Floats
    skip_low: Floats
    skip_high: Floats

    @classmethod
    def of(cls, vectors: Floats, references: Floats, skip: Floats) -> Scaling:
        """Of the vectors (n, d) and (s, d) and the skip features (n, k) of a training set."""
        both = np.concatenate([vectors, references])
        return cls(both.min(axis=0), both.max(axis=0), skip.min(axis=0), skip.max(axis=0))

    def vectors(self, vectors: Floats) -> Floats:
        """Scaled sentence vectors."""
        return _onto_unit(vectors, self.vector_low, self.vector_high)

    def skip(self, skip: Floats) -> Floats:
        """Scaled skip features."""
        return _onto_unit(skip, self.skip_low, self.skip_high)


def _onto_unit(values: Floats, low: Floats, high: Floats) -> Floats:
    span = high - low
    scaled = np.divide(values - low, span, out=np.full(values.shape, 0.5), where=span > 0)
    return np.asarray(2 * scaled - 1)


@dataclass(frozen=True, eq=False)
class Seen:
    """What the network knows of n translations of s segments.

    Attributes:
        projected: (n, 4H), see `Network.projected`.
        skipped: (n, 2).
        references: (n, 2H) of each translation's segment.
    """

    projected: Floats
    skipped: Floats
    references: Floats


@dataclass(frozen=True, eq=False)
class PairwiseModel(TrainedMetric):
    """A network with its inputs.

    Attributes:
        inputs: sentence vectors and skip features.
        network: trained.
        scaling: of the inputs.
        opponent: (k,) scaled skip features of the average translation of the training set.
        vectors: name and fingerprint of each file of vectors.
    """

    format = "lasw pairwise model"

    inputs: PairwiseInputs
    network: Network
    scaling: Scaling
    opponent: Floats
    text: dict[str, str] = field(default_factory=dict)
    vectors: tuple[str, ...] = ()
    training: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.vectors:
            object.__setattr__(self, "vectors", tuple(described(path) for _, path in self.inputs.files))

    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that differ for models that decide differently."""
        return self.digest("file", vectors=_one_or_all([_content(x) for x in self.vectors]))

    def values(self, path: str | Path) -> dict[str, Any]:
        """See `TrainedMetric`; files of vectors are named as seen from the model."""
        inputs, folder = self.inputs, os.path.dirname(os.path.abspath(path))
        return {
            "kind": "+".join(kind for kind, _ in inputs.files) or "none",
            "vectors": _one_or_all(list(self.vectors)),
            "file": _one_or_all([os.path.relpath(file, folder) for _, file in inputs.files]),
            "skip": list(inputs.skip),
            "signature": inputs.signature(),
            "size": self.network.shape.d,
            "hidden": self.network.shape.H,
            **{key: array.tolist() for key, array in vars(self.scaling).items()},
            "opponent": self.opponent.tolist(),
            "theta": self.network.theta.tolist(),
            "text": self.text,
            "training": self.training,
        }

    def seen(self, vectors: Floats, skip: Floats, references: Floats) -> Seen:
        """What decisions need of n translations.

        Args:
            vectors: (n, d) of the translations, not scaled, as all that follow.
            skip: (n, k).
            references: (n, d) of each translation's segment.
        """
        return Seen(
            self.network.projected(self.scaling.vectors(vectors)),
            self.network.skipped(self.scaling.skip(skip)),
            self.network.projected_references(self.scaling.vectors(references)),
        )

    def decide(self, seen: Seen, first: Any, second: Any) -> Floats:
        """(m,) probabilities that translation `first[i]` is better than `second[i]` of the same segment.

        They are the network's output for this order; that for the other is not exactly one minus it.

        Args:
            first: (m,) rows of `seen`.
            second: (m,) rows of `seen`.
        """
        return sigmoid(
            self.network.logits(
                seen.projected[first],
                seen.projected[second],
                seen.references[first],
                seen.skipped[first],
                seen.skipped[second],
            )
        )

    def scores(self, seen: Seen, vectors: Floats) -> Floats:
        """(n,) probabilities to be better than the average translation, see `Pairwise`.

        Args:
            vectors: (n, d) of each translation's reference, not scaled: the opponent's own vector.
        """
        opponent = self.network.projected(self.scaling.vectors(vectors))
        skipped = np.repeat(self.network.skipped(self.opponent[None]), len(vectors), axis=0)
        ours = (seen.projected, seen.skipped)
        first = self.network.logits(ours[0], opponent, seen.references, ours[1], skipped)
        second = self.network.logits(opponent, ours[0], seen.references, skipped, ours[1])
        return sigmoid((first - second) / 2)

    def mean_wins(self, seen: Seen) -> Floats:
        """(n,) mean probability of each of n translations of one segment to be better than each other one.

        Both orders are asked, p(i, j) and 1 - p(j, i); 0.5 for a translation without others.
        """
        n = len(seen.projected)
        if n < 2:
            return np.full(n, 0.5)
        first, second = np.divmod(np.arange(n * n), n)
        wins = self.decide(seen, first, second).reshape(n, n)
        wins = (wins + 1 - wins.T) / 2
        return np.asarray((wins.sum(axis=1) - np.diag(wins)) / (n - 1))


def read_pairwise(path: str | Path, file: str = "", *, files: bool = False) -> PairwiseModel:
    """Read what `write_trained_metric` wrote.

    Args:
        path: of the model.
        file: of vectors, where it has moved since; of several all of them, in order, commas between.
        files: its skip features may open files.

    Raises:
        UserError: no such file, not a model, of another version, a value of it is wrong, the vectors are not those
            it was trained with, or a skip feature is not for it to name.
    """
    get = open_model(path, PairwiseModel)
    skip = tuple(get("skip", list, strings, "specifications of metrics"))
    where = _located(get, path, file)
    of_words = "".join(name for kind, name in where if kind == WORDS)  # there is one at most
    of_sentences = tuple(name for kind, name in where if kind == SENTENCES)
    with named_in(path, files=files):
        inputs = PairwiseInputs(skip, of_words, of_sentences)
    if get("signature", str) != inputs.signature():
        raise UserError(
            "skip features that this version computes in another way", path=path, expected=inputs.signature()
        )
    d, H = (get(key, int, lambda x: x >= 0, "a number of at least 0") for key in ("size", "hidden"))
    shape = Shape(d, inputs.width, H)
    network = Network(_numbers(get, "theta", shape.parameters), shape)
    lows_and_highs = (("vector_low", d), ("vector_high", d), ("skip_low", shape.k), ("skip_high", shape.k))
    scaling = Scaling(*(_numbers(get, key, size) for key, size in lows_and_highs))
    return PairwiseModel(inputs, network, scaling, _numbers(get, "opponent", shape.k), **get.history())


def _located(get: ModelFile, path: str | Path, file: str) -> list[tuple[str, str]]:
    """Kind and path of each file of vectors: as given, or where it was seen from the model in training."""
    expected = f"{WORDS}, {SENTENCES}, or several with a + between, or none"
    kinds = [x for x in get("kind", str, lambda x: bool(_KINDS.fullmatch(x)), expected).split("+") if x != "none"]
    named, seen = _strings(get, "vectors", len(kinds)), _strings(get, "file", len(kinds))
    remedy = f"say where it is: PAIRWISE:model=FILE:vectors={','.join(['FILE'] * len(kinds))}"
    given = file.split(",") if len(kinds) > 1 and file else [file] * bool(file)
    if given and len(given) != len(kinds):
        raise UserError(f"{len(given)} files of vectors", path=path, expected=", ".join(named) or "none", remedy=remedy)
    places = given or [os.path.normpath(os.path.join(os.path.dirname(os.fspath(path)), one)) for one in seen]
    for where, expected in zip(places, named, strict=True):
        if not os.path.isfile(where):
            raise UserError(f"no such file of vectors, {where}", path=path, expected=expected, remedy=remedy)
        present = described(where)
        if _content(present) != _content(expected):
            raise UserError(f"trained with other vectors than {present}", path=path, expected=expected, remedy=remedy)
    return list(zip(kinds, places, strict=True))


def _one_or_all(values: list[str]) -> str | list[str]:
    """What a model file has: one string, or a list where there are several; empty without any."""
    return values if len(values) > 1 else "".join(values)


def _strings(get: ModelFile, key: str, size: int) -> list[str]:
    """What `_one_or_all` made of `size` strings."""
    if size > 1:
        return list(get(key, list, lambda x: strings(x) and len(x) == size, f"{size} strings"))
    return [get(key, str)] * size


def _content(vectors: str) -> str:
    """The part of a description that says what is in the file, not what it is called."""
    return vectors.rpartition("#")[2]


def _numbers(get: ModelFile, key: str, size: int) -> Floats:
    values = get(key, list, lambda x: len(x) == size and finite_numbers(x), f"{size} finite numbers")
    return np.array(values, dtype=np.float64)
