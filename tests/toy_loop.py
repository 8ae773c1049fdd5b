"""A decoder made of a formula and an optimiser that takes one step: a loop that runs in a moment."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lasw.metrics import Corpus, References, Vocabulary, metric
from lasw.tuning import (
    Decoder,
    FeatureNames,
    Fit,
    Loop,
    NBest,
    Optimiser,
    Outcome,
    Pool,
    Progress,
    RunDirectory,
    RunSettings,
    Weights,
    write_run_report,
)

NAMES = FeatureNames((("LM", 1), ("TM", 2)))
WORDS = ["the", "a", "cat", "dog", "bird", "house", "sees", "hears", "finds", "old", "new", "small", "often", "here"]
SENTENCES = 12


def sentences(seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choice(WORDS) for _ in range(draw.randint(8, 16))) for _ in range(SENTENCES)]


REFERENCE = sentences(1)


def candidates() -> list[list[tuple[list[str], np.ndarray[Any, np.dtype[np.float64]]]]]:
    """Of each sentence, with their features."""
    draw = random.Random(7)
    made = []
    for line in REFERENCE:
        found = []
        for _ in range(60):
            spoilt = 0.6 * draw.random()
            words = [w if draw.random() > spoilt else draw.choice(WORDS) for w in line.split()]
            noise = [draw.gauss(0, 0.15) for _ in range(3)]
            found.append((words, np.array([-spoilt, spoilt / 2, -spoilt / 3]) + noise))
        made.append(found)
    return made


CANDIDATES = candidates()


class Toy(Decoder):
    """60 fixed candidates a sentence, the reference spoilt more or less; gives the n best under the weights."""

    name = "toy"

    def __init__(self) -> None:
        self.calls = 0
        self.candidates = list(CANDIDATES)

    def start_weights(self) -> Weights:
        return Weights.from_groups({"LM": [-0.1], "TM": [0.2, 0.3]})

    def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
        self.calls += 1
        owner, texts, dense, score = [], [], [], []
        for k in range(len(source)):
            ranked = sorted(self.candidates[k], key=lambda c: -float(c[1] @ weights.dense))
            for words, features in ranked[:n]:
                owner.append(k)
                texts.append(words)
                dense.append(features)
                score.append(float(features @ weights.dense))
        corpus = Corpus.from_lines(map(" ".join, texts), vocabulary)
        return NBest(NAMES, np.array(owner, dtype=np.int32), corpus, np.array(dense), np.array(score))


class Step(Optimiser):
    """A step from each sentence's best candidate by the model to the one with the highest BLEU+1, and some noise."""

    name = "step"

    def __init__(self, seed: int, noise: float = 0.2, size: float = 0.5) -> None:
        self.seed, self.noise, self.size = seed, noise, size

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
        scores = pool.sentence_scores(metric("BLEU+1"))
        step = np.zeros(len(start.dense))
        for s in range(len(pool.starts) - 1):
            mine = pool.order[pool.starts[s] : pool.starts[s + 1]]
            if len(mine):
                best = mine[np.argmax(pool.model_scores(start)[mine])]
                step += pool.dense[mine[np.argmax(scores[mine])]] - pool.dense[best]
        noise = np.random.default_rng(self.seed).normal(scale=self.noise, size=len(step))
        dense = start.dense + self.size * step / SENTENCES + noise
        return Fit(Weights(start.names, dense / np.abs(dense).sum()), float(np.abs(step).sum()), 1, ("as it happens",))


def run(
    path: Path,
    decoder: Decoder | None = None,
    optimiser: Callable[[int], Optimiser] | None = None,
    source: Sequence[str] | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Outcome:
    decoder = Toy() if decoder is None else decoder
    settings = {"iterations": 5, "nbest": 6, "noise": 0.0, "step": "whole", **settings}
    references = References.from_lines(REFERENCE)
    with RunDirectory(path) as directory:
        described = {key: settings[key] for key in ("iterations", "nbest")}
        directory.describe({"settings": described, "inputs": {}, "seed": 1}, may_change=["iterations"])
        start = decoder.start_weights()
        loop = Loop(decoder, optimiser or Step, RunSettings(path, **settings), metric("BLEU"), told=write_run_report)
        return loop.run(source or sentences(2), references, start, directory, progress)


def log(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (path / "log.jsonl").read_text().splitlines()]


def dev_bleu(weights: Weights) -> float:
    """BLEU of the toy's first candidates, computed without the loop."""
    references = References.from_lines(REFERENCE)
    nbest = Toy().decode(sentences(2), weights, 1, references.vocabulary)
    bleu = metric("BLEU")
    statistics = bleu.statistics(nbest.hypotheses, bleu.prepare(references), nbest.owner)
    return float(bleu.corpus_score(statistics.sum(axis=0)))


class Killed(BaseException):
    """Ends a run between or within two writes."""


class Writes:
    """Ends a run at a write of a file: the one that makes `left` 0."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 0
        self._replace = os.replace
        monkeypatch.setattr(os, "replace", self._replaced)

    def _replaced(self, source: str, target: str, **folders: Any) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed
        self._replace(source, target, **folders)
