"""What all commands share: the same words for the same things, help in two lengths, words of earlier releases."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from lasw.scripts import main as program
from lasw.scripts.main import main

COMMON = {
    ("-r", "--references"): {
        *("tune", "optimise", "local train", "local retrain", "score", "features", "nbest stats", "nbest oracle"),
    },
    ("-m", "--metric"): {
        *("tune", "optimise", "local train", "local retrain", "score", "agree", "features", "select"),
        *("train-metric combine", "nbest stats", "nbest oracle"),
    },
    ("--source",): {"tune", "decode", "local train", "local weights", "align", "select", "train", "quickstart"},
    ("--jobs",): {"tune", "decode", "align", "select", "train", "compare", "quickstart"},
    ("--seed",): {
        *("tune", "optimise", "local train", "local retrain", "score", "agree", "align", "select", "quickstart"),
        *("vectors train", "train-metric pairwise", "nbest oracle"),
    },
}


def test_the_same_things_have_the_same_words_everywhere() -> None:
    found: dict[tuple[str, ...], set[str]] = {words: set() for words in COMMON}
    for name, parser in program.parsers():
        for action in parser._actions:
            words = tuple(sorted(action.option_strings, key=len))
            for common in COMMON:
                if set(words) & set(common):
                    assert words == common, name
                    found[common].add(name)
            # As other tools, or earlier releases, call them.
            assert not {"--reference", "--refs", "--workers", "--threads", "--sources", "--metrics"} & set(words), name
    assert found == COMMON


def test_help_has_a_screen_of_what_most_people_need_and_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name, parser in program.parsers():
        short, full = parser.format_help(), parser.format_full_help()
        assert short.count("\n") <= 43, name
        options = {action.option_strings[0] for action in parser._actions if action.option_strings}
        listed = [set(re.findall(r"^  (?:-\w, )?(-[\w-]+)", text, re.MULTILINE)) for text in (short, full)]
        visible = {one for one in options if parser._option_string_actions[one].help != argparse.SUPPRESS}
        assert len(listed[1]) == len(visible), name
        more = re.search(r"--help-all shows (\d+) more options", short)
        assert len(listed[0]) + int(more[1] if more else 0) == len(visible), name
        assert bool(more) == (short != full), name


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "tune",
            ["--rounds N mle: how often mixed oracles are chosen; ramp: how often the fixed", "3 for mle, 20 for"],
        ),
        ("tune", ["--l2 X expected: strength", "; mle: strength", "; pro, wro: strength", "1.0 for pro and wro)"]),
        ("decode", ["--folder FILE moses: where Moses runs", "; command: where the command runs"]),
        ("optimise", ["--draws N pro, wro: Gamma, draws a sentence (default: 5000)"]),
    ],
)
def test_a_shared_option_says_what_is_true_for_each(
    command: str, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help-all"])
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(part in text for part in said)


@pytest.mark.parametrize(
    "words",
    [
        "score --seed=-1 --confidence -r x y",
        "optimise --seed -1 --optimiser pro -r x y",
        "agree --seed 1.5 --significance x",
        "quickstart --seed x",
        "align --seed 4294967296 --source x --target x --output y",
    ],
)
def test_a_seed_is_a_whole_number_from_0_on(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(words.split())
    assert stop.value.code == 2
    assert re.search(r"argument --seed: '\S+' is no whole number (of at least 0|from 0 to)", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("words", "references", "systems"),
    [
        ("-r a b c", ["a"], ["b", "c"]),
        ("-r a -r b c", ["a", "b"], ["c"]),
        ("-r a b -r c", ["a", "c"], ["b"]),
        ("c -r a b", ["a", "b"], ["c"]),
        ("-r a b -- c", ["a", "b"], ["c"]),
        ("-r a -r b", ["a", "b"], []),
        ("--reference a --reference=b c", ["a", "b"], ["c"]),
    ],
)
def test_references_come_before_what_they_are_for(words: str, references: list[str], systems: list[str]) -> None:
    found = program._parser("score").parse_args(["score", *words.split()])
    assert (found.references, found.systems) == (references, systems)


def test_one_system_stands_behind_references(capsys: pytest.CaptureFixture[str]) -> None:
    parser = program._parser("features")
    found = parser.parse_args(["features", "-m", "BLEU", "-r", "a", "b"])
    assert (found.references, found.system) == (["a"], "b")
    with pytest.raises(SystemExit):
        parser.parse_args(["features", "-m", "BLEU", "-r", "a", "b", "c"])
    assert "unknown argument 'c'" in capsys.readouterr().err


def test_old_words_do_what_they_did_and_say_the_new_ones_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("a b c d e\n")
    Path("nbest").write_text("0 ||| a b c d e ||| F= 1 ||| 0\n0 ||| a b c ||| F= 2 ||| 0\n")
    assert main(["score", "--reference", "ref", "--reference=ref", "ref"]) == 0
    old = capsys.readouterr()
    assert old.err == "lasw score: --reference is now --references\n"
    assert main(["score", "--references", "ref", "--references=ref", "ref"]) == 0
    assert capsys.readouterr() == (old.out, "")
    words = ["optimise", "--optimiser", "pro", "--quiet", "--references", "ref", "nbest"]
    assert main([*words, "--option", "draws=9", "--option", "fit_length=no"]) == 0
    old = capsys.readouterr()
    said = "lasw optimise: --option draws=9 --option fit_length=no is now --draws 9 --fit-length no\n"
    assert old.err.startswith(said)
    assert main([*words, "--draws", "9", "--fit-length", "false"]) == 0
    assert capsys.readouterr() == (old.out, old.err.removeprefix(said))
    assert main([*words, "--draws", "9", "--option", "draws=9"]) == 1
    assert "--option draws is given twice" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["select", "--workers", "none"])
    assert capsys.readouterr().err.startswith("lasw select: --workers is now --jobs\nlasw select: argument --jobs:")
