"""The tuning loop with a decoder made of a formula: what it computes, when it ends, and that a kill changes nothing."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_loop import REFERENCE, SENTENCES, Killed, Step, Toy, Writes, dev_bleu, log, run

from lasw.metrics import Corpus, References, UserError, Vocabulary, metric
from lasw.tuning import (
    Fit,
    NBest,
    Pool,
    Weights,
    iteration_seed,
    read_weights,
)
from lasw.tuning.loop.stopping import MAXIMUM, NO_NEW_CANDIDATES, SETTLED


def what_counts(path: Path) -> dict[str, bytes]:
    """All files whose bytes must not depend on how often the run was interrupted."""
    names = ("weights.json", "result.json", "before.json", "nbest.gz", "after.json")
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.name in names}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loop") / "run"
    run(path)
    return path


def test_what_a_run_leaves(uninterrupted: Path) -> None:
    records = log(uninterrupted)
    assert [r["iteration"] for r in records] == [1, 2, 3, 4, 5, 6]
    before = [read_weights(uninterrupted / f"iterations/{k:03d}/before.json") for k in range(1, 7)]
    after = [read_weights(uninterrupted / f"iterations/{k:03d}/after.json") for k in range(1, 6)]
    assert np.array_equal(before[0].dense, Toy().start_weights().dense)
    for k in range(5):
        assert np.array_equal(after[k].dense, before[k + 1].dense)
        assert records[k]["moved"] == np.abs(after[k].dense - before[k].dense).max()
        assert records[k]["seed"] == iteration_seed(1, k + 1)
        assert records[k]["warnings"] == ["as it happens"]
    assert [r["dev_score"] for r in records] == pytest.approx([dev_bleu(w) for w in before], abs=1e-12)
    assert records[0]["new_candidates"] == records[0]["candidates"] <= 6 * SENTENCES
    assert all(
        later["candidates"] == earlier["candidates"] + later["new_candidates"]
        for earlier, later in itertools.pairwise(records[:5])
    )
    assert "pool_bleu" not in records[5]


def test_the_best_weights_are_returned_last_iteration_included(uninterrupted: Path, tmp_path: Path) -> None:
    records = log(uninterrupted)
    best = int(np.argmax([r["dev_score"] for r in records]))
    assert json.loads((uninterrupted / "result.json").read_text())["chosen"] == best
    chosen = uninterrupted / f"iterations/{best:03d}/after.json"
    assert (uninterrupted / "weights.json").read_bytes() == chosen.read_bytes()
    assert records[best]["dev_score"] > records[0]["dev_score"] + 0.05
    only_one = run(tmp_path / "one", iterations=1)  # the last weights are the only new ones
    assert (only_one.chosen, only_one.iterations) == (1, 1)
    assert only_one.dev_score == pytest.approx(dev_bleu(only_one.weights), abs=1e-12)


def test_start_weights_win_if_nothing_is_better(tmp_path: Path) -> None:
    class Worse(Step):
        def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
            return Fit(Weights(start.names, np.array([-1.0, -1.0, -1.0 - self.seed % 7])), 0.0, 1)

    toy = Toy()
    good = Weights.from_groups({"LM": [0.2], "TM": [0.2, 0.6]})
    toy.start_weights = lambda: good  # type: ignore[method-assign]
    outcome = run(tmp_path / "run", toy, optimiser=Worse, iterations=2)
    assert (outcome.chosen, outcome.iterations) == (0, 2)
    assert np.array_equal(read_weights(tmp_path / "run/weights.json").dense, good.dense)


def test_last_weights_need_no_further_decoding(tmp_path: Path) -> None:
    toy = Toy()
    outcome = run(tmp_path / "run", toy, keep="last", iterations=3)
    assert (outcome.chosen, outcome.dev_score, outcome.reason) == (3, None, MAXIMUM)
    assert toy.calls == 3
    assert np.array_equal(outcome.weights.dense, read_weights(tmp_path / "run/iterations/003/after.json").dense)


def test_ends_when_no_new_candidate_came(tmp_path: Path) -> None:
    toy = Toy()
    outcome = run(tmp_path / "run", toy, nbest=60, iterations=9)
    assert (outcome.reason, outcome.iterations, toy.calls) == (NO_NEW_CANDIDATES, 2, 2)
    second = log(tmp_path / "run")[1]
    assert (second["new_candidates"], second["moved"]) == (0, 0.0)
    assert outcome.dev_score == max(r["dev_score"] for r in log(tmp_path / "run"))


def test_ends_when_the_weights_have_settled(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run", optimiser=lambda seed: Step(seed, noise=1e-3, size=0.0), tolerance=0.5)
    assert (outcome.reason, outcome.iterations) == (SETTLED, 1)


def test_the_same_command_again_does_nothing(uninterrupted: Path) -> None:
    toy = Toy()
    before = what_counts(uninterrupted)
    again = run(uninterrupted, toy)
    assert (again.already_finished, toy.calls) == (True, 0)
    assert what_counts(uninterrupted) == before


def test_the_final_weights_are_made_again_if_they_were_damaged(tmp_path: Path, uninterrupted: Path) -> None:
    shutil.copytree(uninterrupted, tmp_path / "run")
    final = tmp_path / "run" / "weights.json"
    final.write_text("{")
    assert run(tmp_path / "run", Toy()).already_finished
    assert final.read_bytes() == (uninterrupted / "weights.json").read_bytes()


def test_more_iterations_go_on_from_the_last(tmp_path: Path, uninterrupted: Path) -> None:
    run(tmp_path / "run", iterations=2)

    class Failing(Toy):
        def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
            raise UserError("no more")

    # The decoding with the last weights was the first half of iteration 3; the fourth decoding is the one that fails.
    with pytest.raises(UserError, match="no more"):
        run(tmp_path / "run", Failing(), iterations=5)
    assert "under way: 3 iterations" in (tmp_path / "run/report.html").read_text()
    assert not (tmp_path / "run/weights.json").exists()
    outcome = run(tmp_path / "run", iterations=5)
    assert (outcome.already_finished, outcome.iterations) == (False, 5)
    assert what_counts(tmp_path / "run") == what_counts(uninterrupted)
    with pytest.raises(UserError, match="2 iterations are asked for, 5 are there"):
        run(tmp_path / "run", iterations=2)


def test_interrupted_at_every_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "wanted", iterations=2)
    wanted = what_counts(tmp_path / "wanted")
    writes = Writes(monkeypatch)
    for number in range(1, 60):
        path = tmp_path / str(number)
        writes.left = number
        try:
            run(path, iterations=2)
        except Killed:
            run(path, iterations=2)
            assert what_counts(path) == wanted
        else:
            assert number > 15  # so many writes there were, and each was the one that failed
            return
    pytest.fail("the run never ended")


def test_interrupted_again_and_again(tmp_path: Path, uninterrupted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes, draw = Writes(monkeypatch), random.Random(5)
    kills = 0
    while True:
        writes.left = draw.randint(3, 9)
        try:
            run(tmp_path / "run")
            break
        except Killed:
            kills += 1
    assert kills >= 4
    assert what_counts(tmp_path / "run") == what_counts(uninterrupted)


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import toy_loop
toy_loop.run(Path(sys.argv[1]))
"""


