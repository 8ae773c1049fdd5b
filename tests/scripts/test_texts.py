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
    assert re.search(r"^hyp +0\.00\nhyp2 +28\.57$", out, re.MULTILINE)
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


@pytest.mark.parametrize("name", ["WMD", "WMDO:preprocess=no", "WE", "SRBLEU"])
def test_vectors_of_another_case(lasw, tmp_path, name):
    (tmp_path / "vec").write_text("cat 1 0\nsat 0 1\nmat 1 1\n")
    (tmp_path / "ref").write_text("Cat Sat\n")
    (tmp_path / "hyp").write_text("Mat Sat\n")
    words = ["score", "-m", f"{name}:vectors=vec", "-r", "ref", "hyp"]
    _, err = lasw(*words, code=1)
    assert err == (
        "lasw score: vec: 0 of 2 words of ref and 0 of 2 of hyp have vectors; --lowercase finds 4 of all 4; "
        "--force goes on as it is\n"
    )
    assert "0 of 2 words of ref" in lasw(*words, "--force")[1]
    out, err = lasw(*words, "--lowercase", "--json")
    whole = {"words": 2, "known": 2}
    (system,) = json.loads(out)["systems"]
    assert system["results"][0]["coverage"] == [{"vectors": "vec", "references": whole, "system": whole}]
    assert "vectors" not in err


def test_wmdo_lower_cases_itself(lasw, tmp_path):
    (tmp_path / "vec").write_text("cat 1 0\nsat 0 1\nmat 1 1\n")
    (tmp_path / "ref").write_text("Cat Sat\n")
    (tmp_path / "hyp").write_text("Mat Sat\n")
    words = ["score", "-m", "WMDO:vectors=vec", "-r", "ref", "hyp"]
    out, err = lasw(*words)
    assert "vectors" not in err
    assert out.split(" = ")[1] == lasw(*words, "--lowercase")[0].split(" = ")[1]


def test_some_words_have_vectors(lasw, tmp_path):
    (tmp_path / "vec").write_text("cat 1 0\nsat 0 1\nmat 1 1\n")
    (tmp_path / "ref").write_text("cat sat\n")
    (tmp_path / "hyp").write_text("mat sat dog\n")
    words = ["score", "-m", "MIX:WMD:vectors=vec=0.5:TER=0.5", "-r", "ref", "hyp"]
    out, err = lasw(*words, "--json", "--sentence")
    (system,) = json.loads(out)["systems"]
    assert system["results"][0]["coverage"] == [
        {"vectors": "vec", "references": {"words": 2, "known": 2}, "system": {"words": 3, "known": 2}}
    ]
    assert err == "vec: 2 of 2 words of ref and 2 of 3 of hyp have vectors\n"
    assert lasw(*words, "--quiet")[1] == ""
    (tmp_path / "ref").write_text("cat Sat\n")
    assert lasw(*words)[1] == (
        "lasw score: warning: vec: 1 of 2 words of ref and 2 of 3 of hyp have vectors; --lowercase finds 4 of all 5\n"
    )
    (tmp_path / "ref").write_text("chat assis\n")
    assert "; are they of this language and tokenisation?; --force" in lasw(*words, code=1)[1]
    # Prepared as the metric wants it, what stands in the text is not what is looked up.
    (tmp_path / "ref").write_text("Cat, Sat!\n")
    assert "vec: 2 of 2 words of ref" in lasw("score", "-m", "WMD:vectors=vec:preprocess=yes", "-r", "ref", "hyp")[1]


def test_optimise_and_tune_want_vectors_of_the_words(lasw, tmp_path):
    write_lists(str.upper)
    (tmp_path / "ref").write_text((tmp_path / "ref").read_text().upper())
    words = sorted({word for line in REFERENCES for word in line.split()})
    (tmp_path / "vec").write_text("".join(f"{word} {k} 1\n" for k, word in enumerate(words)))
    _, err = lasw(
        "optimise", "--optimiser", "mert", "-m", "WMD:vectors=vec", "-r", "ref", "--output", "w.json", "list", code=1
    )
    assert "vec: 0 of 29 words of ref and 0 of 100 of list have vectors; --lowercase finds 121 of all 129" in err
    marked_toml(tmp_path)
    _, err = lasw("tune", "run.toml", "--metric", "WMD:vectors=vec", code=1)
    assert "have vectors; --lowercase true finds 121 of all 129; --force true goes on as it is" in err


