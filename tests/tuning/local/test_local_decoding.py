"""Decoding and reranking with weights of its own for every sentence."""

import json
import re
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
from made_text import parallel_text

from lasw.metrics import UserError, Vocabulary
from lasw.scripts.main import main
from lasw.tuning import FeatureNames, Moses, Weights, read_local_weights, write_local_weights
from lasw.tuning.decoders.command import Command
from lasw.tuning.decoders.fixed import Fixed
from lasw.tuning.formats.weights import marked_sentences, write_moses_settings

LIST = """\
0 ||| ein Bus  ||| LM0= -1 TM0= -2 -3 ||| -6
0 ||| der Bus  ||| LM0= -3 TM0= -2 -0.5 ||| -5.5
1 ||| zwei  ||| LM0= -1 TM0= -1 -1 ||| -3
1 ||| drei  ||| LM0= -1 TM0= -1 -1 ||| -3
2 ||| ein Bus  ||| LM0= -1 TM0= -2 -3 S_a= 1 ||| -6
2 ||| der Bus  ||| LM0= -3 TM0= -2 -0.5 ||| -5.5
"""
INI = """\
[feature]
UnknownWordPenalty
KENLM name=LM0 path=lm
PhraseDictionaryMemory name=TM0 num-features=2 path=table
[weight]
UnknownWordPenalty0= 7
LM0= 0.5
TM0= 0.2 0.2
"""
LOVES_LM, LOVES_TM = (
    Weights.from_groups({"LM0": [1.0], "TM0": [0.1, 0.0]}),
    Weights.from_groups({"LM0": [0.25], "TM0": [0.0, 1.0]}),
)