def test_sigkill_at_random_moments(tmp_path: Path, uninterrupted: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(tests=str(Path(__file__).parents[2])))
    path = tmp_path / "run"
    draw = random.Random(int.from_bytes(os.urandom(4), "big"))
    killed = 0
    for attempt in range(40):
        process = subprocess.Popen([sys.executable, str(program), str(path)], stderr=subprocess.PIPE, text=True)
        if attempt < 4:  # wait until it is at work, imports are not what is to be interrupted
            while process.poll() is None and not (path / "run.json").exists():
                time.sleep(0.005)
            (path / "run.json").exists() and time.sleep(draw.uniform(0.0, 1.0) if attempt else 0.1)
            process.send_signal(signal.SIGKILL)
        _, complaint = process.communicate()
        killed += process.returncode == -signal.SIGKILL
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, complaint
    assert killed >= 1
    assert what_counts(path) == what_counts(uninterrupted)
    assert not list(path.rglob(".*"))


def test_says_that_the_decoder_ignores_the_weights(tmp_path: Path) -> None:
    class Deaf(Toy):
        def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
            return super().decode(source, self.start_weights(), n, vocabulary)

    run(tmp_path / "deaf", Deaf())
    assert any("seems to ignore them" in text for text in log(tmp_path / "deaf")[1]["warnings"])
    given = Deaf()
    given.follows_weights = False
    run(tmp_path / "given", given)
    run(tmp_path / "all", nbest=60)  # the same candidates, but other scores
    for name in ("given", "all"):
        assert log(tmp_path / name)[1]["warnings"] == []


