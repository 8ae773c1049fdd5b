"""What every entry of the registry of metrics keeps to; a new one is tested here without a line of its own.

Unless it needs a file: then what stands behind its name goes to `NEEDED`, and the file to `folder`.
"""

from __future__ import annotations

import pickle
import re
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lasw.metrics import (
    METRICS,
    CandidatePairs,
    CombinationModel,
    Corpus,
    Evaluation,
    Judgements,
    MeanMetric,
    Metric,
    PairwiseInputs,
    References,
    RoseFeatures,
    Settings,
    Signature,
    UserError,
    examples,
    metric,
    parameters,
    train_pairwise,
    train_rank,
    write_trained_metric,
)

NEEDED = {
    "ROSE": "model=rose.json",
    "PAIRWISE": "model=pairwise.json",
    "COMBINATION": "model=combination.json",
    **dict.fromkeys(("WMD", "WMDO", "WE", "WEWPI", "SRBLEU"), "vectors=vectors.txt"),
    "MIX": "CHRF=0.5:TER=0.5",
    "EXTERNAL": f"mode=batch:cmd={sys.executable} program.py",
    "SCORES": "file=scores.tsv",
}
VARIANTS = [
    *("RGC2:refs=each:reflen=average", "RAB3", "PABC4:corpus=mean", "PGBC4:smoothing=lin-och:orders=effective"),
    *("CHRF:words=2", "WER:reflen=best", "MIX:BLEU:refs=each=1:NIST=-0.01", "WMDO:vectors=vectors.txt:penalty=order"),
]
SPECS = [f"{name}:{NEEDED[name]}" if name in NEEDED else name for name in METRICS] + VARIANTS

WORDS = ["the", "red", "old", "bus", "drives", "today", "slowly", "over", "a", "new", "bridge", "by", "river", "never"]
PROGRAM = """import sys
for line in sys.stdin:
    hypothesis, reference = (set(text.split()) for text in line.rstrip("\\n").split("\\t"))
    print(len(hypothesis & reference) / max(len(hypothesis | reference), 1))
"""


class Toy:
    """Ten segments with two references; system 0 repeats the first one, systems 1 and 2 have ever more wrong words."""

    def __init__(self) -> None:
        draw = np.random.default_rng(3)
        first = [" ".join(draw.permutation(WORDS)[: draw.integers(5, 10)]) for _ in range(10)]
        second = [" ".join(draw.permutation(line.split())) for line in first]
        self.references = References.from_lines(first, second)
        systems = [
            [" ".join("wrong" if draw.random() < share else word for word in line.split()) for line in first]
            for share in (0.0, 0.3, 0.7)
        ]
        self.texts = [line for lines in systems for line in lines] + [""]
        self.owner = np.array([*range(10)] * 3 + [0], dtype=np.int32)
        self.hypotheses = Corpus.from_lines(self.texts, self.references.vocabulary)
        self.systems = tuple(Corpus.from_lines(lines, self.references.vocabulary) for lines in systems)

    def statistics(self, m: Metric) -> Any:
        """(31, k) of the three systems and of an empty hypothesis."""
        return m.statistics(self.hypotheses, m.prepare(self.references), self.owner)


@pytest.fixture(scope="module")
def toy() -> Toy:
    return Toy()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, toy: Toy) -> Path:
    """The files that `NEEDED` names."""
    folder = tmp_path_factory.mktemp("contract")
    draw = np.random.default_rng(5)
    rows = [f"{word} {' '.join(f'{x:.3f}' for x in draw.normal(size=4))}\n" for word in WORDS]
    (folder / "vectors.txt").write_text("".join(rows))
    (folder / "program.py").write_text(PROGRAM)
    lines = [f"{text}\t{1 - text.split().count('wrong') / 10 if text else -1}\n" for text in toy.texts]
    (folder / "scores.tsv").write_text("".join(["hyp\tscore\n", *lines]))
    segment, better, worse = np.array([[s, a, b] for s in range(10) for a, b in ((0, 1), (0, 2), (1, 2))]).T
    judged = Judgements("toy", ("0", "1", "2"), Evaluation(toy.references, toy.systems), segment, better, worse, 0, 0)
    write_trained_metric(folder / "rose.json", train_rank([judged], RoseFeatures(("the",))))
    inputs = PairwiseInputs(("WER",))
    model = train_pairwise(inputs, examples([judged], inputs), settings=Settings(epochs=3))
    write_trained_metric(folder / "pairwise.json", model)
    write_trained_metric(folder / "combination.json", CombinationModel("log-linear", ("WER", "CHRF"), (0.5, 0.5)))
    return folder


