"""lasw-mert-moses with a stand-in for Moses: what it makes of a command line, the files it leaves, what a kill does."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from moses_runs import GROUPS, INI, NAMES, SENTENCES, call, files, made
from stand_in_moses import system

from lasw.metrics import References, UserError, metric
from lasw.scripts.mert_moses.arguments import read_config, specification
from lasw.scripts.mert_moses.command import main
from lasw.scripts.mert_moses.learning import active, optimiser_for, ranges
from lasw.scripts.mert_moses.options import (
    HONOURED,
    NO_EFFECT,
    OURS,
    REFUSED,
    THEIRS,
    UsageError,
    read_options,
    refuse_and_remark,
)
from lasw.scripts.mert_moses.settings import Settings, settings
from lasw.tuning import match, read_pool, read_scored_pool, read_weights, recorded_iterations


@pytest.fixture(scope="module")
def system_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("system"))


@pytest.fixture(autouse=True)
def _no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)


QUICK = ("--pairwise-ranked", "--maximum-iterations", "4")


@pytest.fixture(scope="module")
def whole(system_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working directory of an uninterrupted run with the options QUICK."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(call(system_folder, folder, *QUICK)) == 0
    return folder


class TestRuns:
    def test_the_experiment_managers_call(self, system_folder: Path, whole: Path, tmp_path: Path) -> None:
        found = files(whole)
        last = int(found["finished_step.txt"])
        for k in range(1, last + 1):
            assert {f"run{k}.{end}" for end in ENDS} <= set(found)
        tuned = read_weights(whole / "moses.ini")
        assert tuned.by_group()["UnknownWordPenalty0"] == [1.0]
        assert sum(abs(v) for group, vs in tuned.by_group().items() if group[0] != "U" for v in vs) == pytest.approx(1)
        text = found["moses.ini"].decode()
        assert text.split("\n")[3] == f"# We were before running iteration {last + 1}"
        assert "# BLEU 0." in text.split("\n")[2]
        assert "[v]\n0\n" in text or "[verbose]\n0\n" in text
        self.check_accepted(system_folder, whole / "moses.ini", tmp_path / "list")

    @staticmethod
    def check_accepted(place: Path, ini: Path, path: Path) -> None:
        words = ["-f", ini, "-n-best-list", path, "3", "distinct", "-i", place / "dev.de"]
        subprocess.run([place / "moses", *words], check=True, stdout=subprocess.DEVNULL)
        assert path.read_text().count("\n") == 3 * SENTENCES

    def test_files_say_what_happened(self, whole: Path) -> None:
        start = read_weights(whole / "run1.moses.ini")
        assert start.by_group()["LM0"] == [0.5 / 2.1]
        dense = (whole / "run2.dense").read_text().split("\n")
        second = read_weights(whole / "run2.moses.ini").by_group()
        assert dense[0] == f"LM0= {second['LM0'][0]!r}"
        assert dense[2:5] == [f"TranslationModel0= {value!r}" for value in second["TranslationModel0"]]
        assert (whole / "run1.weights.txt").read_text().split() == [line.split()[1] for line in dense[:-1]]
        lines = gzip.decompress((whole / "run1.best5.out.gz").read_bytes()).decode().split("\n")
        first = {line.split(" ||| ")[0]: line.split(" ||| ")[1].strip() for line in reversed(lines) if line}
        assert (whole / "run1.out").read_text().split("\n")[:-1] == [first[str(k)] for k in range(SENTENCES)]

    def test_the_same_command_makes_the_same_bytes(self, system_folder: Path, whole: Path, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        assert main(call(system_folder, folder, *QUICK, "--jobs", "2")) == 0
        assert files(folder) == files(whole)
        assert main(call(system_folder, folder, *QUICK)) == 0  # starts over
        assert files(folder) == files(whole)
        assert (folder / "lasw-run.1" / "weights.json").exists()

    def test_continuing_a_finished_run_just_finishes(
        self, system_folder: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
        before = files(tmp_path)
        for name in ("moses.ini", "run2.out", "run1.best5.out.gz", "finished_step.txt"):
            (tmp_path / name).unlink()
        (tmp_path / "run1.moses.ini").write_text("cut off")
        assert main(call(system_folder, tmp_path, *QUICK, "--continue", "--skip-decoder")) == 0
        assert files(tmp_path) == before
        fewer = ("--pairwise-ranked", "--maximum-iterations", "2", "--continue")
        assert main(call(system_folder, tmp_path, *fewer)) == 0
        assert files(tmp_path) == before
        assert "was finished already" in capsys.readouterr().out

    def test_more_iterations_go_on(self, system_folder: Path, whole: Path, tmp_path: Path) -> None:
        few = ("--pairwise-ranked", "--maximum-iterations")
        assert main(call(system_folder, tmp_path / "a", *few, "2")) == 0
        assert main(call(system_folder, tmp_path / "a", *few, "4", "--continue")) == 0
        assert (tmp_path / "a" / "moses.ini").read_bytes() == (whole / "moses.ini").read_bytes()

    def test_the_best_development_score_is_returned(self, system_folder: Path, tmp_path: Path) -> None:
        assert main(call(system_folder, tmp_path, *QUICK, "--return-best-dev")) == 0
        scores = [
            float(re.findall(r"# BLEU (\S+) on dev", path.read_text())[0])
            for path in sorted(tmp_path.glob("run?.moses.ini"))
        ]
        assert float(re.findall(r"# BLEU (\S+) on dev", (tmp_path / "moses.ini").read_text())[0]) == max(scores)
        best = read_weights(tmp_path / f"run{1 + int(np.argmax(scores))}.moses.ini")
        assert best.by_group() == read_weights(tmp_path / "moses.ini").by_group()

    def test_it_ends_within_the_noise_only_if_asked(
        self, system_folder: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert int(files(whole)["finished_step.txt"]) > 3
        assert main(call(system_folder, tmp_path, *QUICK, "--noise", "1000")) == 0
        # The second decoding gained more than the noise, the third did not.
        assert "finished after 3 iterations: the pool's gain is within its noise" in capsys.readouterr().out
        for name in ("run1.best5.out.gz", "run2.best5.out.gz", "run1.weights.txt", "run2.weights.txt"):
            assert files(tmp_path)[name] == files(whole)[name]
        assert main(call(system_folder, tmp_path, *QUICK, "--noise=-1")) == 2

    def test_sparse_features_stand_in_files_of_their_own(self, system_folder: Path, tmp_path: Path) -> None:
        place = made(tmp_path, sparse=True)
        folder = tmp_path / "run"
        assert main(call(place, folder, *QUICK)) == 0
        tuned = read_weights(folder / "moses.ini")
        assert any(name.startswith("WT_") for name in tuned.sparse)
        assert (folder / "run2.sparse-weights").read_text().startswith("WT_")
        self.check_accepted(place, folder / "moses.ini", tmp_path / "list")
        again = tmp_path / "again"
        assert main(call(place, again, *QUICK, "--jobs", "2")) == 0
        assert read_weights(again / "moses.ini").sparse == tuned.sparse
        assert read_weights(folder / "run.weights").sparse == tuned.sparse
        assert read_weights(folder / "run1.weights.txt").sparse == read_weights(folder / "run2.moses.ini").sparse != {}
        assert main(call(system_folder, folder, *QUICK)) == 0  # another system: none of these may be taken for its own
        assert not list(folder.glob("*run.sparse-weights")) + list(folder.glob("run?.sparse-weights"))

    def test_files_for_moses_own_tools(
        self, system_folder: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        words = (*QUICK, "--moses-files")
        (tmp_path / "run1.scores.dat").write_text("of an earlier run")
        assert main(call(system_folder, tmp_path, *words)) == 0
        found, plain = files(tmp_path), files(whole)
        assert {name: found[name] for name in plain} == plain
        last = int(found["finished_step.txt"])
        numbered = {f"run{k}.{end}" for k in range(1, last + 1) for end in TOOLS}
        assert set(found) - set(plain) == {*numbered, "init.opt", "mert.log", "mert.out", "features.list"}
        assert found["init.opt"] == found[f"run{last}.init.opt"]
        assert found["mert.log"] == found[f"run{last}.mert.log"]
        for k in range(1, last + 1):
            made = (tmp_path / f"run{k}.weights.txt").read_text().split()
            pool_bleu = json.loads((tmp_path / f"lasw-run/iterations/{k:03}/iteration.json").read_text())["pool_bleu"]
            # As mert-moses.pl looks for them.
            point = re.search(r"Best point:\s*([\s\d\.\-e]+?)\s*=> ([\-\d\.]+)", found[f"run{k}.mert.log"].decode())
            assert point is not None
            assert (point[1].split(), point[2]) == (made, f"{pool_bleu:.6f}")
            printed = re.findall(r"^F(\d+) ([\-\.\de]+)$", found[f"run{k}.mert.out"].decode(), re.MULTILINE)
            assert printed == [(str(place), value) for place, value in enumerate(made)]
            lists = gzip.decompress(found[f"run{k}.best5.out.gz"]).decode().splitlines()
            values = [word for word in lists[0].split(" ||| ")[2].split() if not word.endswith("=")]
            row = found[f"run{k}.features.dat"].decode().split("\n")[1].split()
            assert list(map(float, row)) == list(map(float, values))
            pool = read_scored_pool([(tmp_path / f"run{k}.features.dat", tmp_path / f"run{k}.scores.dat")])
            lines, _ = read_pool([tmp_path / f"run{k}.best5.out.gz"], References.read([system_folder / "dev.en"]))
            weights = match(read_weights(tmp_path / f"run{k}.dense"), NAMES).weights
            assert pool.corpus_score(metric("BLEU"), weights) == lines.corpus_score(metric("BLEU"), weights)
        shown = match(read_weights(tmp_path / "features.list"), NAMES).weights
        assert shown.dense.tolist() == [0.5, -1.0, 0.2, 0.2, 0.2]
        assert main(call(system_folder, tmp_path, *words, "--continue")) == 0
        assert files(tmp_path) == found
        words = ("--mertargs=--sctype TER", "--maximum-iterations", "1", "--range", "LM0:-1..1,WordPenalty0:-3..0")
        capsys.readouterr()
        assert main([word for word in call(system_folder, tmp_path / "ter", *words, "--moses-files")
                     if word != "--quiet"]) == 0  # fmt: skip
        assert "the scores files have the statistics of BLEU, not of TER" in capsys.readouterr().err
        assert (tmp_path / "ter" / "init.opt").read_text().split("\n")[1:3] == ["-1 -3 0 0 0", "1 0 1 1 1"]

    def test_every_file_of_weights_can_be_given_back(self, whole: Path) -> None:
        last = int((whole / "finished_step.txt").read_text())
        steps = {k: read_weights(whole / f"run{k}.moses.ini") for k in range(1, last + 1)}
        for k, weights in steps.items():
            wanted = match(weights, NAMES).weights.dense.tolist()
            before = [f"run{k}.dense", f"run{k}.init.opt", f"lasw-run/iterations/{k:03}/before.json"]
            made = [f"run{k - 1}.weights.txt", f"lasw-run/iterations/{k - 1:03}/after.json"] if k > 1 else []
            for name in (*before, *made):
                assert match(read_weights(whole / name), NAMES).weights.dense.tolist() == wanted, name
        wanted = match(read_weights(whole / "moses.ini"), NAMES).weights.dense.tolist()
        for name in ("run.weights", "weights.txt", f"run{last}.weights.txt", "lasw-run/weights.json"):
            assert match(read_weights(whole / name), NAMES).weights.dense.tolist() == wanted, name

    @pytest.mark.parametrize("said", ["option", "decoder", "ini"])
    def test_confusion_networks(self, tmp_path: Path, said: str) -> None:
        networks = {
            f"ein{k} 0.5 der 0.5\nhaus 1": [(f"a house {k}", [0.0] * 5, {}), ("b", [1.0] * 5, {})] for k in range(4)
        }
        (tmp_path / "dev.de").write_text("".join(network + "\n\n" for network in networks))
        (tmp_path / "dev.en").write_text("".join(f"a house {k}\n" for k in range(4)))
        (tmp_path / "moses.ini").write_text(INI + ("[inputtype]\n1\n" if said == "ini" else ""))
        program = system(tmp_path, networks, GROUPS)
        program.write_text(program.read_text().replace("sys.argv[1:]", "sys.argv[1:] + ['-inputtype', '1']"))
        words = call(tmp_path, tmp_path / "run", *QUICK, *(("--inputtype", "1") if said == "option" else ()))
        if said == "decoder":
            words[words.index("--decoder-flags") + 1] = "-v 0 -inputtype 1"
        assert main(words) == 0
        assert (tmp_path / "run" / "run1.out").read_text().split("\n")[3] in ("a house 3", "b")

    @pytest.mark.parametrize(
        "options",
        [
            ("--random-restarts", "2", "--range=LM0:-1..1", "--historic-bests", "--activate-features", "LM0_0"),
            ("--batch-mira", "--batch-mira-args", "-J 3 -C 0.1 --model-bg", "--prev-aggregate-nbestlist=0"),
            ("--pro-starting-point", "--random-restarts", "1", "--mertargs", "--sctype PER"),
            ("--optimiser", "wro", "--metric", "PABC4:alpha=3", "--option", "oracle_share=0.2"),
            ("--pairwise-ranked", "--proargs", "-b", "--nocase", "--shortest", "--historic-interpolation", "0.5"),
        ],
    )
    def test_optimisers(self, system_folder: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
        assert main(call(system_folder, tmp_path, *options, "--maximum-iterations", "2")) == 0
        assert read_weights(tmp_path / "moses.ini").by_group() != read_weights(tmp_path / "run1.moses.ini").by_group()
        if "LM0_0" in options:  # the others stay in relation to each other
            values = read_weights(tmp_path / "moses.ini").by_group()
            assert values["TranslationModel0"][0] / values["WordPenalty0"][0] == pytest.approx(-0.2)


TOOLS = ("features.dat", "scores.dat", "mert.log", "mert.out")
ENDS = ("best5.out.gz", "moses.ini", "out", "dense", "init.opt", "weights.txt")


class TestFilter:
    BODY = """
