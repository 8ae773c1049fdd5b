"""Rankings as WMT published them, scores of systems made of them, and how far judges agree."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from made_text import write_judgements

from lasw.metrics import UserError, judges_agreement, read_judgements, read_rankings
from lasw.metrics.agreement import trueskill
from lasw.metrics.agreement.comparing import wins_of
from lasw.scripts.main import main

HEADER = "srclang,trglang,srcIndex,documentId,segmentId,judgeId"
HEADER += "".join(f",system{k}Number,system{k}Id" for k in range(1, 6)) + "".join(
    f",system{k}rank" for k in range(1, 6)
)
NAMES = {"A": "newstest2013.cs-en.A", "B": "newstest2013.B.cs-en", "C": "C", "D": "D.txt", "_ref": "_ref"}
RANKINGS = [
    (1, "ann", {"A": 1, "B": 2, "C": 2, "D": 5, "_ref": 1}),
    (1, "bob", {"A": 2, "B": 1, "C": 1, "D": 4}),
    (1, "ann", {"A": 1, "B": 3, "C": 2, "D": -1}),
    (2, "bob", {"A": 3, "B": 3, "C": 1, "D": 2}),
]


def line(segment: int, judge: str, ranks: dict[str, int], pair: str = "cze,eng") -> str:
    ids = [f"{k},{NAMES[name]}" for k, name in enumerate(ranks)] + ["-1,"] * (5 - len(ranks))
    ranked = [str(rank) for rank in ranks.values()] + ["-1"] * (5 - len(ranks))
    return ",".join([pair, str(segment), "doc", "9", judge, *ids, *ranked]) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same comparisons as pairs."""
    pairs = []
    for segment, judge, ranks in RANKINGS:
        for (one, a), (other, b) in itertools.combinations(ranks.items(), 2):
            if -1 not in (a, b):
                pairs.append(f"{segment}\t{one}\t{other}\t{'<' if a < b else '>' if a > b else '='}\t{judge}\n")
    texts = {name: [f"w {name} x", "y z"] for name in "ABCD"}
    return write_judgements(tmp_path / "cs-en", ["w x", "y z"], texts, pairs, "seg1\tsysA\tsysB\trel\tjudge\n")


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """Another language pair's systems are in the file too."""
    lines = [line(*row) for row in RANKINGS]
    other = line(1, "cid", {"A": 1, "_ref": 1}, "ger,eng").replace("newstest2013.cs-en.A", "other")
    path = tmp_path / "rankings.csv"
    path.write_text(HEADER + "\n" + "".join([other, *lines]))
    return path


def test_rankings_are_the_pairs_in_them(folder: Path, csv: Path) -> None:
    pairs, rankings = read_judgements(folder), read_rankings(csv, folder)
    for name in ("segment", "better", "worse", "tied", "votes"):
        assert getattr(pairs, name).tolist() == getattr(rankings, name).tolist(), name
    assert (rankings.ties, rankings.with_reference) == (3, 4)
    assert len(rankings.votes) == 6 + 6 + 3 + 6


def test_columns_numbered_with_zeros(folder: Path, csv: Path, tmp_path: Path) -> None:
    header, *lines = csv.read_text().splitlines(keepends=True)
    (tmp_path / "zeros.csv").write_text(header.replace("system3", "system03") + "".join(lines))
    found, expected = read_rankings(tmp_path / "zeros.csv", folder), read_rankings(csv, folder)
    assert len(expected.votes)
    assert found.votes.tolist() == expected.votes.tolist()