@pytest.fixture(autouse=True)
def _there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@pytest.mark.parametrize("spec", SPECS)
def test_statistics_add_up_and_do_not_depend_on_company(spec: str, toy: Toy) -> None:
    m = metric(spec)
    prepared, statistics = m.prepare(toy.references), toy.statistics(m)
    assert statistics.ndim == 2
    assert statistics.dtype in (np.int32, np.float64)
    order = np.random.default_rng(0).permutation(len(toy.owner))
    for rows in (order[:7], order[7:], order[:0]):
        part = m.statistics(toy.hypotheses.take(rows), prepared, toy.owner[rows])
        assert part.tobytes() == statistics[rows].tobytes()
        assert part.shape == (len(rows), statistics.shape[1])
        assert m.sentence_scores(part).shape == (len(rows),)
    totals = np.stack([statistics[:10].sum(axis=0), statistics[10:20].sum(axis=0), statistics[3]])
    assert [m.corpus_score(total) for total in totals] == m.corpus_scores(totals).tolist()
    assert Evaluation(toy.references, toy.systems).corpus_scores(m)[0] == m.corpus_score(totals[0])
    gradient = m.score_gradient(totals[0])
    assert gradient.shape == totals[0].shape
    assert np.isfinite(gradient).all()
    if isinstance(m, MeanMetric):
        assert statistics[:, 1].tolist() == [1.0] * 31
        assert m.corpus_score(totals[1]) == pytest.approx(m.sentence_scores(statistics[10:20]).mean())


@pytest.mark.parametrize("spec", SPECS)
def test_statistics_of_pairs_are_those_of_one_hypothesis_and_one_reference(spec: str, toy: Toy) -> None:
    m = metric(spec)
    texts, others = (toy.hypotheses.take(np.array(rows)) for rows in ([0, 10, 10, 20, 30], [1, 30, 0, 20]))
    sizes = [[3, 1], [2, 3]] if m.by_segment else [[5, 4]]
    pairs = CandidatePairs(texts, others, np.array(sizes))
    statistics = m.pair_statistics(pairs, m.prepare_pairs(texts.vocabulary))
    assert len(statistics) == sum(a * b for a, b in sizes)
    for row, h, r in zip(statistics, pairs.hypothesis, pairs.reference, strict=True):
        alone = others.take(np.array([r])) if m.by_segment else others
        owner = np.array([0 if m.by_segment else r])
        one = m.statistics(texts.take(np.array([h])), m.prepare(References((alone,))), owner)
        assert row.tobytes() == one[0].tobytes()


@pytest.mark.parametrize("spec", SPECS)
def test_higher_is_better_and_nothing_is_finite(spec: str, toy: Toy) -> None:
    m = metric(spec)
    statistics = toy.statistics(m)
    scores = m.sentence_scores(statistics)
    assert np.isfinite(scores).all()
    assert np.isfinite(m.corpus_score(statistics[30]))
    assert m.corpus_score(0 * statistics[30]) <= m.corpus_score(statistics[0])
    means = [scores[k : k + 10].mean() for k in (0, 10, 20)]
    whole = [m.corpus_score(statistics[k : k + 10].sum(axis=0)) for k in (0, 10, 20)]
    assert sorted(means, reverse=True) == means
    assert sorted(whole, reverse=True) == whole
    assert means[0] > means[2]
    assert whole[0] > whole[2]
    assert scores[0] > scores[30]


@pytest.mark.parametrize("spec", SPECS)
def test_a_metric_is_a_value_that_its_signature_names(spec: str, toy: Toy) -> None:
    m, again = metric(spec), metric(spec)
    copy = pickle.loads(pickle.dumps(m))
    assert str(m.signature()) == str(again.signature()) == str(copy.signature())
    assert m.statistics_key() == again.statistics_key() == copy.statistics_key()
    assert toy.statistics(copy).tobytes() == toy.statistics(m).tobytes()
    assert m.signature().name == (f"1-{m.name}" if m.error_rate else m.name)
    assert m.displayed_signature() == Signature(m.name, m.signature().settings)
    assert m.signature().name in (m.name, f"1-{m.name}")
    assert m.display_scale in (1.0, 100.0)


@pytest.mark.parametrize("name", list(METRICS))
def test_every_option_is_in_the_signature(name: str) -> None:
    made: Any = METRICS.find(name)
    if hasattr(made, "from_text"):
        pytest.skip("its options are specifications, commands or paths")
    spec = f"{name}:{NEEDED.get(name, '')}"
    with pytest.raises(UserError, match=re.escape(f"unknown option of {name} 'no-such'")):
        metric(f"{spec}:no-such=1")
    for key, option in parameters(made).items():
        if key == "files":  # says what a model may open; what it opened is in the signature
            continue
        tried: dict[type, tuple[object, ...]] = {int: (1, 2), float: (1, 2), bool: ("true", "false")}
        values = option.choices or tried.get(option.kind, ())
        beside = ":delta=-0.1" if (name, key) == ("WMDO", "combine") else ""  # where `limited` is right
        signatures = {str(metric(f"{spec}{beside}:{key}={value}").signature()) for value in values}
        assert len(signatures) == len(values), key


def test_equal_keys_mean_equal_statistics(toy: Toy) -> None:
    made = {spec: metric(spec) for spec in SPECS}
    computed = {spec: toy.statistics(m) for spec, m in made.items()}
    for one, other in combinations(SPECS, 2):
        if made[one].statistics_key() == made[other].statistics_key():
            assert computed[one].tobytes() == computed[other].tobytes(), (one, other)
