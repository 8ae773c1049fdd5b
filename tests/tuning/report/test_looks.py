"""Reports that one would forward: what the first screen says, and what everybody can read, computed without a browser.

`tests/benchmarks/look_at_reports.py` looks at them in one.
"""

from __future__ import annotations

import dataclasses
import html
import re
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from made_text import parallel_text, write_spoilt_lists

from lasw.metrics import BOOTSTRAP_SEED, References, metric
from lasw.metrics.text.pages.charts import Series, dot_rows, histogram, line_chart
from lasw.metrics.text.pages.style import DARK, DARK_PAGE, LIGHT, LIGHT_PAGE, STYLE
from lasw.scripts.main import main
from lasw.tuning import read_nbest, read_run
from lasw.tuning.pool import first_hypotheses
from lasw.tuning.report.gain import development_gain
from lasw.tuning.report.words import done, gained

GRID = """
[comparison]
seeds = [1, 2, 3]
measures = ["TER", "BLEU"]
samples = 50
[development.dev]
references = ["dev.ref"]
lists = ["dev.nbest"]
[system.untuned]
optimiser = "none"
[system.WRO]
optimiser = "wro"
draws = 100
"""


def luminance(colour: str) -> float:
    """Relative, as WCAG 2 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, one under an error rate, a comparison, a selection."""
    folder = tmp_path_factory.mktemp("looks")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_spoilt_lists(folder, "dev", seed=6, sentences=20, words=7)
        for name, more in (("run", ""), ("ter", " --dev-metric ter --metric TER")):
            line = f"tune --decoder replay --lists dev.nbest --source dev.ref --references dev.ref --run {name}"
            assert main(f"{line} --iterations 3 --nbest 4 --optimiser wro --quiet{more}".split()) == 0
        assert main(["report", "run", "ter", "--output", "both.html"]) == 0
        Path("grid.toml").write_text(GRID)
        assert main(["compare", "grid.toml", "--run", "cmp", "--quiet"]) == 0
        for side, lines in zip(("de", "en"), parallel_text(400), strict=True):
            Path(f"pool.{side}").write_text("".join(f"{line}\n" for line in lines))
        line = "select --source pool.de --target pool.en --output dev --words 300 --low 2 --quiet"
        assert main(line.split()) == 0
    return folder


PAGES = ["run/report.html", "ter/report.html", "both.html", "cmp/report.html", "dev.html"]


def header(page: Path) -> list[str]:
    """The paragraphs on top."""
    top = re.search(r"<header>(.*?)</header>", page.read_text(encoding="utf-8"), re.DOTALL)
    assert top is not None
    texts = re.findall(r"<p[^>]*>(.*?)</p>", top[1])
    return [html.unescape(re.sub("<[^>]*>", "", text)) for text in texts]


def test_a_run_says_what_was_done_gained_and_is_next(place: Path) -> None:
    lead, after = header(place / "run" / "report.html")
    found = re.fullmatch(
        r"Decoder replay was tuned by wro \(loss PABC4\) on 20 sentences of dev.ref with 1 reference in (\d) "
        r"iterations; it ended with: [^.]*\. Development BLEU went from ([\d.]+) to ([\d.]+) with those of "
        r"iteration (\d): ([+-][\d.]+) \(95 % interval ([+-][\d.]+) to ([+-][\d.]+)\)\.",
        lead,
    )
    assert found is not None, lead
    assert after.startswith("Next: translate a test set with weights.json")
    references = References.read([place / "dev.ref"])
    bleu, lists = metric("BLEU"), (1, int(found[4]) + 1)
    statistics = []
    for number in lists:
        nbest = read_nbest(place / "run" / "iterations" / f"{number:03d}" / "nbest.gz", references.vocabulary)
        best = first_hypotheses(nbest, 20)
        statistics.append(bleu.statistics(best, bleu.prepare(references), np.arange(20, dtype=np.int32)))
    before, tuned = (100 * bleu.corpus_score(one.sum(axis=0)) for one in statistics)
    assert (found[2], found[3], found[5]) == (f"{before:.2f}", f"{tuned:.2f}", f"{tuned - before:+.2f}")
    draw = np.random.default_rng(BOOTSTRAP_SEED)
    differences = sorted(
        100 * (bleu.corpus_score(statistics[1][rows].sum(axis=0)) - bleu.corpus_score(statistics[0][rows].sum(axis=0)))
        for rows in (draw.integers(20, size=20) for _ in range(1000))
    )
    assert (found[6], found[7]) == (f"{differences[25]:+.2f}", f"{differences[974]:+.2f}")


def test_error_rates_are_named_as_such(place: Path) -> None:
    lead, _ = header(place / "ter" / "report.html")
    assert re.search(
        r"Development TER \(an error rate, lower is better\) went from [\d.]+ to [\d.]+ with those of iteration \d: "
        r"-[\d.]+ \(95 % interval -[\d.]+ to [+-][\d.]+\)\.",
        lead,
    ), lead
    lead, after = header(place / "cmp" / "report.html")
    assert lead.startswith("2 systems, 3 runs each, were measured on dev by TER, BLEU. Best beside untuned by TER (an")
    assert re.search(r"is WRO: [\d.]+, -[\d.]+ from untuned \(95 % interval -[\d.]+ to [+-]?[\d.]+\)\.$", lead), lead
    assert after.startswith("Next: ")
    page = (place / "cmp" / "report.html").read_text(encoding="utf-8")
    assert ">TER ↓ (error rate in %)</text>" in page


