"""The page of `lasw agree --report`, clusters and what stands beside them, and the set-ups of the years."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from made_text import write_judgements, write_mtme

from lasw.metrics import (
    OFFICIAL,
    STATISTICS,
    Correlation,
    cluster_ranks,
    confidence,
    largest_disagreements,
    mean_ranks,
    metric,
    people_of,
    read_judgements,
    read_mtme,
)
from lasw.metrics.significance import resampled_counts
from lasw.scripts.main import main


def test_clusters_by_hand() -> None:
    """a .9 b .8 c .7 d .7, e undefined: b is not beaten, c is by b, d by nobody of the cluster that c begins."""
    values = [Correlation(x, 5) for x in (0.7, 0.9, 0.8, 0.7)] + [Correlation(None, 0, "none")]
    p_values = np.full((5, 5), 0.5)
    p_values[2, 0] = 0.05  # b over c, exactly significant
    p_values[1, 3] = 0.01  # a over d, in a cluster that is over
    p_values[0, 1] = 0.01  # c over a, which stands above
    assert cluster_ranks(values, p_values) == [2, 1, 1, 2, None]
    assert mean_ranks([[1, 2, None], [2, 2, 1]]) == [1.5, 2.0, None]


def test_disagreements_with_marks(tmp_path: Path) -> None:
    """Scores that are the marks, but for two translations."""
    data = read_mtme(f"{write_mtme(tmp_path / 'made', 'xx-yy')}:xx-yy")
    marks = people_of(data).rated.marks
    assert marks is not None
    scores = marks.copy()
    kind, strict = int(np.argmin(marks)), int(np.argmax(marks))
    scores[kind], scores[strict] = 99, -99
    high, low = largest_disagreements(data, scores, 2)
    system, segment = (int(x[kind]) for x in np.nonzero(~np.isnan(data.marks)))
    assert (high[0][0].system, high[0][0].segment) == (data.systems[system], segment)
    assert (high[0][0].score, high[0][0].mark) == (99.0, marks[kind])
    assert high[0][0].text == data.evaluation.systems[system].text(segment)
    assert low[0][0].score == -99


def test_disagreements_with_preferences(tmp_path: Path) -> None:
    """People prefer A to B in both segments, and the metric B, by more in the second; a tie is no disagreement."""
    pairs = ["1\tA\tB\t<\n", "2\tB\tA\t>\n", "2\tA\tC\t=\n", "1\tA\tC\t<\n"]
    texts = {name: [f"{name} one", f"{name} two"] for name in "ABC"}
    data = read_judgements(write_judgements(tmp_path / "set", ["r one", "r two"], texts, pairs))
    scores = np.array([[0.5, 0.1], [0.6, 0.9], [0.2, 0.3]]).ravel()
    (found,) = largest_disagreements(data, scores, 5)
    assert [[(x.system, x.segment, x.score) for x in pair] for pair in found] == [
        [("A", 1, 0.1), ("B", 1, 0.9)],
        [("A", 0, 0.5), ("B", 0, 0.6)],
    ]
    assert (found[0][1].text, found[0][1].reference, found[0][1].mark) == ("B two", "r two", None)


def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it advises is the best of what lasw can tune with, though `good` of the folder is better."""
    folder = write_mtme(tmp_path / "made", "xx-yy", gaps=True)
    path = tmp_path / "report.html"
    arguments = ["-m", "CHRF", "-m", "WER", "--report", str(path), "--paired-bs-n", "100", "--mtme", f"{folder}:xx-yy"]
    assert main(["agree", "--quiet", "--json", "--significance", *arguments]) == 0
    told = json.loads(capsys.readouterr().out)
    page = path.read_text()
    values = {x["metric"]: x["sets"][0]["segments"]["acc-eq"] for x in told["metrics"]}
    best = max(("CHRF", "WER"), key=lambda name: values[name]["value"])
    sentence = re.search(
        r"<strong>made:xx-yy: tune with (\w+) .</strong> \(acc-eq (\S+), 95 % interval (\S+) to (\S+),", page
    )
    assert sentence is not None
    assert sentence[1] == best
    assert [float(x) for x in sentence.groups()[1:]] == pytest.approx(
        [values[best][x] for x in ("value", "low", "high")], abs=5e-4
    )
    assert page.count("<svg") == 1 + 2 * 4 + 1  # matrices; segments and systems, of `only` systems alone
    assert "the metric is too kind" in page
    assert "w0.0 w0.1" in page
    for told_as in ("kind", "strict"):  # of an error rate, though its correlations are those of one minus it
        rows = re.findall("<tr>(.*?)</tr>", page.split(f"WER ↓: the metric is too {told_as}")[1].split("</table>")[0])
        cells = [re.findall("<td>(.*?)</td>", row) for row in rows]
        assert len(cells) > 2
        for row in cells[1:]:
            score, words, reference = float(re.sub("<.*?>", "", row[2])), row[4].split(), row[5].split()
            assert score == pytest.approx(edits(words, reference) / len(reference), abs=5e-4)
    assert re.findall(r">(WER . of \w+)<", page) == ["WER ↓ of segments", "WER ↓ of systems"]
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", page)  # nothing from elsewhere
    ranks = {x["coefficient"]: x["ranks"] for x in told["clusters"] if x["level"] == "segments"}
    assert ranks["acc-eq"][-1] is None
    assert len(told["mean_ranks"]) == 5