import shutil, sys, pathlib
folder, config, source = sys.argv[-3:]
pathlib.Path(folder).mkdir()
if "fail" in sys.argv:
    sys.exit("no table")
text = pathlib.Path(config).read_text()
pathlib.Path(folder, "moses.ini").write_text(text + "# filtered for " + source)
"""

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable}{self.BODY}")
        path.chmod(0o755)
        return path

    def test_it_runs_once_and_the_result_is_made_of_the_whole_model(self, system_folder: Path, tmp_path: Path) -> None:
        self.write(tmp_path / "scripts" / "training" / "filter-model-given-input.pl")
        words = [word for word in call(system_folder, tmp_path / "run", *QUICK) if word != "--no-filter-phrase-table"]
        words[words.index("--rootdir") + 1] = str(tmp_path / "scripts")
        assert main(words) == 0
        filtered = tmp_path / "run" / "filtered" / "moses.ini"
        assert filtered.read_text().endswith(f"# filtered for {system_folder / 'dev.de'}")
        assert "filtered for" not in (tmp_path / "run" / "moses.ini").read_text()
        when = filtered.stat().st_mtime_ns
        assert main([*words, "--continue"]) == 0
        assert filtered.stat().st_mtime_ns == when

    def test_one_that_fails_is_run_again(
        self, system_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        command = self.write(tmp_path / "filter")
        words = [word for word in call(system_folder, tmp_path / "run", *QUICK) if word != "--no-filter-phrase-table"]
        assert main([*words, "--filtercmd", f"{command} fail"]) == 1
        assert re.search(r"filter ended with code 1; its last lines: no table", capsys.readouterr().err)
        assert main([*words, "--filtercmd", f"{command} 'open"]) == 1
        assert re.search(r"--filtercmd .*\(No closing quotation\)", capsys.readouterr().err)
        assert main([*words, "--filtercmd", str(command)]) == 0

    def test_without_one_the_tables_stay_as_they_are(
        self, system_folder: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        left_out = ("--no-filter-phrase-table", "--quiet")
        words = [word for word in call(system_folder, tmp_path / "run", *QUICK) if word not in left_out]
        assert main(words) == 0
        assert "phrase tables are not filtered" in capsys.readouterr().err
        assert files(tmp_path / "run") == files(whole)


def test_models_named_by_relative_paths_are_found(
    system_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "table.gz").touch()
    (tmp_path / "relative.ini").write_text(INI.replace("num-features=3", "path=model/table num-features=3"))
    monkeypatch.chdir(tmp_path)
    words = [word for word in call(system_folder, tmp_path / "run", *QUICK) if word != "--quiet"]
    words[3] = "relative.ini"
    assert main(words) == 0
    assert f"relative paths in relative.ini count from {tmp_path}" in capsys.readouterr().err


class TestFailures:
    @pytest.mark.parametrize(
        ("knob", "message"),
        [("crash=5", r"SIGSEGV at sentence 5 of 16 \('satz 4"), ("fewer=9", "first without is sentence 10")],
    )
    def test_finished_iterations_stay(
        self,
        system_folder: Path,
        whole: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        knob: str,
        message: str,
    ) -> None:
        assert main(call(system_folder, tmp_path / "run", "--pairwise-ranked", "--maximum-iterations", "2")) == 0
        arguments = [word for word in call(system_folder, tmp_path / "run", *QUICK, "--continue") if word != "--quiet"]
        with monkeypatch.context() as failing:
            failing.setenv("STAND_IN", knob)
            assert main(arguments) == 1
        said = capsys.readouterr().err
        assert re.search(message, said)
        assert "2 finished iterations are kept" in said
        assert "Traceback" not in said
        assert main(arguments) == 0
        assert (tmp_path / "run" / "moses.ini").read_bytes() == (whole / "moses.ini").read_bytes()

    def test_other_settings_are_not_continued(
        self, system_folder: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
        assert main(call(system_folder, tmp_path, *QUICK, "--continue", "--nbest", "20")) == 1
        said = capsys.readouterr().err
        assert "nbest = 5 (now 20)" in said
        assert "leave out --continue" in said

    def test_no_list_for_skip_decoder(
        self, system_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(call(system_folder, tmp_path, *QUICK, "--skip-decoder")) == 1
        assert "run1.best5.out.gz: no list for --skip-decoder" in capsys.readouterr().err

    def test_references_of_another_length(
        self, system_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "short.en").write_text("a\n")
        arguments = call(system_folder, tmp_path / "run", *QUICK)
        arguments[1] = str(tmp_path / "short.en")
        assert main(arguments) == 1
        assert re.search(r"dev.de: 16 sentences; expected 1, as many as .*short.en has", capsys.readouterr().err)


class TestInterruptions:
    def test_kills_at_random_moments_change_nothing(self, system_folder: Path, whole: Path, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        draw = random.Random(11)
        words = [sys.executable, "-c", "import sys; from lasw.scripts.mert_moses.command import main; sys.exit(main())"]
        kills = 0
        for attempt in range(3):
            more = ["--continue"] if attempt else []
            environment = {**os.environ, "STAND_IN": "sleep=0.01"}
            started = subprocess.Popen(
                [*words, *call(system_folder, folder, *QUICK, *more)],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.STDOUT if attempt < 2 else None,
            )
            # The first kill comes some time after the first list, which is never too late; the second anywhere.
            if attempt == 0:
                while started.poll() is None and not list(folder.glob("run1.best*")):
                    time.sleep(0.005)
            deadline = time.monotonic() + (draw.uniform(0.0, 0.1) if attempt == 0 else 600)
            if attempt == 1:
                deadline = time.monotonic() + draw.uniform(0.5, 2.0)
            while started.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            if started.poll() is not None:
                assert started.returncode == 0
                break
            started.send_signal(signal.SIGKILL)
            started.wait()
            kills += 1
        assert kills
        assert files(folder) == files(whole)
        assert not list(folder.glob("lasw-moses-*"))

    def test_what_a_killed_write_left_behind_goes(self, system_folder: Path, whole: Path, tmp_path: Path) -> None:
        shutil.copytree(whole, tmp_path / "run")
        for name in (
            ".run2.moses.ini.c8vd81dv",
            ".run1.best5.out.gz.abcdefgh",
            ".moses.ini.a_bcdefg",
            ".weights.txt.12345678",
        ):
            (tmp_path / "run" / name).write_text("half")
        (tmp_path / "run" / ".notes.of.somebody").write_text("mine")
        assert main(call(system_folder, tmp_path / "run", *QUICK, "--continue")) == 0
        (tmp_path / "run" / ".notes.of.somebody").unlink()
        assert files(tmp_path / "run") == files(whole)

    def test_sigterm_stops_it_and_keeps_what_is_done(self, system_folder: Path, whole: Path, tmp_path: Path) -> None:
        shutil.copytree(whole, tmp_path / "run")
        shutil.rmtree(tmp_path / "run" / "lasw-run" / "iterations" / "004")
        words = [sys.executable, "-c", "import sys; from lasw.scripts.mert_moses.command import main; sys.exit(main())"]
        child = tmp_path / "child"
        started = subprocess.Popen(
            [*words, *call(system_folder, tmp_path / "run", *QUICK, "--continue")],
            env={**os.environ, "STAND_IN": f"sleep=9,child={child}"},
            stderr=subprocess.PIPE,
        )
        deadline = time.monotonic() + 60
        while not child.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        started.send_signal(signal.SIGTERM)
        assert b"interrupted" in started.communicate(timeout=60)[1]
        assert started.returncode == 128 + signal.SIGTERM
        assert not list((tmp_path / "run").glob("lasw-moses-*"))
        assert main(call(system_folder, tmp_path / "run", *QUICK, "--continue")) == 0
        assert files(tmp_path / "run") == files(whole)

    def test_a_list_that_is_there_needs_no_decoder(self, system_folder: Path, whole: Path, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        folder.mkdir()
        shutil.copy(whole / "run1.best5.out.gz", folder)
        one = ("--pairwise-ranked", "--maximum-iterations", "1", "--skip-decoder")
        with pytest.MonkeyPatch.context() as failing:
            failing.setenv("STAND_IN", "crash=1")
            assert main(call(system_folder, folder, *one)) == 0
        assert (folder / "run1.weights.txt").read_bytes() == (whole / "run1.weights.txt").read_bytes()

    def test_going_on_from_a_directory_of_mert_moses(self, system_folder: Path, whole: Path, tmp_path: Path) -> None:
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        for name in ("run1.best5.out.gz", "run2.best5.out.gz", "run2.moses.ini", "run3.moses.ini"):
            shutil.copy(whole / name, theirs)
        (theirs / "finished_step.txt").write_text("2\n")
        kept = (theirs / "run2.best5.out.gz").stat().st_mtime_ns
        assert main(call(system_folder, theirs, *QUICK, "--continue")) == 0
        # Iteration 3 draws with the same seed from the same candidates, so the rest is as if nothing had happened.
        assert (theirs / "moses.ini").read_bytes() == (whole / "moses.ini").read_bytes()
        assert (theirs / "run3.best5.out.gz").read_bytes() == (whole / "run3.best5.out.gz").read_bytes()
        assert (theirs / "run2.best5.out.gz").stat().st_mtime_ns == kept

    def test_an_unfinished_iteration_of_mert_moses_needs_no_decoding(
        self, system_folder: Path, whole: Path, tmp_path: Path
    ) -> None:
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        for name in ("run1.best5.out.gz", "run2.best5.out.gz", "run2.dense"):
            shutil.copy(whole / name, theirs)
        (theirs / "run1.weights.txt").write_text("not used\n")
        with pytest.MonkeyPatch.context() as failing:
            failing.setenv("STAND_IN", "crash=1")
            two = ("--pairwise-ranked", "--maximum-iterations", "2", "--continue")
            assert main(call(system_folder, theirs, *two)) == 0
        assert (theirs / "run2.weights.txt").read_bytes() == (whole / "run2.weights.txt").read_bytes()

    def test_the_last_weights_of_mert_moses(self, whole: Path, tmp_path: Path) -> None:
        """Nothing of the next iteration is there: what MIRA or PRO printed, what MERT left, what the result says."""
        shutil.copy(whole / "run1.best5.out.gz", tmp_path)
        assert recorded_iterations(tmp_path, 5, NAMES).after == ()
        printed = tmp_path / "run1.mert.out"
        printed.write_text("F0 0.5\nF1 -1\nF2 0.25\nF4 2.5e-1\nWT_a~b -0.1\n")
        assert recorded_iterations(tmp_path, 5, NAMES).after == ()  # its copy may be cut off
        (tmp_path / "run1.weights.txt").write_text("not used\n")
        (found,) = recorded_iterations(tmp_path, 5, NAMES).after
        assert found.dense.tolist() == [0.25, -0.5, 0.125, 0, 0.125]
        assert found.sparse == {"WT_a~b": -0.05}
        for nothing in ("F0 0\n", "F0\n", "F9 1\n"):
            printed.write_text(nothing)
            assert recorded_iterations(tmp_path, 5, NAMES).after == ()
        (tmp_path / "run1.weights.txt").write_text("0.5 0.25 0 0.25 0 \n")
        (found,) = recorded_iterations(tmp_path, 5, NAMES).after
        assert (found.dense.tolist(), found.sparse) == ([0.5, 0.25, 0, 0.25, 0], {})
        (tmp_path / "run1.weights.txt").write_text("not used\n")
        for number, known in (("1", True), ("2", True), ("3", False)):  # stood still, no more iterations, another one
            (tmp_path / "moses.ini").write_text(f"# We were before running iteration {number}\n{INI}")
            (tmp_path / "finished_step.txt").write_text(f"{number}\n")
            after = recorded_iterations(tmp_path, 5, NAMES).after
            assert [one.dense.tolist() for one in after] == ([[0.5, -1, 0.2, 0.2, 0.2]] if known else [])

    def test_a_list_that_is_cut_off_is_made_again(
        self, system_folder: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        for name in ("run1.best5.out.gz", "run2.moses.ini"):
            shutil.copy(whole / name, theirs)
        (theirs / "run2.best5.out.gz").write_bytes((whole / "run2.best5.out.gz").read_bytes()[:300])
        arguments = [word for word in call(system_folder, theirs, *QUICK, "--continue") if word != "--quiet"]
        assert main(arguments) == 0
        assert "run2.best5.out.gz is cut off" in capsys.readouterr().err
        assert (theirs / "moses.ini").read_bytes() == (whole / "moses.ini").read_bytes()


def test_what_failed_is_called_an_error(
    system_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The experiment manager looks for that word, and copies whatever moses.ini is there."""
    words = call(system_folder, tmp_path / "run", "--batch-mira")
    assert main([*words[:2], words[3], sys.executable, *words[4:]]) == 1  # exchanged, and no script
    said = capsys.readouterr().err
    assert said.startswith("lasw-mert-moses: error: ")
    assert "this is a program, no moses.ini" in said
    assert said.count("\n") == 1
    assert main([*words, "--nonsense"]) == 2
    assert "error: unknown option --nonsense" in capsys.readouterr().err