# Reads moses.ini and tagged input as Moses does: settings start from nothing, tags lose their case.
STAND_IN = """#!{python}
import re, sys
words = sys.argv[1:]
if "-show-weights" in words:
    print("UnknownWordPenalty0 UNTUNEABLE"); print("LM0= 0.5"); print("TM0= 0.2 0.2"); sys.exit(0)
at = lambda name: words[words.index(name) + 1]
assert words[words.index("-threads") + 1] == "1" and words.count("-threads") == 1
settings, now, section = {{"default": {{}}}}, "default", ""
for line in open(at("-config")):
    line = line.split("#")[0].strip()
    if line.startswith("["):
        section = line
    elif line and section in ("[weight]", "[alternate-weight-setting]"):
        if line.startswith("id="):
            now = line.split()[0][3:]
            settings[now] = {{}}
        else:
            name, *values = line.split()
            settings[now][name.rstrip("=")] = [float(v) for v in values]
found = [("ein Bus", [-1.0, -2.0, -3.0]), ("der Bus", [-3.0, -2.0, -0.5])]
with open(at("-n-best-list"), "w") as out:
    for k, line in enumerate(open(at("-input-file"))):
        tag = re.match(r'<seg weight-setting="([0-9]+)">(.*)</seg>$', line.strip())
        if not tag:
            print()
            continue
        w = settings[tag[1]]
        assert w["UnknownWordPenalty0"] == [7.0]
        w = w["LM0"] + w["TM0"]
        scored = sorted((-sum(a * b for a, b in zip(w, h)), text, h) for text, h in found)
        print(scored[0][1])
        for score, text, h in scored:
            out.write(f"{{k}} ||| {{text}} {{tag[2]}}  ||| LM0= {{h[0]}} TM0= {{h[1]}} {{h[2]}} ||| {{-score}}\\n")
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nbest").write_text(LIST)
    (tmp_path / "moses.ini").write_text(INI)
    (tmp_path / "moses").write_text(STAND_IN.format(python=sys.executable))
    (tmp_path / "moses").chmod(0o700 | stat.S_IXUSR)
    return tmp_path


def ran(capsys, *words, code=0):
    found = main(list(words))
    out, err = capsys.readouterr()
    assert found == code, err
    return out, err


@pytest.mark.parametrize("name", ["local.jsonl", "local.npz"])
def test_files_come_back_bit_for_bit(tmp_path, name):
    rng = np.random.default_rng(1)
    names = FeatureNames((("LM0", 1), ("TM0", 2)))
    weights = [Weights(names, rng.normal(size=3), {"S_a": float(rng.normal())}) for _ in range(4)]
    write_local_weights(tmp_path / name, weights)
    data = (tmp_path / name).read_bytes()
    back = read_local_weights(tmp_path / name)
    assert [one.dense.tobytes() for one in back] == [one.dense.tobytes() for one in weights]
    assert [one.sparse for one in back] == [one.sparse for one in weights]
    assert back[0].names == names
    write_local_weights(tmp_path / name, back)
    assert (tmp_path / name).read_bytes() == data


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"dense": {"a": [1]}}\n{"dense": {"b": [1]}}\n', "x:2: weights of other features"),
        ('{"dense": {"a": [1]}}\n\n', "x:2: this is no JSON"),
        ('{"dense": {"a": ["1"]}}\n', "x:1: the weight of a"),
        ("PK", "no weights of ours"),
    ],
)
def test_files_that_are_none(tmp_path, text, message):
    (tmp_path / "x").write_text(text)
    with pytest.raises(UserError, match=message):
        read_local_weights(tmp_path / "x")


def test_reranking(place, capsys):
    sparse = Weights(LOVES_TM.names, LOVES_TM.dense, {"S_a": 9.0})
    write_local_weights("local", [LOVES_LM, LOVES_TM, sparse])
    assert ran(capsys, "rerank", "--local-weights", "local", "nbest") == ("ein Bus\nzwei\nein Bus\n", "")
    write_local_weights("local", [LOVES_TM, LOVES_LM, LOVES_TM])
    assert ran(capsys, "rerank", "--local-weights", "local", "nbest") == ("der Bus\nzwei\nder Bus\n", "")
    out, _ = ran(capsys, "rerank", "--local-weights", "local", "--nbest", "nbest")
    assert [float(line.split("|||")[3]) for line in out.splitlines()[:2]] == pytest.approx([-1.25, -3.25])
    out, _ = ran(capsys, "rerank", "--local-weights", "local", "--unsorted", "nbest")
    assert out == "der Bus\nzwei\nder Bus\n"


def test_reranking_with_too_many_weights(place, capsys):
    write_local_weights("local", [LOVES_LM] * 5)
    told = ran(capsys, "rerank", "--local-weights", "local", "nbest")[1]
    assert told == "lasw rerank: warning: weights for 5 sentences, the N-best lists end with the 3. of them\n"


def test_reranking_with_too_few_or_no_weights(place, capsys):
    write_local_weights("local", [LOVES_LM])
    assert "weights for 1 sentences" in ran(capsys, "rerank", "--local-weights", "local", "nbest", code=1)[1]
    (place / "local").write_text("")
    assert "no weights" in ran(capsys, "rerank", "--local-weights", "local", "nbest", code=1)[1]


def test_fixed_lists(place):
    decoder = Fixed(("nbest",))
    nbest = decoder.decode_each(["a", "b", "c"], [LOVES_LM, LOVES_LM, LOVES_TM], 1, Vocabulary())
    assert [nbest.hypotheses.text(k) for k in range(3)] == ["ein Bus", "zwei", "der Bus"]
    with pytest.raises(ValueError, match="1 weights for 3"):
        decoder.decode_each(["a", "b", "c"], [LOVES_LM], 1, Vocabulary())


def test_a_decoder_that_cannot(place):
    decoder = Command("./moses {weights}", "moses.ini")
    with pytest.raises(UserError, match="rerank"):
        decoder.decode_each(["a"], [decoder.start_weights()], 1, Vocabulary())


@pytest.mark.parametrize(("jobs", "flags"), [(1, ""), (3, "-threads 4")])
def test_moses(place, jobs, flags):
    decoder = Moses("moses.ini", moses="./moses", jobs=jobs, flags=flags)
    source = ["rot", "", "blau", "gelb", "grau"]
    weights = [LOVES_LM, LOVES_LM, LOVES_TM, LOVES_TM, LOVES_LM]
    nbest = decoder.decode_each(source, weights, 2, Vocabulary())
    first = np.flatnonzero(np.diff(nbest.owner, prepend=-1))
    assert nbest.owner.tolist() == [0, 0, 2, 2, 3, 3, 4, 4]
    assert [nbest.hypotheses.text(k) for k in first] == ["ein Bus rot", "der Bus blau", "der Bus gelb", "ein Bus grau"]


def test_decode_command(place, capsys):
    write_local_weights("local", [LOVES_TM, LOVES_LM])
    (place / "source").write_text("rot\nblau\n")
    words = ["decode", "--decoder", "moses", "--ini", "moses.ini", "--moses", "./moses", "--source", "source"]
    assert ran(capsys, *words, "--local-weights", "local")[0] == "der Bus rot\nein Bus blau\n"
    write_local_weights("local", [LOVES_TM])
    assert "expected 2, as many as source has lines" in ran(capsys, *words, "--local-weights", "local", code=1)[1]


def test_settings_in_a_moses_ini(place):
    sparse = Weights(LOVES_TM.names, LOVES_TM.dense, {"S_a": 0.5, "S_b": -1.0})
    write_moses_settings("moses.ini", "out.ini", [LOVES_LM, sparse])
    text = (place / "out.ini").read_text()
    head, _, settings = text.partition("\n[alternate-weight-setting]\n")
    assert head.startswith(INI.partition("[weight]")[0])
    assert re.findall(r"(?m)^LM0= (.*)", text) == ["1.0", "1.0", "0.25"]
    assert settings.count("UnknownWordPenalty0= 7.0") == 2
    assert settings.splitlines()[0] == "id=0"
    named = re.search(r"(?m)^id=1 weight-file=(.*)$", settings)
    assert named is not None
    assert Path(named[1]).read_text() == "S_a 0.5\nS_b -1.0\n"
    with pytest.raises(UserError, match="already"):
        write_moses_settings("out.ini", "other.ini", [LOVES_LM])
    (place / "old.ini").write_text("[weight-l]\n0.5\n[weight-t]\n0.2\n0.2\n")
    with pytest.raises(UserError, match=r"an old moses\.ini"):
        write_moses_settings("old.ini", "other.ini", [Weights.from_groups({"lm": [1.0], "tm": [0.1, 0.0]})])
    with pytest.raises(UserError, match="no feature"):
        write_moses_settings("moses.ini", "other.ini", [Weights.from_groups({"LM9": [1.0]})])


def test_tagged_input():
    assert marked_sentences(["a b", " ", "c < d"]) == [
        '<seg weight-setting="0">a b</seg>',
        " ",
        '<seg weight-setting="2">c < d</seg>',
    ]
    with pytest.raises(UserError, match="sentence 2"):
        marked_sentences(["a", "b </Seg> c"])


def test_thot(tmp_path):
    pytest.importorskip("thot", reason="sil-thot is not installed")
    from lasw.tuning import Thot

    source, target = parallel_text(120)
    (tmp_path / "f").write_text("".join(line + "\n" for line in source))
    (tmp_path / "e").write_text("".join(line + "\n" for line in target))
    words = ["train", "--source", str(tmp_path / "f"), "--target", str(tmp_path / "e"), "--quiet"]
    assert main([*words, "--output", str(tmp_path / "system")]) == 0
    decoder = Thot(tmp_path / "system", jobs=2)
    start = decoder.start_weights()
    other = Weights(start.names, np.array([-1.0, 0.2, 0.5, 0.1, 0.5, 0.2, 1.0, 0.3]))
    lines = [*source[:3], "", source[0]]
    chosen = [start, other, start, start, other]
    together = decoder.decode_each(lines, chosen, 5, Vocabulary())
    each = [decoder.decode(lines, weights, 5, Vocabulary()) for weights in (start, other)]
    for k, weights in enumerate(chosen):
        right = each[int(weights is other)]
        mine, its = together.owner == k, right.owner == k
        assert together.dense[mine].tobytes() == right.dense[its].tobytes()
        assert together.score[mine].tobytes() == right.score[its].tobytes()
    decoder.close()


def test_json_lines_are_plain(tmp_path):
    write_local_weights(tmp_path / "local", [LOVES_LM])
    line = (tmp_path / "local").read_text()
    assert json.loads(line) == {"dense": {"LM0": [1.0], "TM0": [0.1, 0.0]}, "sparse": {}}
