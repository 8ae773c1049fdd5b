"""Metrics on word vectors as losses: in a pool that grows, and from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lasw.metrics import Corpus, References, metric
from lasw.scripts.main import main

SPECS = ("WMD", "WMDO", "WE", "WEWPI", "SRBLEU")
SENTENCES = 30
WORDS = ["the", "a", "red", "big", "car", "dog", "house", "runs", "sleeps", "stands"]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "v.txt"
    generator = np.random.default_rng(12)
    path.write_text("".join(f"{w} {' '.join(map(str, generator.normal(size=5).round(3)))}\n" for w in WORDS))
    return path


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """References, and an N-best list in which one feature says how many words were replaced, another one nothing."""
    folder = tmp_path_factory.mktemp("lists")
    generator = np.random.default_rng(13)
    references, lines = [], []
    for s in range(SENTENCES):
        reference = generator.choice(WORDS, size=7)
        references.append(" ".join(reference))
        for _ in range(8):
            replaced = generator.random(7) < generator.random()
            words = np.where(replaced, generator.choice([*WORDS, "unseen"], size=7), reference)
            noise = 4 * generator.normal()
            lines.append(f"{s} ||| {' '.join(words)} ||| F0= {-replaced.sum()} F1= {noise:.4f} ||| 0")
    (folder / "ref").write_text("\n".join(references) + "\n")
    (folder / "nbest").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("optimiser", ["pro", "mert"])
def test_tuning_finds_the_feature_that_counts_mistakes(vectors, lists, tmp_path, capsys, name, optimiser):
    out = tmp_path / "weights.json"
    command = ["optimise", "--optimiser", optimiser, "--metric", f"{name}:vectors={vectors}", "--quiet"]
    assert main([*command, "-r", str(lists / "ref"), "--output", str(out), str(lists / "nbest")]) == 0
    capsys.readouterr()
    found = json.loads(out.read_text())
    weights = dict(_numbers(found))
    fields = [line.split("|||")[2].split() for line in (lists / "nbest").read_text().splitlines()]
    features = np.array([(float(one[1]), float(one[3])) for one in fields])
    replaced = -features[:, 0].reshape(SENTENCES, -1)
    chosen = (features @ [weights["F0"], weights["F1"]]).reshape(replaced.shape).argmax(axis=1)
    mistakes = replaced[np.arange(SENTENCES), chosen].mean()
    best, usual = replaced.min(axis=1).mean(), replaced.mean()
    assert mistakes < best + 0.2 * (usual - best)
    even = replaced[np.arange(SENTENCES), features.sum(axis=1).reshape(replaced.shape).argmax(axis=1)].mean()
    assert even > best + 0.3 * (usual - best)  # which equal weights do not do


def _numbers(value, name=""):
    """Weights with their names, however a file of weights nests them."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _numbers(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _numbers(part, name)
    elif isinstance(value, float | int):
        yield name, value


@pytest.mark.parametrize("name", SPECS)
def test_words_that_come_later_are_looked_up(vectors, name):
    m = metric(f"{name}:vectors={vectors}")
    refs = References.from_lines(["the red car runs fast"])
    prepared = m.prepare(refs)
    owner = np.zeros(1, dtype=np.int32)

    def score(line):
        return m.sentence_scores(m.statistics(Corpus.from_lines([line], refs.vocabulary), prepared, owner))[0]

    first = score("the red car runs fast")
    later = score("the red dog sleeps now")
    assert later < first
    assert score("the red car runs fast") == first
    alone = metric(f"{name}:vectors={vectors}")
    refs = References.from_lines(["the red car runs fast"])
    prepared = alone.prepare(refs)
    assert score("the red dog sleeps now") == later
