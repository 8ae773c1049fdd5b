"""moses.ini: weights read and replaced, every other byte kept."""

import re

import pytest

from lasw.metrics import UserError
from lasw.tuning import Weights, read_weights, write_weights

NEW = """\
# made by hand
[input-factors]
0

[feature]
UnknownWordPenalty
WordPenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=2 path=m/table.gz
Distortion
KENLM name=LM0 path=m/lm.bin order=5  # the big one
Distortion

[weight]
# tuned last week
UnknownWordPenalty0= 1
WordPenalty0= -1.000000
TranslationModel0= 0.2 0.2 # two
LM0=0.5

[threads]
2
"""
OLD = """\
[ttable-file]
0 0 0 2 table
[weight-d]
0.3
[weight-l] # language models
0.5
0.25

[weight-t]
0.2
0.1
[weight-w]
-1
"""


@pytest.fixture
def ini(tmp_path):
    path = tmp_path / "moses.ini"
    path.write_text(NEW)
    return path


def test_new_style_is_read(ini):
    assert read_weights(ini).by_group() == {
        "UnknownWordPenalty0": [1.0],
        "WordPenalty0": [-1.0],
        "TranslationModel0": [0.2, 0.2],
        "LM0": [0.5],
    }


def test_rewriting_changes_only_the_weights_it_is_given(ini, tmp_path):
    out = tmp_path / "out.ini"
    weights = Weights.from_groups({"LM0": [1 / 3], "TranslationModel0": [1e-7, -2.0]})
    write_weights(out, weights, template=ini, comment=["BLEU 0.40 on dev", "seed 1"])
    expected = "# BLEU 0.40 on dev\n# seed 1\n" + NEW.replace("LM0=0.5\n", f"LM0= {1 / 3!r}\n").replace(
        "= 0.2 0.2 # two", "= 1e-07 -2.0 # two"
    )
    assert out.read_text() == expected
    back = read_weights(out)
    assert back.by_group()["LM0"] == [1 / 3]
    assert back.by_group()["UnknownWordPenalty0"] == [1.0]


def test_bytes_that_are_no_utf8_and_line_ends_stay(tmp_path):
    raw = b"[path]\r\n/m\xf6del\r\n[feature]\r\nDistortion\r\n[weight]\r\nLM0= 0.5\r\n\r\n[v]\r\n0"
    (tmp_path / "in.ini").write_bytes(raw)
    weights = Weights.from_groups({"LM0": [0.25], "Distortion0": [1.0]}, {"a": 1.0})
    write_weights(tmp_path / "out.ini", weights, template=tmp_path / "in.ini", comment=["c"])
    out = (tmp_path / "out.ini").read_bytes()
    sparse = str(tmp_path / "out.ini.sparse-weights").encode()
    expected = b"# c\r\n" + raw.replace(b"LM0= 0.5\r\n", b"LM0= 0.25\r\nDistortion0= 1.0\r\n")
    assert out == expected + b"\r\n\r\n[weight-file]\r\n" + sparse + b"\r\n"


def test_a_declared_feature_without_a_line_gets_one(ini, tmp_path):
    write_weights(tmp_path / "out.ini", Weights.from_groups({"Distortion1": [0.5]}), template=ini)
    assert "LM0=0.5\nDistortion1= 0.5\n\n[threads]" in (tmp_path / "out.ini").read_text()
    bare = tmp_path / "bare.ini"
    bare.write_text("[feature]\nDistortion\n")
    write_weights(tmp_path / "out.ini", Weights.from_groups({"Distortion0": [0.5]}), template=bare)
    assert (tmp_path / "out.ini").read_text() == "[feature]\nDistortion\n[weight]\nDistortion0= 0.5\n"
    assert read_weights(tmp_path / "out.ini").by_group() == {"Distortion0": [0.5]}


def test_a_feature_that_the_decoder_does_not_have_is_refused(ini, tmp_path):
    with pytest.raises(UserError, match="no feature neural"):
        write_weights(tmp_path / "out.ini", Weights.from_groups({"neural": [0.5]}), template=ini)
    with pytest.raises(UserError, match=r"moses\.ini:17: 2 weights for TranslationModel0; expected 3"):
        write_weights(tmp_path / "out.ini", Weights.from_groups({"TranslationModel0": [1, 2, 3]}), template=ini)
    assert not (tmp_path / "out.ini").exists()


def test_sparse_weights_have_their_own_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "sparse").write_text("WT_a~b 0.5\n# c\nPL_1,2 -1\n")
    (tmp_path / "in.ini").write_text("[weight-file]\nm/sparse # sparse\n[weight]\nLM0= 1\n")
    weights = read_weights("in.ini")
    assert dict(weights.sparse) == {"WT_a~b": 0.5, "PL_1,2": -1.0}
    write_weights("out.ini", Weights(weights.names, weights.dense, {"WT_a~b": 0.1 + 0.2}), template="in.ini")
    assert (tmp_path / "out.ini.sparse-weights").read_text() == "WT_a~b 0.30000000000000004\n"
    expected = f"[weight-file]\n{tmp_path}/out.ini.sparse-weights # sparse\n[weight]\nLM0= 1.0\n"
    assert (tmp_path / "out.ini").read_text() == expected
    assert dict(read_weights("out.ini").sparse) == {"WT_a~b": 0.1 + 0.2}
    assert (tmp_path / "m" / "sparse").read_text().startswith("WT_a~b 0.5\n")