def edits(words: list[str], reference: list[str]) -> int:
    row = list(range(len(reference) + 1))
    for k, word in enumerate(words, 1):
        before, row = row, [k]
        for j, other in enumerate(reference):
            row.append(min(row[j] + 1, before[j + 1] + 1, before[j] + (word != other)))
    return row[-1]


def test_accuracy_is_pooled_over_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Six pairs of systems, and three: not the mean of two shares."""
    first = write_mtme(tmp_path / "one", "xx-yy")
    second = write_mtme(tmp_path / "two", "xx-yy")
    for name in ("seg", "sys"):
        file = second / f"human-scores/xx-yy.mqm.{name}.score"
        file.write_text(
            "".join(line for line in file.read_text().splitlines(keepends=True) if not line.startswith("two"))
        )
    arguments = ["--statistics", "pairwise-accuracy", "--mtme", f"{first}:xx-yy", f"{second}:xx-yy"]
    assert main(["agree", "--quiet", "--json", *arguments]) == 0
    entry = json.loads(capsys.readouterr().out)["metrics"][0]
    both = [x["systems"]["pairwise-accuracy"] for x in entry["sets"]]
    assert [x["n"] for x in both] == [6, 3]
    pooled = sum(x["value"] * x["n"] for x in both) / 9
    assert entry["pooled"]["pairwise-accuracy"] == {"value": pytest.approx(pooled), "n": 9}
    assert main(["agree", "--quiet", *arguments]) == 0
    assert "pooled\n" in capsys.readouterr().out


def test_leads_over_all_sets_have_an_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bootstrap within each set, one after the other by hand."""
    places = [f"{write_mtme(tmp_path / name, 'xx-yy', gaps=name == 'two')}:xx-yy" for name in ("one", "two")]
    arguments = ["agree", "--quiet", "-m", "WER", "-m", "CHRF", "--statistics", "pearson", "--test", "bootstrap"]
    assert main([*arguments, "--json", "--paired-bs-n", "400", "--mtme", *places]) == 0
    metrics = json.loads(capsys.readouterr().out)["metrics"]
    first, second = (entry["means"]["segments"]["pearson"] for entry in metrics[:2])
    values = [[x["segments"]["pearson"]["value"] for x in entry["sets"]] for entry in metrics[:2]]
    assert [first["value"], second["value"]] == pytest.approx([sum(row) / 2 for row in values])
    assert "lead" not in first
    assert second["lead"] == pytest.approx(second["value"] - first["value"])
    data = [read_mtme(place) for place in places]
    drawn = np.zeros((2, 400))
    for one in data:
        there = ~np.isnan(one.marks)
        marks, scores = one.marks[there], [one.evaluation.sentence_scores(metric(m))[there] for m in ("WER", "CHRF")]
        segment, n = np.nonzero(there)[1], one.marks.shape[1]
        (counts,) = [counts for _, counts in resampled_counts(n, 400, 1)]
        for k, row in enumerate(counts):
            rows = np.repeat(np.arange(len(segment)), row[segment].astype(int))
            drawn[:, k] += [np.corrcoef(x[rows], marks[rows])[0, 1] / 2 for x in scores]
    lead = confidence(drawn[1] - drawn[0])
    assert (second["lead_low"], second["lead_high"]) == pytest.approx((lead.low, lead.high))
    whole = confidence(drawn[1])
    assert (second["low"], second["high"]) == pytest.approx((whole.low, whole.high))
    assert main([*arguments, "--paired-bs-n", "400", "--mtme", *places]) == 0
    table = capsys.readouterr().out
    shown = f"{second['value']:.3f} ± {whole.radius:.3f} ({second['lead']:+.3f} ± {lead.radius:.3f})"
    assert shown in table
    assert "last column: of all sets" in table


def test_official_set_ups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for names, test in OFFICIAL.values():
        assert set(names) <= set(STATISTICS)
        assert test in ("williams", "bootstrap", "perm-both")
    place = f"{write_mtme(tmp_path / 'wmt23', 'xx-yy')}:xx-yy"
    printed = []
    for arguments in (["--official"], ["--official", "2023"], ["--statistics", "acc-eq,pearson,pairwise-accuracy"]):
        assert main(["agree", "--quiet", "--json", "--mtme", place, *arguments]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    assert main(["agree", "--quiet", "--official", "--statistics", "spa", "--mtme", place]) == 1
    assert "--official with --statistics" in capsys.readouterr().err
    other = f"{write_mtme(tmp_path / 'made', 'xx-yy')}:xx-yy"
    assert main(["agree", "--quiet", "--official", "--mtme", other]) == 1
    assert "not one year in the names" in capsys.readouterr().err