def test_a_decoder_that_fails_leaves_finished_iterations(tmp_path: Path, uninterrupted: Path) -> None:
    class Failing(Toy):
        def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
            if self.calls == 2:
                raise UserError("toy: exit code 3: out of cheese")
            return super().decode(source, weights, n, vocabulary)

    with pytest.raises(UserError, match="out of cheese"):
        run(tmp_path / "run", Failing())
    assert [r["iteration"] for r in log(tmp_path / "run")] == [1, 2]
    run(tmp_path / "run")
    assert what_counts(tmp_path / "run") == what_counts(uninterrupted)


def test_sentences_without_hypotheses(tmp_path: Path) -> None:
    class Shy(Toy):
        def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
            found = super().decode(source, weights, n, vocabulary)
            keep = np.flatnonzero(~np.isin(found.owner, self.silent))
            return NBest(
                found.names, found.owner[keep], found.hypotheses.take(keep), found.dense[keep], found.score[keep]
            )

        silent: tuple[int, ...] = (3, 5)

    run(tmp_path / "run", Shy(), iterations=1)
    record = log(tmp_path / "run")[0]
    assert "no hypothesis for 2 of 12 sentences, the first is line 4" in record["warnings"][0]
    references = References.from_lines(REFERENCE)
    start = Toy().start_weights().dense
    first = [max(of_sentence, key=lambda c: float(c[1] @ start))[0] for of_sentence in Toy().candidates]
    spoken = [[] if k in (3, 5) else words for k, words in enumerate(first)]
    bleu = metric("BLEU")
    corpus = Corpus.from_lines(map(" ".join, spoken), references.vocabulary)
    statistics = bleu.statistics(corpus, bleu.prepare(references), np.arange(12))
    assert record["dev_score"] == pytest.approx(float(bleu.corpus_score(statistics.sum(axis=0))), abs=1e-12)
    mute = Shy()
    mute.silent = tuple(range(12))
    with pytest.raises(UserError, match="toy gave no hypothesis for any sentence"):
        run(tmp_path / "mute", mute)


def test_counts_that_do_not_match(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="3 source sentences; expected 12"):
        run(tmp_path / "run", source=["a"] * 3)


def test_other_features_than_weights(tmp_path: Path) -> None:
    toy = Toy()
    toy.start_weights = lambda: Weights.from_groups({"LM": [1.0], "WP": [1.0]})  # type: ignore[method-assign]
    toy.decode = lambda s, w, n, v: Toy().decode(s, Toy().start_weights(), n, v)  # type: ignore[method-assign]
    with pytest.raises(UserError, match="features LM TM_0 TM_1; expected those that have weights: LM WP"):
        run(tmp_path / "run", toy)


def test_features_that_are_not_finite(tmp_path: Path) -> None:
    class Wild(Toy):
        def decode(self, source: Sequence[str], weights: Weights, n: int, vocabulary: Vocabulary) -> NBest:
            found = super().decode(source, weights, n, vocabulary)
            found.dense[7, 1] = -np.inf
            return found

    with pytest.raises(UserError, match="1 hypotheses with numbers that are not finite: TM_0 is -inf for sentence 2"):
        run(tmp_path / "run", Wild())


