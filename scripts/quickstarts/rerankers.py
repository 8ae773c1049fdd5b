"""`lasw quickstart --rerank`: weights for the scores of made-up lists, and their gain on other lists.

What it prints at the end are commands that give the same numbers.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lasw.metrics import Corpus, References, metric, write_text
from lasw.scripts.quickstarts.made_lists import HYPOTHESES, MadeLists, made_lists
from lasw.tuning import (
    Assessment,
    MinimumRisk,
    Pool,
    RunDirectory,
    assessed,
    make_optimiser,
    one_per_sentence,
    pool_of,
    read_nbest,
    rerank,
    unit_weights,
    versions,
    write_weights,
)

SENTENCES = 200  # to learn from, and as many to test
FOLDS = 5
_OPTIMISER, _UTILITY = "average", "CHRF"
_ASIDE = "qe"  # the score that stands in a file of its own, to show how that is read
_PARTS = ("dev", "test")
_LABELS = {
    "first": "first of each list",
    "mbr": f"minimum Bayes risk, {_UTILITY}",
    "tuned": "tuned",
    "oracle": "oracle",
}


def run(folder: str, seed: int) -> int:
    """Make the lists, learn, test, tell; 0 if done.

    Args:
        folder: where all files go.
        seed: of the lists.
    """
    files = [f"{part}.{kind}" for part in _PARTS for kind in ("jsonl", "ref", _ASIDE, *_LABELS)]
    with RunDirectory(folder, written=files) as directory:
        lists = f"made up, {SENTENCES} sentences of {HYPOTHESES} hypotheses"
        directory.describe({"settings": {"seed": seed}, "inputs": {"lists": lists}, "versions": versions()})
        dev, test = (_Part(directory.path / name, made_lists(SENTENCES, 2 * seed + k)) for k, name in enumerate(_PARTS))
        optimiser, start = make_optimiser(_OPTIMISER), unit_weights(dev.pool)
        weights = optimiser.fit(dev.pool, start).weights
        write_weights(directory.path / "weights.json", weights)
        quick = optimiser.for_folds()
        held_out = assessed(
            dev.pool, optimiser.measure, start, lambda some: quick.fit(some, start).weights, folds=FOLDS, seed=1
        )
        of_dev = dev.scores(dev.choices())
        of_dev["tuned"] = dev.pool.corpus_score(optimiser.measure, start) + (held_out.gain or 0.0)
        chosen = {**test.choices(), "tuned": rerank(test.lists.hypotheses, test.lists.features, weights)}
        for name, texts in chosen.items():
            write_text(f"{test.stem}.{name}", "".join(f"{text}\n" for text in texts))
        _tell(directory.path, [of_dev, test.scores(chosen)], held_out)
    return 0


class _Part:
    """Lists to learn from or to test on, as files and as a pool."""

    def __init__(self, stem: Path, lists: MadeLists) -> None:
        self.stem, self.lists = stem, lists
        names = [name for name in lists.features if name != _ASIDE]
        lines = []
        for sentence, texts in enumerate(lists.hypotheses):
            rows = [{name: lists.features[name][sentence][k] for name in names} for k in range(len(texts))]
            hypotheses = [{"text": text, "features": row} for text, row in zip(texts, rows, strict=True)]
            lines.append(json.dumps({"id": sentence, "hypotheses": hypotheses}) + "\n")
        write_text(f"{stem}.jsonl", "".join(lines))
        write_text(f"{stem}.ref", "".join(f"{line}\n" for line in lists.references))
        write_text(f"{stem}.{_ASIDE}", "".join(f"{x!r}\n" for values in lists.features[_ASIDE] for x in values))
        self.references = References.from_lines(lists.references)
        self.pool: Pool = pool_of(lists.hypotheses, lists.features, self.references)

    def choices(self) -> dict[str, list[str]]:
        """A text a sentence: what needs no weights."""
        vocabulary, hypotheses = self.references.vocabulary, self.lists.hypotheses
        nbest = read_nbest(f"{self.stem}.jsonl", vocabulary)
        by_risk = MinimumRisk(metric(_UTILITY), vocabulary).sort([nbest])
        best = self.pool.best_by(self.pool.sentence_scores(metric("BLEU+1"))).tolist()
        return {
            "first": [texts[0] for texts in hypotheses],
            "mbr": [text for block in by_risk for _, text in one_per_sentence(block)],
            "oracle": [self.pool.hypotheses.text(row) for row in best],
        }

    def scores(self, choices: dict[str, list[str]]) -> dict[str, float]:
        """BLEU of each."""
        bleu, owner = metric("BLEU"), np.arange(len(self.references), dtype=np.int32)
        prepared = bleu.prepare(self.references)
        corpora = {name: Corpus.from_lines(texts, self.references.vocabulary) for name, texts in choices.items()}
        found = {name: bleu.statistics(corpus, prepared, owner).sum(axis=0) for name, corpus in corpora.items()}
        return {name: bleu.corpus_score(total) for name, total in found.items()}


def _tell(folder: Path, scores: Sequence[dict[str, float]], held_out: Assessment) -> None:
    print(f"made-up lists of {HYPOTHESES} hypotheses, {SENTENCES} sentences to learn from and {SENTENCES} to test\n")
    print(f"{'BLEU':26}{_PARTS[0]:>8}{_PARTS[1]:>8}")
    for name, label in _LABELS.items():
        dev, test = (f"{100 * part[name]:8.2f}" for part in scores)
        print(f"{label:26}{dev}{test}")
    gain, noise = 100 * (held_out.gain or 0.0), 100 * (held_out.noise or 0.0)
    before = 100 * scores[0]["tuned"] - gain
    print(
        f"\ntuned: each sentence of dev by weights that were learnt without it ({FOLDS} folds). Before, with equal say"
    )
    print(f"for all scores, {before:.2f}: a gain of {gain:.2f} ± {noise:.2f}.\n")
    dev, test, weights = (shlex.quote(str(folder / name)) for name in (*_PARTS, "weights.json"))
    print(
        f"""The same by commands:
  lasw nbest oracle --references {dev}.ref {dev}.jsonl
  lasw optimise --optimiser {_OPTIMISER} --references {dev}.ref --feature {_ASIDE}={dev}.{_ASIDE} --folds {FOLDS} \\
      --output {weights} {dev}.jsonl
  lasw rerank --weights {weights} --feature {_ASIDE}={test}.{_ASIDE} {test}.jsonl > {test}.tuned
  lasw rerank --mbr {_UTILITY} {test}.jsonl > {test}.mbr
  lasw score --references {test}.ref {" ".join(f"{test}.{name}" for name in _LABELS)}"""
    )
