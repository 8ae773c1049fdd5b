"""What a report computes from the N-best lists of a run: oracles, and sentences side by side."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_text import write_spoilt_lists
from sacrebleu.metrics.bleu import BLEU

from lasw.metrics import UserError
from lasw.scripts.main import main
from lasw.tuning import read_development, read_run
from lasw.tuning.report.page import page
from lasw.tuning.report.sentences import Sentences, sentences_html


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over fixed lists of which the second feature is good and the first is not."""
    folder = tmp_path_factory.mktemp("development")
    write_spoilt_lists(folder, "dev", seed=4, sentences=15, words=7)
    (folder / "src").write_text("".join(f"source {k}\n" for k in range(15)))
    words = ["--decoder", "fixed", "--lists", str(folder / "dev.nbest"), "--run", str(folder / "run"), "--quiet"]
    words += ["--source", str(folder / "src"), "--references", str(folder / "dev.ref"), "--optimiser", "pro"]
    assert main(["tune", *words]) == 0
    return folder / "run"


def lists(run: Path) -> list[list[str]]:
    """The translations of every sentence."""
    found: list[list[str]] = [[] for _ in range(15)]
    for line in (run.parent / "dev.nbest").read_text().splitlines():
        owner, text = line.split(" ||| ")[:2]
        found[int(owner)].append(text)
    return found


def test_the_oracle_is_the_best_candidate_of_each_sentence(run: Path) -> None:
    references = (run.parent / "dev.ref").read_text().splitlines()

    def smoothed(text: str, reference: str) -> float:
        """BLEU+1 from sacreBLEU's counts: 1 added to matches and totals of every order."""
        counts = BLEU(tokenize="none", smooth_method="none", effective_order=False).sentence_score(text, [reference])
        precisions = [(c + 1) / (t + 1) for c, t in zip(counts.counts, counts.totals, strict=True)]
        return float(np.exp(np.mean(np.log(precisions))) * np.exp(min(0.0, 1 - counts.ref_len / counts.sys_len)))

    best = [max(texts, key=lambda t: smoothed(t, r)) for texts, r in zip(lists(run), references, strict=True)]
    oracle = read_development(run, read_run(run)).oracle
    assert [number for number, _ in oracle] == [1, 2]
    expected = BLEU(tokenize="none").corpus_score(best, [references]).score
    assert [100 * score for _, score in oracle] == pytest.approx([expected, expected])


def test_sentences_are_those_of_start_and_final_weights(run: Path) -> None:
    data = read_run(run)
    assert data.result is not None
    found = read_development(run, data).sentences
    assert found is not None
    assert found.second == "iteration 1"
    assert found.source == [f"source {k}" for k in range(15)]
    assert found.references == [(run.parent / "dev.ref").read_text().splitlines()]
    for texts, score in zip(found.texts, (data.records[0]["dev_score"], data.result["dev_score"]), strict=True):
        assert BLEU(tokenize="none").corpus_score(list(texts), list(found.references)).score == pytest.approx(
            100 * score
        )
    assert (found.after - found.before).mean() > 0.05


def test_the_command_tells_what_it_leaves_out(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run)]) == 0
    html = (run / "report.html").read_text()
    assert "Sentences of the development set" in html
    assert "oracle: the best candidates" in html
    reference = run.parent / "dev.ref"
    text = reference.read_text()
    reference.write_text(text + "one more\n")
    with pytest.raises(UserError, match="changed since the run began"):
        read_development(run, read_run(run))
    assert main(["report", str(run)]) == 0
    assert "are left out: " in (run / "report.html").read_text()
    reference.write_text(text)
    assert main(["report", str(run), "--system", "PRO"]) == 1
    assert "expected a comparison" in capsys.readouterr().err


def test_held_out_lists_are_reranked_with_the_weights_of_every_iteration(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--held-out", str(run.parent / "dev.nbest"), "--held-out-references", str(run.parent / "dev.ref")]
    assert main(["report", str(run), *words]) == 0
    tips = re.findall(r"<title>held-out[^<]*, iteration (\d): ([\d.]+)</title>", (run / "report.html").read_text())
    # The development set itself: what the log says of the weights before and after the first iteration.
    records = read_run(run).records
    assert tips[:2] == [(str(k), f"{100 * records[k]['dev_score']:.2f}") for k in range(2)]
    assert main(["report", str(run), *words[:2]]) == 1
    assert "give both" in capsys.readouterr().err


def test_gains_come_first_and_equal_sentences_not_at_all() -> None:
    texts = (["a b", "c", "d <e>", "same"], ["a x", "c y", "d z", "same"])
    change = np.array([0.25, -0.5, 0.125, 0.0])
    before = np.full(4, 0.5)
    found = Sentences("title", "one", "two", before, before + change, texts, [["r"] * 4], ["s & t"] * 4)
    html = sentences_html(found)
    lines = [part.split('">')[1].split("<")[0] for part in html.split("<tr><td><data value=")[1:]]
    assert lines == ["1", "3", "2"]
    assert "3 of 4 translations differ: 2 score higher under two, 1 lower, 0 the same" in html
    assert "a <mark>b</mark></div>" in html
    assert "a <mark>x</mark></div>" in html
    assert "d <mark>&lt;e&gt;</mark>" in html
    assert "s &amp; t" in html
    assert '<data value="-0.5">-50.0</data>' in html
    assert sentences_html(found, shown=1).count("<tr><td>") == 2


def test_every_step_is_in_the_table(run: Path) -> None:
    data = read_run(run)
    first, second = data.records[:2]
    lists = [{"share": 0.3, "gain": -0.0123, "noise": 0.01}, {"share": 0.15, "gain": 0.002, "noise": 0.005}]
    step = {"from": 0, "planned": 0.3, "share": 0.075, "lists": lists, "probes": [lists[1] | {"gain": -0.1}]}
    told = {"gain": 0.0021, "gain_noise": 0.0031, "held_out_gain": -0.0041, "held_out_noise": 0.0051}
    records = [{**first, "dev_score": 0.5, "step": step, **told}, {**second, "dev_score": 0.4321}]
    table = page([replace(data, records=records)]).partition("<h2>Steps</h2>")[2].partition("</table>")[0]
    cells = [re.sub("<[^>]+>", " ", cell).split() for cell in re.findall(r"<td[^>]*>(.*?)</td>", table)]
    asked = ["0.3:", "-1.23", "±", "1.00", "0.15:", "+0.20", "±", "0.50"]
    assert cells[:4] == [["1"], ["the", "start", "weights"], asked, ["0.15:", "-10.00", "±", "0.50"]]
    assert cells[4:] == [["0.075"], ["0.21"], ["0.31"], ["-0.41"], ["0.51"], ["-6.79"]]
    assert len(re.findall("<th[ >]", table)) == len(cells)
