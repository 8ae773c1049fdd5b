"""Cross-validation: no segment is scored by a metric that has seen it, and scores go back where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_text import write_judgements
from numpy.typing import NDArray

from lasw.metrics import (
    SEGMENTS,
    Corpus,
    DirectAssessment,
    Judgements,
    MeanMetric,
    Metric,
    References,
    Signature,
    UserError,
    agreement_of_scores,
    held_out_scores,
    metric,
    read_direct_assessment,
    read_judgements,
    trainer,
)
from lasw.metrics.agreement.panels import SYSTEMS, agreement_of
from lasw.metrics.learned.trainers import Data

SEGMENT_COUNT = 12


@dataclass(frozen=True)
class Known(MeanMetric):
    """Scores a hypothesis 1 if its reference was among the training data, else a hundredth of its length."""

    seen: frozenset[str]
    name = "KNOWN"

    def signature(self) -> Signature:
        return Signature(self.name, (("seen", str(hash(self.seen))),))

    def prepare(self, references: References) -> Any:
        return references

    def statistics(self, hypotheses: Corpus, prepared: Any, owner: NDArray[np.integer]) -> NDArray[Any]:
        known = np.array([prepared.corpora[0].text(int(k)) in self.seen for k in owner], dtype=np.float64)
        scores = np.where(known > 0, 1.0, hypotheses.lengths / 100)
        return np.stack([scores, np.ones_like(scores)], axis=1)


@dataclass
class Remembering:
    """Trains `Known`, and keeps what it was given."""

    sizes: list[int] = field(default_factory=list)

    def signature(self) -> Signature:
        return Signature("KNOWN", ())

    def train(self, data: Sequence[Data]) -> Metric:
        self.sizes.append(sum(len(x.marks if isinstance(x, DirectAssessment) else x.segment) for x in data))
        for x in data:
            if isinstance(x, Judgements):  # what is preferred is still better than what is not
                systems = x.evaluation.systems
                for segment, better, worse in zip(x.segment, x.better, x.worse, strict=True):
                    assert systems[better].lengths[segment] > systems[worse].lengths[segment]
                    assert systems[better].text(segment).split()[0] == x.evaluation.references.corpora[0].text(segment)
        return Known(frozenset(line for x in data for line in map(" ".join, x.evaluation.references.corpora[0])))


def folder(path: Path) -> Judgements:
    systems = {name: [f"r{k}" + " x" * (3 * s + k) for k in range(SEGMENT_COUNT)] for s, name in enumerate("abc")}
    pairs = [f"{k + 1}\tb\ta\t<\n{k + 1}\tb\tc\t>\n" for k in range(SEGMENT_COUNT)]
    return read_judgements(write_judgements(path, [f"r{k}" for k in range(SEGMENT_COUNT)], systems, pairs))


def table(path: Path) -> DirectAssessment:
    rows = [
        f"{k + 1}\t{name}\t{k % 5}\tr{k}{' x' * (3 * s + k)}\tr{k}\n"
        for k in range(SEGMENT_COUNT)
        for s, name in enumerate("abc")
    ]
    path.write_text("seg1\tsystem\thuman\thyp\tref\n" + "".join(rows))
    return read_direct_assessment(path)


@pytest.mark.parametrize("folds", [2, 5])
def test_preferences_are_held_out_in_all_sets(tmp_path: Path, folds: int) -> None:
    data = [folder(tmp_path / "one"), folder(tmp_path / "two")]
    remembering = Remembering()
    scores = held_out_scores(remembering, data, folds)
    assert len(remembering.sizes) == folds
    assert sum(remembering.sizes) == (folds - 1) * 2 * 2 * SEGMENT_COUNT
    for one in scores:
        # nobody has seen the reference, in the other set neither
        assert one.sentences.tolist() == [[(1 + 3 * s + k) / 100 for k in range(SEGMENT_COUNT)] for s in range(3)]
    result = agreement_of_scores(scores[0], data[0])
    assert result[SEGMENTS, "kendall"].value == 1.0
    assert result[SYSTEMS, "pearson"].value == pytest.approx(1.0)
    counts = np.array([[3.0, *[0.0] * (SEGMENT_COUNT - 2), 1.0]])
    assert scores[0].corpus(1, np.arange(SEGMENT_COUNT), counts).tolist() == pytest.approx([(3 * 4 + 15) / 400])


def test_marks_are_held_out_by_segment(tmp_path: Path) -> None:
    data = table(tmp_path / "marks.tsv")
    (scores,) = held_out_scores(Remembering(), [data], 3)
    assert scores.sentences.tolist() == [(data.hypotheses.lengths / 100).tolist()]
    assert agreement_of_scores(scores, data)[SYSTEMS, "spearman"].n == 3


def test_a_metric_that_learns_nothing_agrees_as_without_folds(tmp_path: Path) -> None:
    class Constant(Remembering):
        def train(self, data: Sequence[Data]) -> Metric:
            return metric("PAC1:corpus=mean")

    for data in (folder(tmp_path / "one"), table(tmp_path / "marks.tsv")):
        (scores,) = held_out_scores(Constant(), [data], 4)
        found, expected = agreement_of_scores(scores, data), agreement_of(metric("PAC1:corpus=mean"), data)
        counts = np.random.default_rng(1).integers(3, size=(5, SEGMENT_COUNT)).astype(np.float64)
        for key, measure in expected.measures.items():
            assert found[key].value == pytest.approx(measure.correlation.value), key
            assert found.measures[key].resample(counts) == pytest.approx(measure.resample(counts), nan_ok=True)


def test_folds_differ_by_seed_alone(tmp_path: Path) -> None:
    data = folder(tmp_path / "one")
    sizes = []
    for seed in (1, 1, 2):
        remembering = Remembering()
        held_out_scores(remembering, [data], 4, seed=seed)
        sizes.append(remembering.sizes)
    assert sizes[0] == sizes[1] != sizes[2]


def test_too_few_to_hold_out(tmp_path: Path) -> None:
    path = tmp_path / "marks.tsv"
    path.write_text("human\thyp\tref\n1\ta\tb\n")
    with pytest.raises(UserError, match="2 folds; expected fewer"):
        held_out_scores(Remembering(), [read_direct_assessment(path)], 2)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ROSY", r"unknown trained metric 'ROSY'; expected ROSE, PAIRWISE, COMBINATION; did you mean 'ROSE'\?"),
        ("ROSE:clip", "trained metric 'ROSE:clip': 'clip'; expected key=value"),
        ("ROSE:clip=no:clip=no", "'clip' is given twice"),
        ("ROSE:clap=no", r"unknown option of ROSE 'clap'; .*did you mean 'clip'\?"),
        ("ROSE:clip=maybe", "unknown value of ROSE:clip 'maybe'; expected yes, no"),
        ("ROSE:cost=0", "ROSE: cost=0; expected a number above 0"),
        ("ROSE:cost=1e7", r"ROSE: cost=1e7; expected a number above 0, 1e\+06 at most"),
    ],
)
def test_wrong_trainers_are_refused(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        trainer(spec)


def test_rose_learns_from_the_other_folds(tmp_path: Path) -> None:
    rose = trainer("ROSE:cost=0.1:counts=ratio")
    assert str(rose.signature()).startswith("ROSE|cost:0.1|clip:yes|counts:ratio|")
    assert "|characters:3|" in str(trainer("ROSE:characters=3").signature())
    data = folder(tmp_path / "one")  # the longer the better, which matching words alone would not say
    (scores,) = held_out_scores(rose, [data], 3)
    assert agreement_of_scores(scores, data)[SEGMENTS, "kendall"].value == 1.0
    assert agreement_of(metric("PAC1"), data)[SEGMENTS, "kendall"].value == -1.0