def test_the_sparse_file_may_lie_beside_the_ini(tmp_path):
    (tmp_path / "sparse").write_text("WT_a 0.5\n")
    (tmp_path / "in.ini").write_text("[weight-file]\nsparse\n[weight]\nLM0= 1\n")
    assert dict(read_weights(tmp_path / "in.ini").sparse) == {"WT_a": 0.5}
    (tmp_path / "other").write_text("WT_b 2\n")
    assert dict(read_weights(tmp_path / "in.ini", sparse_path=tmp_path / "other").sparse) == {"WT_b": 2.0}


def test_old_style_is_read_and_rewritten(tmp_path):
    (tmp_path / "in.ini").write_text(OLD)
    groups = {"d": [0.3], "lm": [0.5, 0.25], "tm": [0.2, 0.1], "w": [-1.0]}
    assert read_weights(tmp_path / "in.ini").by_group() == groups
    for tuned in (
        {"w": [5.0], "d": [4.0], "tm": [3.0, 2.0], "lm": [1.0, 0.5]},
        {"WordPenalty0": [5.0], "TranslationModel0": [3.0, 2.0], "LM1": [0.5], "LM0": [1.0], "Distortion0": [4.0]},
    ):
        write_weights(tmp_path / "out.ini", Weights.from_groups(tuned), template=tmp_path / "in.ini")
        numbers = iter(["4.0", "1.0", "0.5", "3.0", "2.0", "5.0"])
        assert (tmp_path / "out.ini").read_text() == re.sub(
            r"^(0\.\d+|-1)$", lambda _, numbers=numbers: next(numbers), OLD, flags=re.MULTILINE
        )
    with pytest.raises(UserError, match=r"2 weights in \[weight-l\]; expected 1"):
        write_weights(tmp_path / "out.ini", Weights.from_groups({"LM0": [1.0]}), template=tmp_path / "in.ini")
    with pytest.raises(UserError, match="PhrasePenalty0 has no place"):
        write_weights(
            tmp_path / "out.ini", Weights.from_groups({"PhrasePenalty0": [1.0]}), template=tmp_path / "in.ini"
        )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (NEW + "[weight-d]\n0.3\n", 23, ["old weights", "[weight]", "one of the two"]),
        (NEW.replace("LM0=0.5", "LM0=0.5\nLM0= 1"), 19, ["LM0", "second weight", "line 18"]),
        (NEW.replace("LM0=0.5", "LM0= nan"), 18, ["LM0", "'nan'"]),
        (NEW.replace("LM0=0.5", "LM0= a b"), 18, ["LM0", "'a'"]),
        (NEW.replace("LM0=0.5", "=0.5"), 18, ["no weight", "NAME= v v v"]),
        (OLD.replace("0.3", "x"), 4, ["d", "'x'"]),
        (OLD + "[weight-overwrite]\nLM0= 1\n", 15, ["[weight-overwrite]", "[weight-l]"]),
        ("[feature]\nDistortion\n", None, ["no weights"]),
    ],
)
def test_what_is_wrong_is_refused_with_line(tmp_path, text, line, words):
    path = tmp_path / "moses.ini"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        read_weights(path)
    assert error.value.line == line
    assert all(word in str(error.value) for word in words)


def test_a_real_configuration(shared_data, tmp_path):
    source = shared_data / "moses" / "de-en" / "run2.moses.ini"
    weights = read_weights(source)
    assert len(weights.names) == 15
    assert weights.by_group()["LM0"] == [0.105671634907174]
    groups = weights.by_group()
    del groups["UnknownWordPenalty0"]
    write_weights(tmp_path / "out.ini", Weights.from_groups(groups), template=source)
    assert (tmp_path / "out.ini").read_bytes() == source.read_bytes()
    sparse = read_weights(
        shared_data / "moses" / "variants" / "sparse.ini",
        sparse_path=shared_data / "moses" / "variants" / "sparse.weights",
    )
    assert dict(sparse.sparse) == {"WT_mann~man": 0.5, "PL_s2": -0.1}


def test_the_comment_that_weights_are_not_tuned_goes(tmp_path):
    comments = (
        "# The default weights are NOT optimized for translation quality. You MUST tune the weights.\n"
        "# Documentation for tuning is here: http://www.statmt.org/moses/?n=FactoredTraining.Tuning \n"
    )
    text = "[feature]\nKENLM name=LM0\n\n# dense weights\n[weight]\n{}# mine\nLM0= {}\n"
    (tmp_path / "in.ini").write_text(text.format(comments, 0.5))
    write_weights(tmp_path / "out.ini", Weights.from_groups({"LM0": [0.25]}), template=tmp_path / "in.ini")
    assert (tmp_path / "out.ini").read_text() == text.format("", 0.25)