class TestOptions:
    @pytest.mark.parametrize(
        ("words", "name", "value"),
        [
            (["--nbest", "5"], "nbest", 5),
            (["-nbest=5"], "nbest", 5),
            (["--nb", "5"], "nbest", 5),
            (["--NBEST", "+5"], "nbest", 5),
            (["-decoder-flags", "-v 0"], "decoder-flags", "-v 0"),
            (["--decoder-flags", "--threads"], "decoder-flags", "--threads"),
            (["--decoder-flags="], "decoder-flags", ""),
            (["--mertargs=--sctype TER"], "mertargs", "--sctype TER"),
            (["--no-filter-phrase-table"], "filter-phrase-table", False),
            (["--nofilter"], "filter-phrase-table", False),
            (["--filter-phrase-table"], "filter-phrase-table", True),
            (["--range", "a:0..1", "--rang=b:0..1"], "range", ["a:0..1", "b:0..1"]),
            (["--continue", "--conti"], "continue", True),
            (["--input", "other"], "input", "i"),  # four arguments count before it
            (["--histor", ".5", "--help"], None, None),
            (["--la", "3"], "lattice-samples", 3),  # theirs before ours
            (["--opti", "pro"], "optimiser", None),
            (["--hist-i"], None, None),
        ],
    )
    def test_ways_to_write_them(self, words: list[str], name: str | None, value: object) -> None:
        if name is None or value is None:
            with pytest.raises(UsageError):
                read_options(["i", "r", "d", *words, "c"])
            return
        given = read_options(["i", *words, "r", "d", "c"])
        assert given.values[name] == value
        assert [given.values[key] for key in ("input", "refs", "decoder", "config")] == ["i", "r", "d", "c"]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--co", "x"], "--co could mean --config, --continue"),
            (["--no"], "--no could mean .*--no-filter-phrase-table"),
            (["--nbst", "5"], "unknown option --nbst; did you mean --nbest"),
            (["--nbest", "five"], "--nbest is 'five'; expected a whole number"),
            (["--nbest", "1" * 5000], "expected a whole number"),
            (["--historic-interpolation", "x"], "expected a number"),
            (["--continue=yes"], "--continue takes no value"),
            (["--nbest"], "--nbest without a value"),
            (["extra"], "5 arguments"),
        ],
    )
    def test_wrong_ones(self, words: list[str], message: str) -> None:
        with pytest.raises(UsageError, match=message):
            read_options(["i", "r", "d", "c", *words])

    def test_arguments_as_options(self) -> None:
        given = read_options(["--input=i", "-refs", "r", "--decoder", "d", "--config", "c"])
        assert given.text("config") == "c"
        with pytest.raises(UsageError, match="no decoder and no config"):
            read_options(["--input=i", "--refs=r"])
        assert read_options(["--", "-i", "--r", "d", "c"]).text("refs") == "--r"

    def test_every_option_is_honoured_remarked_or_refused(self) -> None:
        arguments = ["i", "r", "d", "c"]
        for option in (*THEIRS, *OURS):
            if option.name in ("input", "refs", "decoder", "config", "help", "version"):
                continue
            value = {"int": ["1"], "float": ["0.5"], "text": ["x"], "path": ["x"], "list": ["x"]}.get(option.kind, [])
            given = read_options([*arguments, f"--{option.name}", *value])
            if option.fate == REFUSED:
                with pytest.raises(UserError, match=rf"--{option.name} is refused; "):
                    refuse_and_remark(given)
            elif option.fate == NO_EFFECT:
                assert refuse_and_remark(given) == [f"--{option.name} has no effect: {option.told}"]
            else:
                assert option.fate == HONOURED
                assert refuse_and_remark(given) == []

    def test_exit_codes(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--help"]) == 0
        assert "--batch-mira-args" in capsys.readouterr().out
        assert main([]) == 2
        assert main(["--unknown-option"]) == 2
        assert main(["i", "r", "d", "c", "--hg-mira"]) == 1
        assert "--hg-mira is refused" in capsys.readouterr().err


@pytest.fixture
def set_up(system_folder: Path, tmp_path: Path) -> list[str]:
    return call(system_folder, tmp_path / "run")


def wanted(words: list[str], *more: str) -> Settings:
    return settings(read_options([*words, *more]))


class TestSettings:
    def test_defaults_are_those_of_mert_moses(self, set_up: list[str]) -> None:
        found = wanted(set_up)
        assert (found.iterations, found.keep, found.aggregate, found.interpolation) == (25, "last", 0, 1.0)
        assert (found.learning.name, found.learning.loss, found.metric) == ("mert", "BLEU", "BLEU")
        assert found.normalise
        assert not found.filtering

    @pytest.mark.parametrize(
        ("options", "name", "loss", "development"),
        [
            (["--mertargs", "--sctype TER"], "mert", "TER", "TER"),
            (["--mertargs", "--sctype=WER -n 7"], "mert", "WER", "WER"),
            (["--shortest"], "mert", "BLEU:reflen=shortest", "BLEU:reflen=shortest"),
            (["--pairwise-ranked"], "pro", "BLEU+1", "BLEU"),
            (["--pairwise-ranked", "--average"], "pro", "BLEU+1:reflen=average", "BLEU:reflen=average"),
            (["--pairwise-ranked", "--proargs=-b"], "pro", "BLEU+1:bp=reference", "BLEU"),
            (["--batch-mira"], "mira", "BLEU", "BLEU"),
            (["--mertargs", "--sctype BLEU,TER --scconfig weights:0.5+0.5"], "mert", "MIX:BLEU=0.5:TER=0.5", None),
            (["--batch-mira", "--batch-mira-args=--sctype PER -J300"], "mira", "PER", "PER"),
            (["--mertargs", "--scconfig reflen:closest,case:false"], "mert", "BLEU:reflen=closest", None),
            (["--optimiser", "wro"], "wro", None, "BLEU"),
            (["--optimiser", "pro", "--loss", "PABC4"], "pro", "PABC4", "BLEU"),
        ],
    )
    def test_optimiser_and_loss(
        self, set_up: list[str], options: list[str], name: str, loss: str | None, development: str | None
    ) -> None:
        found = wanted(set_up, *options)
        assert (found.learning.name, found.learning.loss) == (name, loss)
        assert found.metric == (development or loss)
        optimiser_for(found.learning, NAMES)

    def test_hyper_parameters(self, set_up: list[str]) -> None:
        mert = wanted(set_up, "--random-restarts", "3", "--random-directions", "--mertargs=-n 9").learning
        assert mert.options == {"restarts": "3", "random_directions": "50"}
        mira = wanted(set_up, "--batch-mira", "--batch-mira-args", "-J 300 -C .001 --decay .9 --no-shuffle").learning
        assert mira.options == {"passes": "300", "c": ".001", "decay": ".9", "shuffle": "false"}

    def test_numbers_of_lists(self, set_up: list[str]) -> None:
        assert wanted(set_up, "--prev-aggregate-nbestlist", "-1").aggregate == 0
        assert wanted(set_up, "--prev-aggregate-nbestlist", "0").aggregate == 1
        assert wanted(set_up, "--prev-aggregate-nbestlist", "3").aggregate == 4

    def test_processes(self, set_up: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "cpu_count", lambda: 8)
        words = [word for word in set_up if word not in ("--decoder-flags", " -v 0 ")]
        assert wanted(words, "--jobs", "3").jobs == 3
        many = wanted(words, "--jobs", "20")
        assert many.jobs == 8
        assert any("--jobs 20" in remark for remark in many.remarks)
        instances = wanted(words, "--multi-moses", "--decoder-flags", "-threads 3:2:1 -v 0")
        assert (instances.jobs, instances.flags) == (4, "-v 0 -threads 2")
        assert wanted(words, "--multi-moses", "--decoder-flags", "-v 0 -threads all").jobs == 8
        with pytest.raises(UserError, match="-threads x"):
            wanted(words, "--multi-moses", "--decoder-flags", "-threads x")

    def test_several_references(self, set_up: list[str], tmp_path: Path) -> None:
        for name in ("ref.0", "ref.1", "other.ref0"):
            (tmp_path / name).write_text("a\n")
        set_up[1] = str(tmp_path / "ref.")
        assert [path.name for path in wanted(set_up).references] == ["ref.0", "ref.1"]
        set_up[1] = str(tmp_path / "other")
        assert [path.name for path in wanted(set_up).references] == ["other.ref0"]
        set_up[1] = str(tmp_path / "nowhere")
        with pytest.raises(UserError, match="no such file"):
            wanted(set_up)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--shortest", "--closest"], "one reference length"),
            (["--batch-mira", "--pairwise-ranked"], "one optimiser"),
            (["--metric", "BLEU", "--loss", "TER"], "--metric and --loss; expected one of the two"),
            (["--mertargs", "--sctype SEMPOS"], "SEMPOS is refused"),
            (["--mertargs", "--nonsense 3"], "--mertargs has '--nonsense'"),
            (["--batch-mira", "--batch-mira-args", "-J"], "-J without a value"),
            (["--historic-interpolation", "2"], "0 to 1"),
            (["--nbest", "0"], "at least 1"),
            (["--step", "far"], "--step far; expected trust, growing, whole"),
            (["--step", "whole", "--historic-interpolation", "0.5"], "--step and --historic-interpolation"),
        ],
    )
    def test_wrong_ones(self, set_up: list[str], options: list[str], message: str) -> None:
        with pytest.raises(UserError, match=message):
            wanted(set_up, *options)

    def test_methods_of_mert_moses_go_all_the_way_and_ours_ask_the_decoder(self, set_up: list[str]) -> None:
        for options, step in (
            ([], "whole"),
            (["--batch-mira"], "whole"),
            (["--batch-mira", "--step", "trust"], "trust"),
            (["--optimiser", "wro"], "trust"),
            (["--optimiser", "wro", "--step", "growing"], "growing"),
        ):
            assert wanted(set_up, *options).step == step

    def test_what_only_mert_knows_is_remarked(self, set_up: list[str]) -> None:
        remarks = wanted(set_up, "--batch-mira", "--random-restarts", "3", "--range=LM0:0..1").remarks
        assert [remark.split()[0] for remark in remarks] == ["--random-restarts", "--range"]


