"""`lasw score`: what it prints, and what it says about files that do not fit."""

from __future__ import annotations

import io
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU

from lasw.scripts.main import main

REFERENCE = ["the cat sat on the mat .", "a dog ran over the hill .", "it rained all day long .", "we went home ."]
BETTER = ["the cat sat on a mat .", "a dog ran over the hill .", "it rained all day .", "we went home ."]
WORSE = ["the cat sits on mat", "a dog ran across hill .", "it did rain all day long .", "we go home ."]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("ref", REFERENCE), ("better", BETTER), ("worse", WORSE)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


def score(*words: str) -> int:
    return main(["score", *words])


def bleu(lines: list[str], *references: list[str], tokenize: str = "none", lowercase: bool = False) -> float:
    metric = BLEU(tokenize=tokenize, lowercase=lowercase, smooth_method="none", force=True)
    return metric.corpus_score(lines, list(references)).score


def test_one_system_is_one_line(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score("-r", "ref", "better") == 0
    captured = capsys.readouterr()
    signature, _, number = captured.out.rstrip("\n").partition(" = ")
    assert signature.startswith("BLEU|alpha:0|")
    assert "|nrefs:1|case:mixed|tok:spaces|version:" in signature
    assert number == f"{bleu(BETTER, REFERENCE):.2f}"
    assert captured.err == ""


def test_several_systems_metrics_and_references(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "ref2").write_text("\n".join(BETTER[::-1]) + "\n")
    assert score("-m", "BLEU", "-m", "PABC4:alpha=3", "-r", "ref", "-r", "ref2", "worse", "better", "-w", "4") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["system", "BLEU", "PABC4:alpha=3"]
    assert lines[1].split()[:2] == ["worse", f"{bleu(WORSE, REFERENCE, BETTER[::-1]):.4f}"]
    assert lines[2].split()[:2] == ["better", f"{bleu(BETTER, REFERENCE, BETTER[::-1]):.4f}"]
    assert [line.split("|")[0] for line in lines[4:]] == ["BLEU", "PABC4"]
    assert "nrefs:2" in lines[4]


def test_sentences(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--sentence", "-m", "PAC1:alpha=0", "-m", "RAC1:alpha=0", "-r", "ref", "worse", "better") == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[3].split("\t") == ["75.00", "75.00", "100.00", "100.00"]
    assert captured.err.startswith("columns: worse PAC1|")
    assert score("--sentence", "--json", "-r", "ref", "better") == 0
    result = json.loads(capsys.readouterr().out)["systems"][0]["results"][0]
    assert result["sentences"][1] == 100.0
    assert len(result["sentences"]) == 4


def test_paired_bootstrap(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ref", "worse", "better"):
        (place / name).write_text(2 * (place / name).read_text())
    words = ("--paired-bs", "--paired-bs-n", "100", "-r", "ref", "worse", "better", "worse")
    assert score(*words) == 0
    out = capsys.readouterr().out
    assert "±" in out
    assert "(p = " in out.splitlines()[2]
    assert out.splitlines()[3].endswith("(identical)")
    assert "|bs:100|seed:1|" in out
    assert score(*words) == 0
    assert capsys.readouterr().out == out  # the same bytes
    assert score(*words, "--json") == 0
    first, other, same = [x["results"][0] for x in json.loads(capsys.readouterr().out)["systems"]]
    assert "p_value" not in first
    assert 0 < other["p_value"] <= 1
    assert (same["p_value"], same["identical"]) == (None, True)
    assert other["low"] <= other["mean"] <= other["high"]


def test_systems_that_do_not_differ_and_few_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def compared(metric: str, reference: str, first: str, second: str) -> tuple[str, dict[str, Any]]:
        for name, text in (("r", reference), ("p", first), ("q", second)):
            Path(name).write_text(text.replace(";", "\n") + "\n")
        assert score("-m", metric, "-r", "r", "p", "q", "--paired-bs") == 0
        captured = capsys.readouterr()
        assert captured.err == "lasw score: warning: fewer than 5 segments: no p-values but of equal scores\n"
        assert score("-m", metric, "-r", "r", "p", "q", "--paired-bs", "--json", "--quiet") == 0
        entry = json.loads(capsys.readouterr().out)["systems"][1]["results"][0]
        return captured.out.splitlines()[2], entry

    five = "a b c d e;f g h i j;k l m n o"
    shown, entry = compared("BLEU", five, "a b x y z;f g x y z;k l x y z", "a b c y z;f g h y z;k l m y z")
    assert shown == "q       0.00 (0.00 ± 0.00) (p = 1.0000)"
    assert (entry["p_value"], entry["identical"]) == (1, False)
    texts = "the cat sat on the mat today", "the cat sat on a mat today", "the cat sat on a mat now"
    for metric in ("CHRF", "WER", "BLEU"):
        shown, entry = compared(metric, *texts)
        assert ("p =" in shown, "*" in shown, entry["p_value"]) == (False, False, None)
    shown, entry = compared("WER", "a b c d;e f g h", "a b c d;e f x y", "a b x y;e f g h")
    assert shown.endswith("(p = 1.0000)")
    assert entry["p_value"] == 1


def test_confidence_of_one_system(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--confidence", "-r", "ref", "better") == 0
    assert "±" in capsys.readouterr().out
    assert score("--paired-bs", "-r", "ref", "better") == 1
    assert "--confidence gives the interval of one" in capsys.readouterr().err


def test_standard_input(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    data = ("\n".join(BETTER) + "\n").encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    assert score("-r", "ref", "-w", "3") == 0
    assert capsys.readouterr().out.rstrip().endswith(f" = {bleu(BETTER, REFERENCE):.3f}")
    assert score("-r", "-", "-") == 1
    assert "standard input is named twice" in capsys.readouterr().err


def test_tokeniser_and_case_are_sacrebleus(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw_reference = ["The cat, it sat.", "Don't run!\u00a0Walk (slowly) now.", 'He said: "U.S. is 10,000 km away".']
    raw = ["the cat; it sat.", "Don't run! walk\u00a0(slowly) now.", 'He said "U.S. is 10,000 kms away".']
    (place / "ref").write_text("\n".join(raw_reference) + "\n", encoding="utf-8")
    (place / "raw").write_text("\n".join(raw) + "\n", encoding="utf-8")
    for name in ("none", "13a", "intl", "char"):
        for lowercase in (False, True):
            words = ["--tokenize", name, *(["--lowercase"] if lowercase else []), "-r", "ref", "raw", "--json"]
            assert score(*words) == 0
            result = json.loads(capsys.readouterr().out)["systems"][0]["results"][0]
            expected = bleu(raw, raw_reference, tokenize=name, lowercase=lowercase)
            assert result["score"] == pytest.approx(expected, abs=1e-9)
            assert f"case:{'lc' if lowercase else 'mixed'}|tok:{name}" in result["signature"]


@pytest.mark.parametrize("name", ["13b", "spm"])
def test_unknown_tokeniser(place: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--tokenize", name, "-r", "ref", "better") == 1
    assert f"unknown tokeniser '{name}'; expected none, 13a" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (5, "lasw score: sys: 5 lines; expected 4, as many as ref has\n"),
        (3, "lasw score: sys: 3 lines; expected 4, as many as ref has\n"),
    ],
)
def test_counts_that_differ(place: Path, lines: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "sys").write_text("a b\n" * lines)
    assert score("-r", "ref", "sys") == 1
    captured = capsys.readouterr()
    assert captured.err == message
    assert captured.out == ""


def test_an_extra_blank_last_line_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "sys").write_text("a b\n" * 4 + "\n")
    assert score("-r", "ref", "sys") == 1
    assert capsys.readouterr().err == (
        "lasw score: sys: 5 lines, the last of them blank; expected 4, as many as ref has; "
        "if it is no sentence, delete the blank last line of sys\n"
    )
    (place / "ref2").write_text("a b\n" * 5)
    (place / "ref").write_text("a b\n" * 4 + "\n")
    (place / "sys").write_text("a b\n" * 4)
    assert score("-r", "ref", "sys") == 1
    assert capsys.readouterr().err == (
        "lasw score: sys: 4 lines; expected 5, as many as ref has, whose last one is blank; "
        "if it is no sentence, delete the blank last line of ref\n"
    )
    assert score("-r", "sys", "-r", "ref2", "sys") == 1
    assert capsys.readouterr().err == "lasw score: ref2: 5 lines; expected 4, as many as sys has\n"


def test_a_blank_last_line_in_both_is_a_segment(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "ref").write_text("a b c d\n\n")
    assert score("-r", "ref", "ref") == 0
    assert capsys.readouterr().out.endswith(" = 100.00\n")


def test_carriage_returns_are_counted_and_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "sys").write_bytes(("\r\n".join(REFERENCE) + "\r\n").encode())
    assert score("-r", "ref", "sys") == 0
    captured = capsys.readouterr()
    assert captured.out.endswith(" = 100.00\n")
    assert captured.err == "lasw score: warning: sys: 4 lines end in CR LF; the CR is dropped\n"


def test_normal_forms_that_differ_are_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "le café est très près d' ici"
    (place / "ref").write_text(unicodedata.normalize("NFC", text) + "\n", encoding="utf-8")
    (place / "sys").write_text(unicodedata.normalize("NFD", text) + "\n", encoding="utf-8")
    assert score("-r", "ref", "sys") == 0
    captured = capsys.readouterr()
    assert not captured.out.endswith(" = 100.00\n")
    assert "sys is in Unicode form NFD, ref in NFC" in captured.err
    assert "--normalise nfc" in captured.err
    (place / "ascii").write_text("plain\n")
    assert score("-r", "ascii", "-r", "ref", "sys") == 0
    assert "sys is in Unicode form NFD, ref in NFC" in capsys.readouterr().err
    for form in ("nfc", "nfd"):
        assert score("-r", "ref", "sys", "--normalise", form) == 0
        captured = capsys.readouterr()
        assert captured.out.endswith(" = 100.00\n")
        assert f"normal-form:{form}" in captured.out
        assert captured.err == ""


def test_short_text_that_scores_0_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "ref").write_text("l r\n")
    assert score("-r", "ref", "ref") == 0
    captured = capsys.readouterr()
    assert captured.out.endswith(" = 0.00\n")
    assert "warning: ref: no hypothesis has 3 tokens" in captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-r", "missing", "better"), "missing: no such file"),
        (("-r", "ref", "empty"), "empty: the file is empty"),
        (("-r", "ref", "-m", "BLUE", "better"), "did you mean 'BLEU'?"),
        (("-r", "ref", "-w", "-1", "better"), "--width -1"),
        (("-r", "ref", "--seed", "2", "better"), "--seed without resampling"),
        (("-r", "ref", "--sentence", "--paired-bs-n", "9", "better"), "--paired-bs-n without resampling"),
        (("-r", "ref", "--encoding", "klingon", "better"), "unknown encoding 'klingon'"),
    ],
)
def test_what_a_user_gets_wrong(
    place: Path, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "empty").write_text("")
    assert score(*words) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_wrong_usage_exits_2(place: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        score("better")
    assert stopped.value.code == 2
    with pytest.raises(SystemExit) as stopped:
        score("-r", "ref", "--sentence", "--paired-bs", "better", "worse")
    assert stopped.value.code == 2


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        score("--help")
    assert stopped.value.code == 0
    assert "lasw score -m BLEU" in capsys.readouterr().out


def test_sacrebleus_habits_are_understood(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("ref", "hyp", "other")]
    for path, text in zip(paths, ("The cat sat.\nA dog, too.\n", "the cat sat.\nA dog.\n", "A cat\nno\n"), strict=True):
        path.write_text(text)
    ref, hyp, other = map(str, paths)

    def said(*words: str) -> str:
        assert main(["score", *words]) == 0
        return capsys.readouterr().out

    ours = [
        "-m",
        "BLEU",
        "-m",
        "CHRF:words=2",
        "-m",
        "TER",
        "--tokenize",
        "13a",
        "--lowercase",
        "--width",
        "4",
        "-r",
        ref,
    ]
    assert said("-m", "bleu", "chrf++", "ter", "-tok", "13a", "-lc", "-w", "4", "-r", ref, hyp) == said(*ours, hyp)
    assert said("-r", ref, "-m", "Bleu", "CHRF++", "-m", "ter", "-lc", "-tok=13a", "-w4", hyp) == said(*ours, hyp)
    numbers = [line.split(" = ")[1].split()[0] for line in said(*ours, hyp).splitlines()]
    assert said(*ours, "-b", hyp) == "\t".join(numbers) + "\n"
    assert len(said(*ours, "--score-only", hyp, other).splitlines()) == 2
    assert said("-m", "bleu", "-sl", "-q", "-r", ref, hyp) == said(
        "-m", "BLEU", "--sentence", "--quiet", "-r", ref, hyp
    )


def test_a_file_of_a_metrics_name_is_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ref", "ter"):
        Path(name).write_text("a b c d\n")
    assert main(["score", "-m", "bleu", "ter", "-r", "ref"]) == 0
    assert capsys.readouterr().out.startswith("BLEU|")
