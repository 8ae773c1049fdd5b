"""Correlation with people: definitions by hand and against SciPy, the folder of judgements, the published numbers."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_text import write_judgements
from scipy import stats

from lasw.metrics import (
    SEGMENTS,
    Corpus,
    Correlation,
    Evaluation,
    Judgements,
    References,
    UserError,
    agreement_of,
    metric,
    read_judgements,
)
from lasw.metrics.agreement.correlation import kendall, pearson, resampled_pearson, spearman
from lasw.metrics.agreement.panels import SYSTEMS
from lasw.metrics.base import without_rounding
from lasw.scripts.main import main


@pytest.mark.parametrize(("tau", "expected"), [(12, (3 - 1 - 2) / 6), (13, (3 - 1) / 4), (14, (3 - 1) / 6)])
def test_kendall_as_each_year_had_it(tau: int, expected: float) -> None:
    better = np.array([3.0, 3.0, 3.0, 1.0, 2.0, 2.0])  # three concordant, one discordant, two ties
    worse = np.array([1.0, 2.0, 0.0, 2.0, 2.0, 2.0])
    assert kendall(better, worse, tau=tau) == Correlation(expected, 6)


def test_kendall_that_does_not_exist() -> None:
    nothing, ties = np.empty(0), np.ones(3)
    assert str(kendall(nothing, nothing)) == "undefined (no pairs)"
    assert str(kendall(ties, ties)) == str(kendall(ties, ties, tau=13)) == "undefined (nothing but ties)"
    assert kendall(ties, ties, tau=12).value == -1.0
    assert kendall(ties, ties, tau=14).value == 0.0
    with pytest.raises(ValueError, match="tau=15"):
        kendall(ties, ties, tau=15)


def test_scores_that_are_no_numbers_have_no_correlation() -> None:
    x, y = np.array([1.0, np.nan, 2.0]), np.arange(3.0)
    assert {str(f(x, y)) for f in (kendall, pearson, spearman)} == {"undefined (a score is no number)"}


VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=12))
def test_correlations_equal_scipys(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    ours = spearman(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert str(ours) == str(pearson(x, y)) == "undefined (constant)"
        return
    assert ours.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    if min(np.std(x), np.std(y)) > 1e-3:  # below that SciPy's own rounding shows
        assert pearson(x, y).value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-6)


def test_correlation_of_nearly_equal_scores_is_not_rounded_away() -> None:
    x = 0.3 + 1e-13 * np.arange(4)
    assert spearman(x, np.arange(4.0)).value == 1.0
    steps = np.array([0.0, 1.0, 2.0, 3.0, 5.0])
    for near in (1e8 + 2.0**-26 * steps, 1e-170 * steps, 1e170 * steps):  # differences in the last digit; no squares
        values = [pearson(near, steps).value, *resampled_pearson(near, steps, np.ones((1, 5)))]
        assert values == pytest.approx([1.0, 1.0], abs=1e-12)


def test_rounding_takes_no_correlation_beyond_one() -> None:
    for n, unit in itertools.product(range(3, 7), range(1, 40)):
        x = np.arange(n) ** 2 / unit  # one of them in each n gives 1.0000000000000002
        for sign in (1.0, -1.0):
            values = [pearson(x, sign * (3 * x + 1)).value, *resampled_pearson(x, sign * (3 * x + 1), np.ones((1, n)))]
            assert values == pytest.approx([sign, sign], abs=1e-12)
            assert np.abs(values).max() <= 1.0


def test_scores_that_are_equal_but_for_rounding_are_ties() -> None:
    """Sums of the same information weights in other orders: NIST of permutations, where only single words count."""
    random = np.random.default_rng(6)
    reference = [f"w{k}" for k in range(12)]
    others = [[f"w{w}" for w in random.integers(0, 12, size=9)] for _ in range(200)]
    references = References.from_lines([" ".join(reference), *map(" ".join, others)])
    systems = [[" ".join(random.permutation(line)) for line in [reference, *others]] for _ in range(6)]
    evaluation = Evaluation(references, tuple(Corpus.from_lines(x, references.vocabulary) for x in systems))
    m = metric("NIST:orders=1")
    assert np.ptp(evaluation.sentence_scores(m), axis=0).max() > 0  # in the last bit
    pairs = np.array([(s, a, b) for s in range(201) for a in range(6) for b in range(a)])
    data = Judgements("x", tuple("abcdef"), evaluation, *pairs.T, 0, 0, np.arange(6.0))
    result = agreement_of(m, data)
    assert result.ties == len(pairs)
    assert result[SEGMENTS, "kendall"].reason == "nothing but ties"
    assert result[SYSTEMS, "spearman"].reason == "constant"


def test_scores_without_rounding() -> None:
    tiny = 1e-300 * np.array([3, 1, 2])
    assert without_rounding(tiny).tolist() == tiny.tolist()  # relative
    x = np.array([0.3, np.nan, 0.1 + 0.2, 0.3 * (1 + 1e-11), -0.3, 0.3 - 1e-16])
    merged = without_rounding(x)
    assert merged[[0, 2]].tolist() == [merged[5]] * 2
    assert merged[[3, 4]].tolist() == x[[3, 4]].tolist()
    assert np.isnan(merged[1])
    assert np.array_equal(without_rounding(np.stack([x, x[::-1]])), np.stack([merged, merged[::-1]]), equal_nan=True)
    assert np.array_equal(without_rounding(x[:, None], axis=0)[:, 0], merged, equal_nan=True)
    assert without_rounding(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_for_a_correlation(n: int) -> None:
    assert str(spearman(np.ones(n), np.ones(n))) == f"undefined (n = {n})"


HEADER = "seg1\tsysA\tsysB\trel\tjudge\n"


def folder(tmp_path: Path, pairs: str, *, header: str = HEADER) -> Path:
    good, fair, poor = ["the cat sat", "the dog ran"], ["the cat sat", "a dog ran"], ["some cat sits", "a dog runs"]
    systems = {"good": good, "fair": fair, "poor": poor, "idle": ["x", "y"]}
    return write_judgements(tmp_path, good, systems, pairs, header)


PAIRS = """\
1\tgood\tpoor\t<\tj
2\tpoor\tgood\t>\tj
2\tgood\tfair\t<\tj
1\tfair\tgood\t<\tj
1\tpoor\tfair\t>\tj
1\tfair\tpoor\t=\tj
1\t_ref\tpoor\t<\tj
"""


def test_judgements_and_agreement_by_hand(tmp_path: Path) -> None:
    judgements = read_judgements(folder(tmp_path, PAIRS))
    assert judgements.systems == ("fair", "good", "idle", "poor")
    assert (len(judgements.segment), judgements.ties, judgements.with_reference) == (5, 1, 1)
    result = agreement_of(metric("PAC1:alpha=0"), judgements, tau=12)
    # fair and good are alike on segment 1: one tie; the four others agree
    assert result[SEGMENTS, "kendall"] == Correlation((4 - 0 - 1) / 5, 5)
    assert result.ties == 1
    assert result[SYSTEMS, "spearman"] == Correlation(1.0, 3)
    # fair: won 2 of 3; good: 3 of 4; poor: 0 of 3; idle was never compared
    scores, wins = [5 / 6, 1.0, 2 / 6], [2 / 3, 3 / 4, 0.0]
    assert result[SYSTEMS, "pearson"].value == pytest.approx(np.corrcoef(scores, wins)[0, 1])


def test_scores_of_systems_that_are_given(tmp_path: Path) -> None:
    path = folder(tmp_path, PAIRS)
    (path / "systems.tsv").write_text("human\tsystem\n80.5\tpoor\n70\tgood\n-1e1\tidle\n99\t_ref\n")
    judgements = read_judgements(path)
    assert judgements.given is not None
    assert judgements.given.tolist() == pytest.approx([np.nan, 70.0, -10.0, 80.5], nan_ok=True)
    result = agreement_of(metric("PAC1:alpha=0"), judgements)
    scores = [1.0, 0.0, 2 / 6]  # good, idle, poor
    assert result[SYSTEMS, "pearson"].value == pytest.approx(np.corrcoef(scores, [70, -10, 80.5])[0, 1])
    assert result[SEGMENTS, "kendall"].n == 5
    drawn = result.measures[SYSTEMS, "spearman"].resample(np.array([[1.0, 1.0], [0.0, 2.0]]))
    assert drawn.tolist() == pytest.approx([0.5, 0.5])
    (path / "pairs.tsv").unlink()
    result = agreement_of(metric("PAC1:alpha=0"), read_judgements(path))
    assert result[SYSTEMS, "spearman"] == Correlation(pytest.approx(0.5), 3)
    assert str(result[SEGMENTS, "kendall"]) == "undefined (no pairs)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system\n", "systems.tsv:1: no column 'human'"),
        ("system\thuman\ngodo\t1\n", r"systems.tsv:2: unknown system 'godo'; .*did you mean 'good'\?"),
        ("system\thuman\ngood\t1\ngood\t1\n", "systems.tsv:3: system good again"),
        ("system\thuman\ngood\tinf\n", "systems.tsv:2: score 'inf'; expected a finite number"),
        ("system\thuman\ngood\t1e200\n", r"systems.tsv:2: score '1e200'; expected a finite number"),
    ],
)
def test_wrong_scores_of_systems_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = folder(tmp_path, PAIRS)
    (path / "systems.tsv").write_text(text)
    with pytest.raises(UserError, match=message):
        read_judgements(path)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("3\tgood\tpoor\t<\tj\n", r"pairs.tsv:2: segment '3'; expected a number from 1 to 2"),
        ("0\tgood\tpoor\t<\tj\n", r"segment '0'"),
        ("x\tgood\tpoor\t<\tj\n", r"segment 'x'"),
        (f"{'1' * 5000}\tgood\tpoor\t<\tj\n", r"expected a number from 1 to 2"),
        ("1\tgodo\tpoor\t<\tj\n", r"pairs.tsv:2: unknown system 'godo'; .*did you mean 'good'\?"),
        ("1\tgood\tpoor\tA\tj\n", r"relation 'A'; expected '<', '>' or '='"),
        ("1\tgood\tpoor\t<\n", r"pairs.tsv:2: 4 columns; expected 5"),
        ("1\tgood\tgood\t<\tj\n", r"pairs.tsv:2: system good against itself; expected two systems"),
        ("1\tgood\tpoor\t<\tj\n\n", r"pairs.tsv:3: one extra blank last line; remove it"),
    ],
)
def test_wrong_lines_are_refused(tmp_path: Path, pairs: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_judgements(folder(tmp_path, pairs))


def test_wrong_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        read_judgements(tmp_path / "none")
    with pytest.raises(UserError, match=r"no reference; expected ref\.txt"):
        read_judgements(tmp_path)
    path = folder(tmp_path, "", header="a\tb\n")
    with pytest.raises(UserError, match="no column 'seg1'"):
        read_judgements(path)
    (path / "hyp" / "fair.txt").write_text("one line\n")
    with pytest.raises(UserError, match=r"fair\.txt: 1 lines; expected 2, as many as .*ref\.txt has"):
        read_judgements(path)
    (path / "pairs.tsv").unlink()
    (path / "hyp" / "fair.txt").write_text("two\nlines\n")
    with pytest.raises(UserError, match="0 tables of judgements"):
        read_judgements(path)


def test_command_prints_tables_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder(tmp_path, PAIRS)
    assert main(["agree", "-m", "PAC1:alpha=0", "-m", "PGBC4:alpha=0", "--tau", "12", str(path)]) == 0
    captured = capsys.readouterr()
    assert "Kendall's tau, WMT12" in captured.out
    row = next(line for line in captured.out.splitlines() if line.startswith("PAC1:alpha=0"))
    assert row.split() == ["PAC1:alpha=0", "0.600"]
    assert "5 preferences, 1 ties left out, 1 pairs with the reference itself left out" in captured.err
    assert main(["agree", "-m", "PGBC4:alpha=0", "--tau", "13", "--json", "--quiet", str(path)]) == 0
    captured = capsys.readouterr()
    entry = json.loads(captured.out)["metrics"][0]["sets"][0]
    assert entry["segments"]["kendall"] == {"value": None, "n": 5, "undefined": "nothing but ties"}
    assert entry["systems"]["spearman"] == {"value": None, "n": 3, "undefined": "constant"}
    assert captured.err == ""


def test_published_numbers_of_wmt13(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Tables 3.20 and 3.22 of the thesis; its row "RABC2" is what RAC1 gives.
    specs = ["PABC3:alpha=0", "RAC1:alpha=0", "RABC2:alpha=0"]
    folders = [str(shared_data / "wmt13" / pair) for pair in ("cs-en", "de-en", "es-en")]
    arguments = [word for spec in specs for word in ("-m", spec)]
    assert main(["agree", *arguments, "--tau", "13", "--json", "--quiet", *folders]) == 0
    found = {entry["metric"]: entry["sets"] for entry in json.loads(capsys.readouterr().out)["metrics"]}
    taus = {spec: [round(x["segments"]["kendall"]["value"], 3) for x in found[spec]] for spec in specs}
    assert taus == {
        "PABC3:alpha=0": [0.209, 0.239, 0.291],
        "RAC1:alpha=0": [0.260, 0.318, 0.387],
        "RABC2:alpha=0": [0.227, 0.279, 0.342],
    }
    rhos = {spec: [round(x["systems"]["spearman"]["value"], 3) for x in found[spec]] for spec in specs[:2]}
    assert rhos == {"PABC3:alpha=0": [0.918, 0.846, 0.832], "RAC1:alpha=0": [0.909, 0.936, 0.923]}