class TestWords:
    def test_ranges(self) -> None:
        given = ["TranslationModel0:0..1,-1..1", "LM0:0..2", "TranslationModel0:0..3"]
        wanted_ranges = "TranslationModel0_0=0..1,TranslationModel0_1=-1..1,TranslationModel0_2=0..3,LM0=0..2"
        assert ranges(given, NAMES) == wanted_ranges
        for wrong, message in (
            (["0..1"], "NAME:MIN"),
            (["LM0:0..1,0..1"], "2 ranges"),
            (["X:0..1"], "no such feature"),
        ):
            with pytest.raises(UserError, match=message):
                ranges(wrong, NAMES)

    def test_active_features(self) -> None:
        assert active("LM0_0,TranslationModel0_2 WordPenalty0", NAMES) == "LM0,TranslationModel0_2,WordPenalty0"
        with pytest.raises(UserError, match="no such feature"):
            active("LM0_1", NAMES)

    def test_scorers(self) -> None:
        assert specification("TER", {}) == ("TER", [])
        spec, remarks = specification("WER", {"reflen": "closest", "beta": "2"})
        assert spec == "WER"
        assert len(remarks) == 2
        assert specification("CHRF", {"beta": "3"}) == ("CHRF:beta=3", [])
        mixed = specification("BLEU,TER", {"weights": "0.6+0.2", "reflen": "average"})[0]
        assert mixed == f"MIX:BLEU:reflen=average={0.6 / 0.8!r}:TER=0.25"
        assert specification("BLEU:0.5,PER:0.5", {})[0] == specification("BLEU,PER", {})[0]
        assert specification("METEOR", {"lang": "de"})[0] == "METEOR:stem=german"
        assert specification("METEOR", {"lang": "cz", "jar": "m.jar"}) == (
            "METEOR:stem=none",
            ["--scconfig jar:m.jar has no effect on METEOR"],
        )
        for spec in ("METEOR", "CHRF:beta=3", mixed):
            assert metric(spec).signature()
        for wrong in ("BLEU:x,TER:1", "BLEU:1,TER:-1", "BLEU:1,TER", "", "HWCM"):
            with pytest.raises(UserError):
                specification(wrong, {})
        assert read_config("reflen:shortest,case:true") == {"reflen": "shortest", "case": "true"}
        for wrong in ("reflen", ":x", "a:"):
            with pytest.raises(UserError):
                read_config(wrong)


