"""Text that is not what it seems: told with what mends it, and refused where it is beyond doubt."""

import json
import re

import pytest

from lasw.scripts.main import main

REFERENCES = [
    "the old man lives near the river",
    "a red bus goes over the new bridge today",
    "she said that he is here",
    "we saw two dogs in the park",
]


@pytest.fixture
def lasw(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        found = main(list(words))
        out, err = capsys.readouterr()
        assert found == code, err
        return out, err

    return run


def write_lists(change):
    """`ref`, and `list` with four hypotheses a sentence, whose text `change` has made; F1 counts the mistakes."""
    lines = []
    for s, reference in enumerate(REFERENCES):
        words = reference.split()
        for k in range(4):
            text = " ".join(words[:-k] + ["very"] * (k % 2) if k else words)
            lines.append(f"{s} ||| {change(text)} ||| F0= {3 * (k % 3)} F1= {-k} ||| {-k}\n")
    with open("list", "w", encoding="utf-8") as stream:
        stream.write("".join(lines))
    with open("ref", "w", encoding="utf-8") as stream:
        stream.write("".join(f"{line}\n" for line in REFERENCES))


def phrases(text):
    words = text.split()
    return f"{' '.join(words[:2])} |0-1| {' '.join(words[2:])} |2-{len(words) - 1}|"


CHANGES = {
    "phrases": (phrases, "marks of phrases", ["--strip-marks"]),
    "factors": (lambda t: " ".join(f"{w}|X" for w in t.split()), "words with factors", ["--strip-marks"]),
    "bpe": (lambda t: " ".join(f"{w[:2]}@@ {w[2:]}" if w[2:] else w for w in t.split()), "(BPE)", ["--join", "bpe"]),
    "pieces": (
        lambda t: " ".join(f"▁{w[:2]} {w[2:]}".strip() for w in t.split()),
        "(SentencePiece)",
        ["--join", "sentencepiece"],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_optimise_refuses_marked_lists_and_reads_them_with_the_option(lasw, tmp_path, name):
    change, what, option = CHANGES[name]
    words = ["optimise", "--optimiser", "mert", "--references", "ref", "--json", "--output"]
    write_lists(str)
    plain = json.loads(lasw(*words, "plain.json", "list")[0])
    write_lists(change)
    _, err = lasw(*words, "w.json", "list", code=1)
    (line,) = [line for line in err.splitlines() if line.startswith("lasw optimise: ")]
    assert line.startswith("lasw optimise: list: ")
    assert what in line
    assert " ".join(option) in line
    assert line.endswith("; --force goes on as it is")
    assert not (tmp_path / "w.json").exists()
    mended = json.loads(lasw(*words, "w.json", *option, "list")[0])
    assert {**mended, "signature": ""} == {**plain, "signature": ""}
    assert (tmp_path / "w.json").read_bytes() == (tmp_path / "plain.json").read_bytes()
    out, err = lasw(*words, "forced.json", "--force", "list")
    assert what in json.loads(out)["warnings"][0]
    assert what in err
    assert (tmp_path / "forced.json").exists()


def test_score_names_escapes_and_what_turns_them_back(lasw, tmp_path):
    (tmp_path / "hyp").write_text(
        "it is &quot; fine &quot; and he &apos;s here .\nthe cat isn &apos;t &amp; won &apos;t\n"
    )
    (tmp_path / "ref").write_text("it is \" fine \" and he 's here .\nthe cat isn 't & won 't\n")
    out, err = lasw("score", "-m", "BLEU", "-r", "ref", "hyp")
    assert out.endswith("= 0.00\n")
    assert err == (
        "lasw score: warning: hyp: 6 of 17 tokens are escaped as Moses' tokeniser does it (&apos;t &quot; &amp;), "
        "none of ref; --unescape turns them back\n"
    )
    out, err = lasw("score", "-m", "BLEU", "--unescape", "-r", "ref", "hyp")
    assert re.search(r"\|unescaped:yes\|.* = 100\.00\n$", out)
    assert err == ""


def test_score_tells_of_placeholders_once(lasw, tmp_path):
    for name in ("ref", "hyp"):
        (tmp_path / name).write_text("a <<unk>> b\nc d <unk> f\n")
    (tmp_path / "hyp2").write_text("a UNK b\nc d e f\n")
    out, err = lasw("score", "-m", "TER", "-r", "ref", "hyp", "hyp2")
    assert re.search(r"^hyp +100\.00\nhyp2 +71\.43$", out, re.MULTILINE)
    assert err == (
        "lasw score: warning: ref: 2 of 2 references contain placeholders of unknown words (<<unk>>, <unk>), which "
        "match each other\n"
    )


def test_score_refuses_text_that_has_nothing_in_common(lasw, tmp_path):
    (tmp_path / "hyp").write_text("das ist ein ganz anderer Satz\n" * 6)
    (tmp_path / "ref").write_text("nothing of this has any word in common\n" * 6)
    _, err = lasw("score", "-r", "ref", "hyp", code=1)
    assert err == (
        "lasw score: hyp: none of its 36 words is in ref: another language, another text or other lines; "
        "--force goes on as it is\n"
    )
    out, err = lasw("score", "-r", "ref", "hyp", "--force")
    assert out.endswith("= 0.00\n")
    assert "warning: hyp: none of its 36 words is in ref" in err
    # Of characters they have some in common.
    assert lasw("score", "-m", "CHRF", "-r", "ref", "hyp")[1] == ""


def marked_toml(tmp_path, **data):
    """`lasw tune` with decoder fixed on `list`."""
    (tmp_path / "src").write_text("".join(f"satz {k}\n" for k in range(len(REFERENCES))))
    lines = ["[run]", 'directory = "run"', "[data]", 'source = "src"', 'references = ["ref"]']
    lines += [f"{key} = {json.dumps(value)}" for key, value in data.items()]
    lines += ["[decoder]", 'name = "fixed"', 'lists = ["list"]', "[optimiser]", 'name = "mert"']
    (tmp_path / "run.toml").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", CHANGES)
def test_tune_refuses_marked_lists(lasw, tmp_path, name):
    change, what, option = CHANGES[name]
    write_lists(str)
    marked_toml(tmp_path)
    plain = json.loads(lasw("tune", "run.toml", "--json", "--quiet")[0])
    write_lists(change)
    words = [option[0], option[1] if option[1:] else "true"]
    _, err = lasw("tune", "run.toml", "--run", "refused", code=1)
    line = next(line for line in err.splitlines() if "are" in line and what in line)
    assert f"; {' '.join(words)} " in line
    assert line.endswith("; --force true goes on as it is")
    assert not (tmp_path / "refused" / "weights.json").exists()
    mended = json.loads(lasw("tune", "run.toml", "--run", "mended", *words, "--json", "--quiet")[0])
    assert mended["weights"] == plain["weights"]
    assert mended["dev_score"] == plain["dev_score"]
    assert (tmp_path / "mended" / "report.html").exists()
    # What was refused goes on where it stood.
    _, err = lasw("tune", "run.toml", "--run", "refused", "--force", "true")
    assert what in (tmp_path / "refused" / "log.jsonl").read_text()
    assert (tmp_path / "refused" / "weights.json").exists()


def test_compare_names_settings(lasw, tmp_path):
    write_lists(phrases)
    sets = "\n".join(["references = ['ref']", "lists = ['list']"])
    (tmp_path / "grid.toml").write_text(
        f"[comparison]\nseeds = [1]\nsamples = 10\n[development.dev]\n{sets}\n[test.test]\n{sets}\n"
        "[system.mert]\noptimiser = 'mert'\n"
    )
    _, err = lasw("compare", "grid.toml", "--run", "out", code=1)
    assert "are Moses' marks of phrases" in err
    assert "; strip_marks = true takes them away; force = true goes on as it is; the same command goes on" in err
    strip = ["--set", "development.dev.strip_marks=true"]
    _, err = lasw("compare", "grid.toml", "--run", "out", *strip)
    assert "warning: " in err
    assert "are Moses' marks of phrases" in err  # of the test set
    _, err = lasw("compare", "grid.toml", "--run", "out", *strip, "--set", "test.test.strip_marks=true")
    assert "warning" not in err
    assert "marks:stripped" in (tmp_path / "out" / "table.json").read_text()