def judged(folder, *, change):
    (folder / "hyp").mkdir(parents=True)
    reference = REFERENCES * 10
    (folder / "ref.txt").write_text("".join(f"{line}\n" for line in reference))
    for k, name in enumerate(("one", "two", "three")):
        lines = [line if (n + k) % 3 else "we are here" for n, line in enumerate(reference)]
        (folder / "hyp" / f"{name}.txt").write_text("".join(f"{change(line)}\n" for line in lines))
    rows = [f"{n + 1}\tone\t{('two', 'three')[n % 2]}\t{'<' if n % 3 else '>'}\n" for n in range(40)]
    (folder / "pairs.tsv").write_text("seg1\tsysA\tsysB\trel\n" + "".join(rows))


def test_agree_and_train_metric_look_at_all_systems(lasw, tmp_path):
    judged(tmp_path / "set", change=CHANGES["bpe"][0])
    _, err = lasw("agree", "-m", "TER", "set")
    lines = [line for line in err.splitlines() if "BPE" in line]
    assert len(lines) == 1
    assert lines[0].startswith("lasw agree: warning: set/hyp/one.txt: ")
    assert "tokens are sub-words (BPE) (" in lines[0]
    assert lines[0].endswith(" (and so in 2 others); --join bpe joins them")
    _, err = lasw("agree", "-m", "TER", "--join", "bpe", "set")
    assert "BPE" not in err
    _, err = lasw("train-metric", "combine", "-m", "TER", "-m", "WER", "--data", "set", "--output", "model.json")
    assert "lasw train-metric: warning: set/hyp/one.txt: " in err
    judged(tmp_path / "other", change=lambda line: " ".join(word[::-1] + "x" for word in line.split()))
    _, err = lasw("agree", "-m", "TER", "other", code=1)
    assert "none of its" in err
    assert "--force goes on as it is" in err
    lasw("agree", "-m", "TER", "other", "--force")
    (tmp_path / "vec").write_text("river 1 0\nhere 0 1\nwe 1 1\n")
    out, err = lasw("agree", "-m", "WMD:vectors=vec", "--join", "bpe", "set", "--json")
    (of_set,) = json.loads(out)["metrics"][0]["sets"]
    (coverage,) = of_set["coverage"]
    assert coverage["references"] == {"words": 290, "known": 30}
    assert "30 of 290 words of set/ref.txt" in err


def test_rerank_prints_no_marks(lasw, tmp_path):
    write_lists(str)
    (tmp_path / "w.json").write_text(json.dumps({"dense": {"F0": [0.0], "F1": [1.0]}}))
    plain, _ = lasw("rerank", "--weights", "w.json", "list")
    for name in ("phrases", "factors"):
        write_lists(CHANGES[name][0])
        for more in ([], ["--unsorted"], ["--nbest"]):
            out, err = lasw("rerank", "--weights", "w.json", *more, "list", code=1)
            assert out == ""
            assert "lasw rerank: list: " in err
            assert "; --strip-marks " in err
        assert lasw("rerank", "--weights", "w.json", "--strip-marks", "list")[0] == plain
        assert "|" in lasw("rerank", "--weights", "w.json", "--force", "list")[0]


def test_select_align_and_train_look_at_both_sides(lasw, tmp_path):
    source = ["der alte Mann wohnt am Fluss .", "ein roter Bus fährt heute .", "sie sagte , er sei da ."] * 8
    target = ["the old man lives near the river .", "a red bus goes today .", "she said , he is here ."] * 8
    (tmp_path / "src").write_text("".join(f"{line}\n" for line in source))
    (tmp_path / "trg").write_text("".join(f"{line}\n" for line in target))
    (tmp_path / "bpe").write_text("".join(f"{CHANGES['bpe'][0](line)}\n" for line in target))
    (tmp_path / "test").write_text("der Mann und ein Bus .\nsie wohnt heute am Fluss .\n")
    (tmp_path / "upper").write_text("DER MANN UND EIN BUS .\nSIE WOHNT HEUTE AM FLUSS .\n" * 3)
    select = ["select", "--method", "random", "--words", "20", "--source", "src", "--target"]
    tfidf = ["select", "--method", "tfidf", "--words", "20", "--source", "src", "--target", "trg", "--output", "out"]
    for words in ([*select, "trg", "--output", "out"], [*tfidf, "--test-source", "test"]):
        assert "warning" not in lasw(*words)[1]
    align = ["align", "--model", "ibm1", "--source", "src", "--output", "a", "--target"]
    for words in ([*select, "bpe", "--output", "out"], [*align, "bpe"]):
        _, err = lasw(*words)
        assert f"lasw {words[0]}: warning: bpe: " in err
        assert "tokens are sub-words (BPE) (" in err
        assert "none of src; prepare both sides alike" in err
    assert "warning" not in lasw(*align, "trg")[1]
    assert "one language twice?" in lasw(*align, "src")[1]
    _, err = lasw(*tfidf, "--test-source", "upper")
    assert "are in capitals (" in err
    assert "prepare both alike" in err
