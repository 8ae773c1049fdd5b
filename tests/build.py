"""Pools and lists that tests share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse as sp

from lasw.metrics import Corpus, References, Vocabulary
from lasw.tuning import FeatureNames, NBest, Pool, Weights

NAMES = FeatureNames((("good", 1), ("noise", 1), ("length", 1)))
LETTERS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"]
GERMAN = ["der", "rote", "alte", "Bus", "faehrt", "heute", "langsam", "ueber", "die", "neue", "Bruecke", "am", "Fluss"]


def some_pool(seed=0, sentences=12, candidates=30, *, sparse=False, noise=0.3, constant=False, unreachable=False):
    """Hypotheses that are noisy copies of their references; feature `good` knows about the noise, `noise` does not."""
    rng = np.random.default_rng(seed)
    vocabulary = Vocabulary()
    reference = [rng.permutation(GERMAN)[: rng.integers(6, 12)].tolist() for _ in range(sentences)]
    references = References.from_lines([" ".join(tokens) for tokens in reference], vocabulary=vocabulary)
    owner, hypotheses, rows = [], [], []
    for s, tokens in enumerate(reference):
        for _ in range(candidates):
            wrong = rng.random(len(tokens)) < rng.random() * 0.7
            if unreachable:
                wrong[: s % 4] = True
            hypotheses.append([t if not w else "falsch" for t, w in zip(tokens, wrong, strict=True)])
            rows.append(
                [-wrong.sum() + noise * rng.normal(), rng.normal(), 3.0 if constant else rng.normal(), -len(tokens)]
            )
            owner.append(s)
    names = FeatureNames((("good", 1), ("noise", 2), ("length", 1)))
    columns = sp.csr_array(sp.random(len(owner), 6, 0.3, format="csr", random_state=1)) if sparse else None
    sparse_names = Vocabulary() if sparse else None
    if sparse_names is not None:
        for k in range(6):
            sparse_names.add(f"S_{k}")
    pool = Pool(references)
    corpus = Corpus.from_lines(map(" ".join, hypotheses), vocabulary)
    pool.add(
        NBest(names, np.array(owner, np.int32), corpus, np.array(rows), np.zeros(len(owner)), columns, sparse_names)
    )
    return pool


def ones(pool):
    return Weights.constant(pool.names, 1.0)


def made_pool(
    seed: int = 0, sentences: int = 15, candidates: int = 12, *, sparse: bool = False, units: float = 1.0
) -> Pool:
    """Noisy copies of references; `good` counts the noise, `noise` says nothing, `length` is the sentence's.

    Sparse S_0 is the noise again, S_1 chance; `units` multiplies `good` and divides `noise`.
    """
    draw = np.random.default_rng(seed)
    vocabulary = Vocabulary()
    lines = [draw.permutation(LETTERS)[: draw.integers(6, 14)].tolist() for _ in range(sentences)]
    pool = Pool(References.from_lines([" ".join(line) for line in lines], vocabulary=vocabulary))
    owner, texts, dense, extra = [], [], [], []
    for s, line in enumerate(lines):
        for _ in range(candidates):
            wrong = draw.random(len(line)) < draw.random() * 0.6
            texts.append(["x" if bad else word for word, bad in zip(line, wrong, strict=True)])
            dense.append([units * (draw.normal() * 0.5 - wrong.sum()), draw.normal() / units, float(len(line))])
            extra.append([float(wrong.sum()), float(draw.random() < 0.3)])
            owner.append(s)
    names, rows = None, None
    if sparse:
        names, rows = Vocabulary(), sp.csr_array(np.array(extra))
        for k in range(2):
            names.add(f"S_{k}")
    corpus, numbers = Corpus.from_lines(map(" ".join, texts), vocabulary), np.array(dense)
    pool.add(NBest(NAMES, np.array(owner, np.int32), corpus, numbers, np.zeros(len(owner)), rows, names))
    return pool


def start_of(pool: Pool) -> Weights:
    assert pool.names is not None
    return Weights(pool.names, np.array([0.2, 1.0, 0.7]))


@dataclass
class SpoiltLists:
    """References of 5 to 8 letters, copies of them in which some words are another, and how many these are.

    Attributes:
        references: a line a sentence.
        hypotheses: (sentence, text).
        wrong: (n,) words of each that are another.
        draw: for what else is drawn.
    """

    references: list[str]
    hypotheses: list[tuple[int, str]]
    wrong: np.ndarray
    draw: np.random.Generator

    @classmethod
    def made(cls, seed: int, sentences: int, size: int) -> SpoiltLists:
        """`size` hypotheses for each of so many sentences; the k-th of them has x and k for a word that is spoilt."""
        draw = np.random.default_rng(seed)
        lines = [draw.permutation(LETTERS)[: draw.integers(5, 9)].tolist() for _ in range(sentences)]
        rows, wrong = [], []
        for sentence, line in enumerate(lines):
            for k in range(size):
                spoilt = draw.random(len(line)) < draw.random() * 0.7
                text = " ".join(f"x{k}" if bad else word for word, bad in zip(line, spoilt, strict=True))
                rows.append((sentence, text))
                wrong.append(float(spoilt.sum()))
        return cls([" ".join(line) for line in lines], rows, np.array(wrong), draw)


def list_of(
    hypotheses: Sequence[tuple[int, str]],
    features: Mapping[str, Sequence[float] | Sequence[Sequence[float]]],
    score: Sequence[float] | None = None,
    sparse: Mapping[str, Sequence[float]] | None = None,
) -> NBest:
    """A list of (sentence, text) with the values of every feature, one or several a hypothesis."""
    columns = [np.array(values, dtype=np.float64).reshape(len(hypotheses), -1) for values in features.values()]
    names = FeatureNames(tuple((name, column.shape[1]) for name, column in zip(features, columns, strict=True)))
    rows, sparse_names = None, None
    if sparse:
        rows, sparse_names = sp.csr_array(np.array(list(sparse.values()), dtype=np.float64).T), Vocabulary()
        for name in sparse:
            sparse_names.add(name)
    owner = np.array([sentence for sentence, _ in hypotheses], dtype=np.int32)
    corpus = Corpus.from_lines([text for _, text in hypotheses])
    totals = np.zeros(len(hypotheses)) if score is None else np.array(score)
    return NBest(names, owner, corpus, np.hstack(columns), totals, rows, sparse_names)


def sparse_rows(nbest: NBest) -> list[dict[str, float]]:
    """The sparse features of every hypothesis."""
    if nbest.sparse is None or nbest.sparse_names is None:
        return [{} for _ in range(len(nbest))]
    names, rows = nbest.sparse_names, nbest.sparse
    entries = list(zip(rows.indices.tolist(), rows.data.tolist(), strict=True))
    return [{names[c]: v for c, v in entries[a:b]} for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]


def everything(nbest: NBest) -> tuple[Any, ...]:
    """All that a list holds, comparable to the bit."""
    return (
        nbest.names.groups,
        nbest.owner.tolist(),
        list(nbest.hypotheses),
        nbest.dense.tobytes(),
        nbest.score.tobytes(),
        sparse_rows(nbest),
    )


def texts(nbest: NBest) -> list[tuple[int, str]]:
    """(sentence, text) of every hypothesis."""
    return [(int(owner), nbest.hypotheses.text(k)) for k, owner in enumerate(nbest.owner)]


def rows_of(nbest: NBest) -> list[tuple[int, str, tuple[float, ...], float]]:
    """(sentence, text, dense values, total) of every hypothesis."""
    dense, totals = map(tuple, nbest.dense.tolist()), nbest.score.tolist()
    return [(*row, values, total) for row, values, total in zip(texts(nbest), dense, totals, strict=True)]