def test_a_recorded_run_of_moses(shared_data: Path, tmp_path: Path) -> None:
    """The stand-in answers with the lists of a real run, its first 60 sentences."""
    moses, texts = shared_data / "moses" / "de-en", shared_data / "multi30k"
    source, target = (
        gzip.decompress((texts / f"dev.{s}.gz").read_bytes()).decode().split("\n")[:60] for s in ("de", "en")
    )
    candidates: dict[str, dict[tuple[str, tuple[float, ...]], None]] = {line: {} for line in source}
    groups: dict[str, int] = {}
    for k in range(1, 9):
        with gzip.open(moses / f"run{k}.best100.out.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                number, text, features, _ = line.split("|||")
                if int(number) >= 60:
                    break
                values: list[float] = []
                for word in features.split():
                    if word.endswith("="):
                        last = word[:-1]
                        groups[last] = 0
                    else:
                        groups[last] += 1
                        values.append(float(word))
                candidates[source[int(number)]][" ".join(text.split()), tuple(values)] = None
    (tmp_path / "dev.de").write_text("".join(line + "\n" for line in source), encoding="utf-8")
    (tmp_path / "dev.en").write_text("".join(line + "\n" for line in target), encoding="utf-8")
    shutil.copy(moses / "moses.ini", tmp_path)
    system(tmp_path, {line: [(text, list(h), {}) for text, h in found] for line, found in candidates.items()}, groups)
    options = ("--nbest", "100", "--batch-mira", "--maximum-iterations", "3", "--return-best-dev")
    assert main(call(tmp_path, tmp_path / "run", *options)) == 0
    scores = [
        float(re.findall(r"# BLEU (\S+) on dev \S+dev.de", path.read_text())[0])
        for path in sorted((tmp_path / "run").glob("run?.moses.ini"))
    ]
    assert max(scores) == float(
        re.findall(r"BLEU (\S+) on dev \S+dev.de", (tmp_path / "run" / "moses.ini").read_text())[0]
    )