def test_references_that_are_gone_leave_the_interval_out(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "run", tmp_path / "run")
    assert "95 %" not in gained(read_run(tmp_path / "run"))  # relative paths are meant from elsewhere


def test_a_selection_says_what_it_took_and_shows_examples(place: Path) -> None:
    lead, after = header(place / "dev.html")
    taken = (place / "dev.lines").read_text().split()
    assert lead.startswith(f"{len(taken)} pairs with ")
    assert "selected by method la from 400 candidates in a pool of 400 pairs (pool.de and pool.en)." in lead
    scores = [float(line.split("\t")[1]) for line in (place / "dev.scores").read_text().splitlines()[1:]]
    assert f"mean score is {np.mean(scores):.2f} ({min(scores):.2f} to {max(scores):.2f})" in lead
    assert "lasw tune --source dev.de --references dev.en" in after
    page = (place / "dev.html").read_text(encoding="utf-8")
    pool = (place / "pool.de").read_text().splitlines()
    assert f"<td>{pool[int(taken[0]) - 1]}</td>" in page
    line, _, reason, *_ = (place / "dev.rejected.tsv").read_text().splitlines()[1].split("\t")
    assert f"<td>{pool[int(line) - 1]}</td>" in page
    assert f"<td>{reason}, similarity " in page
    assert '<th scope="row">threshold</th><td><code>0.3</code></td>' in page
    assert '<th scope="row">command</th>' in page
    assert ">score of a pair (no unit, higher is better)</text>" in page
    assert ">share of pairs (%)</text>" in page


@pytest.mark.parametrize("name", PAGES)
def test_headings_go_down_in_steps_and_all_that_is_drawn_has_a_name(place: Path, name: str) -> None:
    page = (place / name).read_text(encoding="utf-8")
    levels = [int(level) for level in re.findall(r"<h(\d)>", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert not re.findall(r'<svg (?!viewBox="[^"]*" (?:role="img" aria-label="[^"]+|aria-hidden="true))', page)
    groups = re.findall(r'<div class="wide"([^>]*)>', page)
    assert all(re.search(r'tabindex="0" role="group" aria-label="[^"]+', group) for group in groups)
    assert page.count("<table") == page.count('scope="row"') or '<th scope="col">' in page
    for chart in re.findall(r'<div class="chart">(.*?)</div>', page):
        titles = re.findall(r'text-anchor="(?:start|middle)">([^<]*)<', chart)
        assert [text for text in titles if re.search("iteration|score|BLEU|TER|error", text)], titles


@pytest.mark.parametrize(("page", "colours"), [(LIGHT_PAGE, LIGHT), (DARK_PAGE, DARK)])
def test_contrast_is_that_of_wcag_aa(page: dict[str, str], colours: tuple[str, ...]) -> None:
    assert contrast(page["text"], page["page"]) >= 4.5
    assert contrast(page["soft"], page["page"]) >= 4.5
    assert contrast(page["text"], page["mark"]) >= 4.5
    assert all(contrast(colour, page["page"]) >= 3 for colour in colours)
    assert all(f"--c{k}: {colour};" in STYLE for k, colour in enumerate(colours))
    assert len(set(colours)) == len(LIGHT)


def test_contrast_as_wcag_computes_it() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_letters_of_narrow_screens_do_not_overlap() -> None:
    """At 20 pixels a letter is 12 wide at most: numbers at an axis, its title, names of rows."""
    charts = [
        line_chart("x", [Series("a", [(k, 1e6 * k) for k in range(13)])], "iteration", "candidates (number)"),
        line_chart(
            "x", [Series("a", [(k, 0.0001 * k) for k in range(40)])], "iteration", "weight (share of the L1 norm)"
        ),
        histogram("x", (5.9, 6.05), [("a", {0: 0.5, 2: 0.5})], 3, "score of a pair"),
        dot_rows("x", [("a name that is so long that no narrow screen has room for it", [1.0, 2.0])], "BLEU (score)"),
    ]
    for chart in charts:
        boxes = []
        for x, y, anchor, text in re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]*)<', chart):
            width = 12.0 * len(html.unescape(text)) if anchor != "end" else 11.5 * len(text)
            left = float(x) - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
            boxes.append((left, left + width, float(y) - 16, float(y) + 4, text))
        assert all(left >= -8 and right <= 648 for left, right, *_ in boxes), boxes
        for k, (left, right, top, bottom, text) in enumerate(boxes):
            for other in boxes[k + 1 :]:
                assert not (left < other[1] and other[0] < right and top < other[3] and other[2] < bottom), (
                    text,
                    other,
                )


def test_a_run_of_lasw_mert_moses_says_it_too(place: Path) -> None:
    """Its settings are flat, the optimiser is a signature; scores that are not those of the log have no interval."""
    run = read_run(place / "run")
    said = {**run.description, "settings": {"optimiser": "MERT|metric:TER", "metric": "TER"}}
    found = dataclasses.replace(run, description=said)
    assert found.dev_metric == "TER"
    assert done(found).startswith("A decoder was tuned by MERT on ")
    assert run.result is not None
    log = [{**run.records[0], "dev_score": 0.123}, *run.records[1:]]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert development_gain(place / "run", run.description, run.result, run.records) is not None
        assert development_gain(place / "run", run.description, run.result, log) is None