def test_the_same_numbers_from_both(folder: Path, csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for arguments in ([str(folder)], ["--rankings", str(csv), str(folder)]):
        names = "tau13,accuracy,acc-eq,pearson,pairwise-accuracy"
        assert main(["agree", "--quiet", "--json", "-m", "CHRF", "--statistics", names, *arguments]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1]
    # Pairs judged twice and more: AB AC BC three times by two judges, of AD BD CD once by both.
    assert printed[0]["judges"][0]["kappa"]["intra"]["n"] == 3
    assert printed[0]["judges"][0]["kappa"]["inter"]["n"] == 3 * 2 + 3


def test_kappa_by_hand() -> None:
    """AB twice by 0 (alike, turned round once) and once by 1 (not alike); a quarter of all four judgements are ties."""
    votes = np.array([[0, 0, 1, 1, 0], [0, 1, 0, -1, 0], [0, 0, 1, -1, 1], [1, 0, 1, 0, 1], [1, 0, 1, 0, -1]])
    chance = 0.25**2 + 2 * 0.375**2
    kappas = judges_agreement(votes)
    assert kappas["intra"].value == pytest.approx(1.0)
    assert kappas["inter"].value == pytest.approx((0 - chance) / (1 - chance))
    assert [kappas[kind].n for kind in ("intra", "inter")] == [1, 2]
    assert judges_agreement(votes[3:])["inter"].value is None


def test_wins_by_loops(folder: Path) -> None:
    data = read_judgements(folder)
    drawn = np.array([[1.0, 1], [0, 2], [3, 1]])
    won = np.zeros((3, 4, 4))
    for segment, one, other, sign, _ in data.votes.tolist():
        for b in range(3):
            if sign:
                won[b, one if sign > 0 else other, other if sign > 0 else one] += drawn[b, segment]
    share, expected = np.zeros((3, 4)), np.zeros((3, 4))
    for b, s in itertools.product(range(3), range(4)):
        share[b, s] = won[b, s].sum() / (won[b, s].sum() + won[b, :, s].sum())
        met = [won[b, s, o] / (won[b, s, o] + won[b, o, s]) for o in range(4) if won[b, s, o] + won[b, o, s]]
        expected[b, s] = np.mean(met)
    assert wins_of(data)(drawn) == pytest.approx(share)
    assert wins_of(data, "expected")(drawn) == pytest.approx(expected)
    assert not np.allclose(share, expected)


def test_trueskill_as_by_its_package() -> None:
    """The package trueskill 0.4.5, tau=0, with the same share of draws, comparison by comparison."""
    random = np.random.default_rng(3)
    votes = []
    for k in range(40):
        one, other = random.choice(4, 2, replace=False)
        votes.append((k, int(one), int(other), int(np.sign(round(random.normal() + other - one))), 0))
    expected = [35.10680753892889, 26.25536036882169, 21.024288019389534, 15.821969677835252]
    assert trueskill(np.array(votes), 4, shuffles=0) == pytest.approx(expected, abs=1e-6)
    shuffled = trueskill(np.array(votes), 5)
    assert shuffled[:4] == pytest.approx(expected, abs=1)
    assert np.isnan(shuffled[4])


@pytest.mark.parametrize("kind", ["share", "expected", "trueskill"])
def test_wins_on_the_command_line(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agree", "--quiet", "--wins", kind, "-m", "CHRF", str(folder)]) == 0
    name = {"share": "share of comparisons won", "expected": "expected wins", "trueskill": "TrueSkill"}[kind]
    assert f"systems: Pearson, corpus score with {name}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ("a,b\n1,2\n", "no column 'srcindex'"),
        (HEADER + "\n" + line(3, "ann", {"A": 1, "B": 2}), ":2: segment '3'; expected a number from 1 to 2"),
        (HEADER + "\n" + line(1, "ann", {"A": 1, "B": 2}).replace(",2,-1", ",x,-1"), ":2: rank 'x'"),
        (HEADER + "\n" + line(1, "ann", {"A": 1}) + "1,2\n", ":3: 2 columns; expected 21"),
        (
            HEADER + "\n" + line(1, "ann", {"A": 1}).replace("cs-en.A", "cs-en.E"),
            "cze eng: no text of newstest2013.cs-en.E",
        ),
        (HEADER + "\n", "no rankings"),
    ],
)
def test_what_is_refused(found: str, told: str, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(found)
    with pytest.raises(UserError) as error:
        read_rankings(path, folder)
    assert told in str(error.value)