def test_weights_that_are_not_finite(tmp_path: Path) -> None:
    class Wild(Step):
        def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
            return Fit(Weights(start.names, np.array([np.nan, 0.0, 1.0])), 0.0, 1)

    with pytest.raises(UserError, match="not finite"):
        run(tmp_path / "run", optimiser=Wild)


def test_seeds_of_iterations_differ_and_stay() -> None:
    seeds = [iteration_seed(seed, k) for seed in (1, 2) for k in range(1, 20)]
    assert len(set(seeds)) == len(seeds)
    assert seeds[:2] == [iteration_seed(1, 1), iteration_seed(1, 2)]


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[Any] = []

    class Listener:
        def started(self, iteration: int, step: str) -> None:
            told.append((iteration, step))

        def decoded(self, done: int, of: int) -> None:
            pass

        def finished(self, record: dict[str, Any]) -> None:
            told.append((record["iteration"], "finished"))

    run(tmp_path / "run", iterations=1, progress=Listener())
    assert told == [(1, "decode"), (1, "optimise"), (1, "finished"), (2, "decode"), (2, "finished")]


@pytest.mark.parametrize("name", ["iteration.json", "decode.json", "before.json", "after.json"])
@pytest.mark.parametrize("content", ["", "[1", "{}"])
def test_a_damaged_file_has_its_iteration_done_again(
    tmp_path: Path, uninterrupted: Path, name: str, content: str
) -> None:
    shutil.copytree(uninterrupted, tmp_path / "run")
    (tmp_path / "run/iterations/002" / name).write_text(content)
    run(tmp_path / "run")
    assert what_counts(tmp_path / "run") == what_counts(uninterrupted)
    if name in ("iteration.json", "after.json"):
        told = [text for record in log(tmp_path / "run") for text in record["warnings"] if "damaged" in text]
        assert len(told) == 1
        assert told[0].startswith(f"iterations/002/{name} is damaged (")
        assert told[0] in log(tmp_path / "run")[1]["warnings"]


@pytest.mark.parametrize("name", ["iteration.json", "decode.json", "before.json", "after.json", "nbest.gz"])
def test_a_changed_file_has_its_iteration_done_again(tmp_path: Path, uninterrupted: Path, name: str) -> None:
    """What can be read and is not what was written: another digit in a score, in weights, in a list."""
    shutil.copytree(uninterrupted, tmp_path / "run")
    path = tmp_path / "run/iterations/002" / name
    if name == "nbest.gz":
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"1", b"2")))
    else:
        text = path.read_text()
        place = re.search(r"\d\.\d*(\d)", text)
        assert place is not None
        path.write_text(text[: place.start(1)] + str((int(place[1]) + 1) % 10) + text[place.end(1) :])
    run(tmp_path / "run")
    assert what_counts(tmp_path / "run") == what_counts(uninterrupted)
    told = [text for record in log(tmp_path / "run") for text in record["warnings"] if "damaged" in text]
    assert (not told) == (name == "decode.json")  # which nobody reads again where the iteration is done
    assert all("is not what was written" in text for text in told)


def test_files_of_an_earlier_release_have_no_checksums(tmp_path: Path, uninterrupted: Path) -> None:
    shutil.copytree(uninterrupted, tmp_path / "run")
    for path in (tmp_path / "run/iterations").rglob("*.json"):
        content = json.loads(path.read_text())
        for key in ("files", "sha256"):
            content.pop(key, None)
        path.write_text(json.dumps(content))
    assert run(tmp_path / "run").already_finished


def test_lists_made_with_other_weights_are_made_again(tmp_path: Path, uninterrupted: Path) -> None:
    shutil.copytree(uninterrupted, tmp_path / "run")
    for name in ("before.json", "nbest.gz", "decode.json"):
        shutil.copy(uninterrupted / "iterations/002" / name, tmp_path / "run/iterations/003" / name)
    (tmp_path / "run/iterations/003/iteration.json").write_text("half")
    run(tmp_path / "run")
    assert what_counts(tmp_path / "run") == what_counts(uninterrupted)
