"""N-best lists: every layout against a slow obvious parser, what is refused, the fast way against the careful one."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import struct

import numpy as np
import pytest
from build import everything, sparse_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lasw.tuning.formats.nbest.reader as reader
from lasw.metrics import UserError, Vocabulary
from lasw.tuning import FeatureNames, read_nbest, stream_nbest, write_nbest
from lasw.tuning.formats.nbest.kernel import CAREFUL, DONE


def read(path, **options):
    return read_nbest(path, Vocabulary(), **options)


def read_text(tmp_path, text, **options):
    path = tmp_path / "list"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, **options)


def obvious(path, dense_groups):
    """What Moses printed, parsed as slowly and plainly as can be; `dense_groups` says which names are dense."""
    rows = []
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        fields = line.split("|||")
        dense, sparse, name = [], {}, None
        for token in fields[2].split():
            if token.endswith("="):
                name = token[:-1]
            elif dense_groups is None or name in dense_groups:
                dense.append(float(token))
            elif float(token):
                sparse[name] = float(token)
        rows.append((int(fields[0]), fields[1].split(), dense, sparse, float(fields[3])))
    return rows


@pytest.mark.parametrize("name", ["plain", "seg", "align", "both", "unlab", "sparse"])
def test_layouts_of_moses(shared_data, name):
    path = shared_data / "moses" / "variants" / f"{name}.nbest"
    nbest = read(path)
    sizes = {"LexicalReordering0": 6, "Distortion0": 1, "LM0": 1, "WordPenalty0": 1, "PhrasePenalty0": 1}
    sizes["TranslationModel0"] = 4
    assert nbest.names.groups == ((("F", 14),) if name == "unlab" else tuple(sizes.items()))
    expected = obvious(path, None if name == "unlab" else sizes)
    assert nbest.owner.tolist() == [row[0] for row in expected]
    assert list(nbest.hypotheses) == [row[1] for row in expected]
    assert nbest.dense.tolist() == [row[2] for row in expected]
    assert sparse_rows(nbest) == [row[3] for row in expected]
    assert nbest.score.tolist() == [row[4] for row in expected]
    assert bool(nbest.sparse_names) == (name == "sparse")


def number(value):
    return repr(value) if value != int(value) else str(int(value))


def moses(row, groups):
    owner, words, values, total = row
    features = " ".join(f"{n}= {' '.join(number(next(values)) for _ in range(k))}" for n, k in groups)
    return f"{owner} ||| {''.join(w + ' ' for w in words)} ||| {features} ||| {number(total)}"


def with_alignment_behind(row, groups):
    return moses(row, groups) + " ||| 0-1=0-1 2=2 ||| 0-0 1-1 "


def old(row, groups):
    owner, words, values, total = row
    features = " ".join(f"{n}: {' '.join(number(next(values)) for _ in range(k))}" for n, k in groups)
    return f"{owner}||| {' '.join(words)} ||| {features} ||| {number(total)}"


def unlabelled(row, groups):
    owner, words, values, total = row
    return f"{owner} ||| {' '.join(words)} ||| {' '.join(map(number, values))} ||| {number(total)} ||| 0-0"


def marian(row, groups):
    owner, words, values, total = row
    features = " ".join(f"{n}= {number(next(values))}" for n, k in groups for _ in range(k))
    return f"{owner} ||| {' '.join(words)} ||| 0-0 1-0 ||| WordScores= -0.5 -1 ||| {features} ||| {number(total)}"


def cdec(row, groups):
    owner, words, values, total = row
    features = " ".join(f"{n}={number(next(values))}" for n, k in groups for _ in range(k))
    return f"{owner} ||| {' '.join(words)} ||| {features} ||| {number(total)}"


def travatar(row, groups):
    owner, words, values, total = row
    features = " ".join(f"{n}={number(next(values))}" for n, k in groups for _ in range(k))
    return f"{owner} ||| {' '.join(words)} ||| {number(total)} ||| {features} ||| (S (NP=1 a) (VP 3 b))"


MANY = (("Lex_Re0", 3), ("LM0", 1), ("T0", 2))
SINGLE = (("F0", 1), ("F1", 1), ("F2", 1))
COMPONENTS = (("LM", 1), ("PhraseModel_0", 1), ("PhraseModel_1", 1), ("tm_pt_12", 1))
LAYOUTS = [
    (moses, MANY),
    (with_alignment_behind, MANY),
    (old, MANY),
    (unlabelled, (("F", 6),)),
    (marian, SINGLE),
    (cdec, COMPONENTS),
    (travatar, SINGLE),
]
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64) | st.integers(-200, 200).map(float)
WORDS = st.lists(
    st.text("ab.=:|-0ü\u00a0\u2028\r\u200b", min_size=1, max_size=12).filter(lambda w: "||" not in w), max_size=6
)


@pytest.mark.parametrize(("render", "groups"), LAYOUTS, ids=lambda p: getattr(p, "__name__", ""))
@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_random_lists_in_every_layout(tmp_path, render, groups, data):
    size = sum(k for _, k in groups)
    rows = data.draw(
        st.lists(st.tuples(WORDS, st.lists(NUMBERS, min_size=size, max_size=size), NUMBERS), min_size=1, max_size=8)
    )
    # A bar at a word's edge would join those of the separator where no blank stands between.
    rows = [([w.strip("|") or "x" for w in words], values, total) for words, values, total in rows]
    lines = [render((k // 3, words, iter(values), total), groups) for k, (words, values, total) in enumerate(rows)]
    nbest = read_text(tmp_path, "".join(line + "\n" for line in lines))
    assert nbest.names.groups == groups
    assert nbest.owner.tolist() == [k // 3 for k in range(len(rows))]
    assert list(nbest.hypotheses) == [words for words, _, _ in rows]
    # -0 is printed as 0
    assert nbest.dense.tobytes() == struct.pack(
        f"{size * len(rows)}d", *(float(number(v)) for _, vs, _ in rows for v in vs)
    )
    assert nbest.score.tolist() == [total for _, _, total in rows]


def careful(data, layout, words, names, repeats, rows):
    """In place of the kernel: every line the slow way."""
    return DONE if rows.state[0] >= len(data) else CAREFUL


SEEDS = [
    "0 ||| a b  ||| LM0= -1.5 TM0= -1 2 X_a~b= 1 X_c= 0 ||| -9.25\n0 ||| a  ||| LM0= -2 TM0= 3 4e-05 X_c= 2 ||| -7\n",
    "0 ||| a b ||| LM=-3.2 P_0=1.5 G=1 ||| -1\n1 ||| c ||| G=2 LM=-3 x_y=3 ||| -2 ||| 0-0\n",
    "0 ||| a b ||| -1 ||| lm=-3.2 w=5 ||| (a b)\n1 ||| a ||| -2 ||| lm=-3.2 w=5 ||| (a)\n",
    "0||| a b ||| d: 0 -3.3 lm: -47.2 ||| -9.2\n0||| b ||| d: 1 -3.3 lm: -47.2 ||| -9.2\n",
    "0 ||| a b ||| 0-0 1-1 ||| F0= -1.2 F1= -3.4 ||| -1.1\n0 ||| a ||| 0-0 ||| F0= -1.2 F1= -3.4 ||| -1.1\n",
    "0 ||| a b ||| 1 2 3 ||| -1.1 ||| 0-0\n0 ||| a ||| 4 5 6 ||| -2 ||| 0-0 1-1\n",
    "0 ||| a b ||| -1.1\n0 ||| a ||| -2\n",
]
PIECES = [
    "|||",
    " ",
    "=",
    "1",
    "-",
    ".",
    "e5",
    "\t",
    "nan",
    "inf",
    "x",
    "_",
    "|",
    "\n",
    "0 ",
    "x_y= 3 ",
    "1e400",
    "0.12345678901234567890123",
    "\r",
    ":",
    "ä",
]


def mutated(rng):
    lines = [rng.choice(rng.choice(SEEDS[k : k + 1]).split("\n")[:-1]) for k in [rng.randrange(len(SEEDS))] * 4]
    lines.sort(key=lambda line: line[0])
    for _ in range(rng.randint(0, 2)):
        k = rng.randrange(len(lines))
        place = rng.randint(0, len(lines[k]))
        tokens = lines[k].split(" ")
        a, b = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        what = rng.randrange(3)
        if what == 0:
            lines[k] = lines[k][:place] + rng.choice(PIECES) + lines[k][place:]
        elif what == 1:
            lines[k] = lines[k][:place] + lines[k][place + rng.randint(1, 4) :]
        else:
            tokens[a], tokens[b] = tokens[b], tokens[a]
            lines[k] = " ".join(tokens)
    return "".join(line + "\n" for line in lines)


def test_fast_and_careful_way_agree_on_damaged_lists(tmp_path, monkeypatch):
    rng = random.Random(7)
    texts = [mutated(rng) for _ in range(400)]

    def results():
        found = []
        for text in texts:
            told = []
            try:
                found.append((everything(read_text(tmp_path, text, warnings=told)), told))
            except UserError as error:
                found.append(str(error))
        return found

    fast = results()
    monkeypatch.setattr(reader, "read_rows", careful)
    slow = results()
    for text, a, b in zip(texts, fast, slow, strict=True):
        assert a == b, text
    refused = sum(isinstance(result, str) for result in fast)
    assert 70 < refused < 330


def test_streamed_blocks_are_the_list(tmp_path):
    rng = random.Random(3)
    lines = []
    for k in range(15_000):
        words = " ".join(f"w{rng.randrange(9000)}" for _ in range(rng.randrange(12)))
        sparse = " ".join(f"X_{rng.randrange(9000)}= {rng.randrange(3)}" for _ in range(1))
        lines.append(f"{k // 10} ||| {words} ||| LM0= {rng.random()!r} T= {k} -1 {sparse} ||| {k}\n")
    path = tmp_path / "list"
    path.write_text("".join(lines))
    vocabulary = Vocabulary()
    blocks = list(stream_nbest(path, vocabulary))
    assert len(blocks) > 1
    whole = read_nbest(path, vocabulary)
    assert np.concatenate([b.dense for b in blocks]).tobytes() == whole.dense.tobytes()
    assert [r for b in blocks for r in sparse_rows(b)] == sparse_rows(whole)
    assert [words for b in blocks for words in b.hypotheses] == list(whole.hypotheses)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_compression_is_seen_from_content(tmp_path, pack):
    assert read_text(tmp_path, pack(SEEDS[0].encode())).dense.tolist() == [[-1.5, -1, 2], [-2, 3, 4e-05]]


# Which features are dense


def names_of(tmp_path, features, **options):
    text = "".join(f"{k} ||| a ||| {line} ||| -1\n" for k, line in enumerate(features))
    nbest = read_text(tmp_path, text, **options)
    words = nbest.sparse_names
    return nbest.names.groups, [words[k] for k in range(len(words))] if words else []


def test_dense_functions_with_underscores_stay_whole(tmp_path):
    features = ["My_Lex0= -1 2 my_lm= -3.5 X_a= 1", "My_Lex0= -1 2 my_lm= -2 X_b= 1"]
    assert names_of(tmp_path, features) == ((("My_Lex0", 2), ("my_lm", 1)), ["X_a", "X_b"])


def test_counts_are_sparse_even_if_they_are_on_every_line(tmp_path):
    assert names_of(tmp_path, ["LM0= -1 X_a= 1", "LM0= -1 X_a= 2"]) == ((("LM0", 1),), ["X_a"])


def test_sparse_features_behind_their_own_dense_function(tmp_path):
    assert names_of(tmp_path, ["Lex= -1 Lex_rest= 0.5", "Lex= -1 Lex_rest= 0.25"]) == ((("Lex", 1),), ["Lex_rest"])


def test_dense_features_can_be_named(tmp_path):
    features = ["LM0= -1 my_penalty= 1 X_a= 1", "LM0= -1 my_penalty= 2"]
    assert names_of(tmp_path, features)[0] == (("LM0", 1),)
    assert names_of(tmp_path, features, dense=["my_penalty"]) == ((("LM0", 1), ("my_penalty", 1)), ["X_a"])
    known = FeatureNames((("my_penalty", 1), ("LM0", 1)))
    text = "".join(f"{k} ||| a ||| {line} ||| -1\n" for k, line in enumerate(features))
    nbest = read_text(tmp_path, text, names=known)
    assert nbest.names == known
    assert nbest.dense.tolist() == [[1, -1], [2, -1]]


@pytest.mark.parametrize("name", ["X_a=b", "X_=", "X_a:b", "X_&#124;", "X_1,2", "X_ä~b", "X__", "Plain"])
def test_no_sparse_name_is_dropped(tmp_path, name):
    text = f"0 ||| a ||| LM0= -1 ||| -1\n0 ||| b ||| LM0= -1 {name}= 3 ||| -1\n"
    nbest = read_text(tmp_path, text)
    assert sparse_rows(nbest) == [{}, {name: 3.0}]


def test_lists_share_sparse_numbers(tmp_path):
    names = Vocabulary()
    read_text(tmp_path, "0 ||| a ||| LM0= -1 X_a= 1 ||| -1\n", sparse_names=names)
    nbest = read_text(tmp_path, "0 ||| a ||| LM0= -1 X_b= 2 X_a= 3 ||| -1\n", sparse_names=names)
    assert nbest.sparse_names is names
    assert nbest.sparse.toarray().tolist() == [[3, 2]]


def test_features_in_another_order_are_read_by_name_and_told(tmp_path):
    told = []
    nbest = read_text(tmp_path, "0 ||| a ||| A= 1 B= 2 3 ||| -1\n0 ||| b ||| B= 5 6 A= 4 ||| -1\n", warnings=told)
    assert nbest.dense.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert told == [f"{tmp_path / 'list'}: 1 line with the features in another order, read by their names"]


def test_zeros_that_cdec_leaves_out(tmp_path):
    told = []
    nbest = read_text(tmp_path, "0 ||| a ||| LM=-1 G=2 ||| -1\n0 ||| b ||| LM=-3 ||| -1\n", warnings=told)
    assert nbest.dense.tolist() == [[-1, 2], [-3, 0]]
    assert told == [f"{tmp_path / 'list'}: 1 dense feature value not printed, taken as 0"]


def test_single_features(tmp_path):
    assert read_text(tmp_path, "0 ||| a ||| F0=-1.2 ||| -1.1\n").dense.tolist() == [[-1.2]]
    assert read_text(tmp_path, "0 ||| a ||| F0= -1.2 ||| -1.1\n").dense.tolist() == [[-1.2]]
    nbest = read_text(tmp_path, "0 ||| a ||| ||| -1\n0 ||| b ||| ||| -2\n")
    assert nbest.names.groups == (("score", 1),)
    assert nbest.dense.tolist() == [[-1], [-2]]


# Text and ids


def test_bytes_of_the_text(tmp_path):
    text = "\ufeff0 ||| a\u00a0b\u2028c \t d\re\u200b  ||| F0= 1 ||| 1\r\n0 |||  ||| F0= 1e+05 ||| 1"
    told = []
    nbest = read_text(tmp_path, text, warnings=told)
    assert list(nbest.hypotheses) == [["a\u00a0b\u2028c", "d\re\u200b"], []]
    assert nbest.dense.tolist() == [[1], [100000]]
    assert any("1 line ended in CR LF" in line for line in told)
    assert any("the last line has no end" in line for line in told)


def test_preprocess(tmp_path):
    assert list(read_text(tmp_path, "0 ||| A b ||| F0= 1 ||| 1\n", preprocess=str.lower).hypotheses) == [["a", "b"]]


def test_ids_in_any_order_only_if_asked(tmp_path):
    text = "".join(f"{k} ||| a ||| F0= {k} ||| 1\n" for k in (2, 0, 1))
    with pytest.raises(UserError, match=r"list:2: sentence id 0 after 2; expected ids that never decrease; if"):
        read_text(tmp_path, text)
    assert read_text(tmp_path, text, unsorted=True).owner.tolist() == [2, 0, 1]


def test_missing_ids_are_told(tmp_path):
    text = "0 ||| a ||| F0= 1 ||| 1\n2 ||| a ||| F0= 1 ||| 1\n"
    told = []
    read_text(tmp_path, text, warnings=told)
    read_text(tmp_path, text, warnings=told, segments=5)
    path = tmp_path / "list"
    assert told == [
        f"{path}: no hypotheses for 1 sentence (id 1)",
        f"{path}: no hypotheses for 3 sentences (id 1, 3, 4)",
    ]


def test_ids_beyond_the_references(tmp_path):
    with pytest.raises(
        UserError, match=r"list:2: sentence id 5; expected at most 1, there are 2 references; are these"
    ):
        read_text(tmp_path, "0 ||| a ||| F0= 1 ||| 1\n5 ||| a ||| F0= 1 ||| 1\n", segments=2)
    with pytest.raises(UserError, match="do the ids start at 1"):
        read_text(tmp_path, "1 ||| a ||| F0= 1 ||| 1\n2 ||| a ||| F0= 1 ||| 1\n", segments=2)
    with pytest.raises(UserError, match="are these the references"):
        read_text(tmp_path, "0 ||| a ||| F0= 1 ||| 1\n2 ||| a ||| F0= 1 ||| 1\n", segments=2)
    with pytest.raises(UserError, match="list:1: sentence id 2147483647; expected at most 1"):
        read_text(tmp_path, "2147483647 ||| a ||| F0= 1 ||| 1\n", segments=2)


GOOD = "0 ||| a ||| LM0= -1 TM0= -2 -3 ||| -1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD + "0 ||| b ||| LM0= -1 TM0= -2 ||| -1\n",
            "list:2: feature TM0 has 1 value; expected 2 values, as on line 1",
        ),
        (GOOD + "0 ||| b ||| LM0= -1 TM0= -2 3 4 ||| -1\n", "list:2: feature TM0 has 3 values; expected 2 values"),
        (GOOD + "0 ||| b ||| TM0= -2 3 ||| -1\n", "list:2: feature LM0 is missing, 0 values; expected 1 value"),
        (GOOD + "0 ||| b ||| LM0= -1 LM0= 1 TM0= 1 2 ||| -1\n", "list:2: feature LM0 is there twice"),
        (GOOD + "0 ||| b ||| LM0= -1 TM0= 1 2 X_a= 1 X_a= 1 ||| -1\n", "list:2: feature X_a is there twice"),
        (
            GOOD + "0 ||| b ||| LM0= -1 TM0= 1 2 New= 1 2 ||| -1\n",
            "list:2: feature New has 2 values; expected one of LM0",
        ),
        (GOOD + "0 ||| b ||| LM0= -nan TM0= 1 2 ||| -1\n", "list:2: feature LM0 is -nan; expected a finite number"),
        (GOOD + "0 ||| b ||| LM0= 1 TM0= 1 inf ||| -1\n", "list:2: feature TM0 is inf; expected a finite number"),
        (GOOD + "0 ||| b ||| LM0= 1 TM0= 1 1e400 ||| -1\n", "list:2: feature TM0 is 1e400; expected a finite number"),
        (GOOD + "0 ||| b ||| LM0= 1 TM0= 1 2 ||| -inf\n", "list:2: the total is -inf; expected a finite number"),
        (GOOD + "0 ||| b ||| LM0= 1 TM0= 1 2\n", "list:2: no total"),
        (GOOD + "0 ||| b ||| LM0= 1 TM0= 1 2x ||| -1\n", "list:2: '2x' among the values of feature TM0"),
        (GOOD + "0 ||| b ||| LM0= 1 TM0= 1 1_0 ||| -1\n", "list:2: '1_0' among the values of feature TM0"),
        (GOOD + "0 ||| b ||| ||| -1\n", r"list:2: no features; expected LM0\(1\) TM0\(2\), as on line 1"),
        (GOOD + "7 cats ||| b ||| LM0= 1 TM0= 1 2 ||| -1\n", "list:2: sentence id '7 cats'; expected a whole number"),
        (GOOD + "-1 ||| b ||| LM0= 1 TM0= 1 2 ||| -1\n", "list:2: sentence id '-1'"),
        (
            GOOD + "99999999999 ||| b ||| LM0= 1 TM0= 1 2 ||| -1\n",
            "list:2: sentence id '99999999999'; expected at most",
        ),
        (
            GOOD + "0 ||| a||| b ||| LM0= 1 TM0= 1 2 ||| -1\n",
            r"list:2: field 3 \('b'\) is neither .*within the hypothesis",
        ),
        (GOOD + "\n", "list:2: one extra blank last line; remove it"),
        (GOOD + "\n" + GOOD, "list:2: a blank line"),
        (GOOD + "a line\n", "list:2: sentence id 'a line'"),
        ("0 ||| a ||| 1 2 3 ||| -1\n0 ||| b ||| 1 2 ||| -1\n", "list:2: 2 feature values; expected 3, as on line 1"),
        ("0 ||| a ||| 1 2 nan ||| -1\n", "list:1: feature 3 is nan"),
        ("0 ||| a ||| 1 . 3 ||| -1\n", "list:1: field 3 .'1 . 3'. is neither features nor"),
        ("0 ||| a ||| F0=1x ||| -1\n", "list:1: 'F0=1x' among the features"),
        ("0 ||| a\n", "list:1: no features and no total"),
        ("0\n", "list:1: no hypothesis"),
        ("", "list: the file is empty"),
        (b"0 ||| \xff ||| F0= 1 ||| 1\n", "list:1: byte 0xff is no UTF-8"),
    ],
)
def test_refused_with_file_and_line(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        read_text(tmp_path, text)


# Writing


def test_what_is_written_is_read_back_to_the_bit(tmp_path):
    rng = random.Random(11)
    lines = []
    for k in range(300):
        words = " ".join(rng.choice(["ein", "zwei", "ü|", "="]) for _ in range(rng.randrange(5)))
        values = [rng.gauss(0, 1) * 10 ** rng.randint(-9, 9) for _ in range(4)]
        sparse = "".join(f" X_{rng.choice('abc')}{j}= {rng.randint(0, 2)}" for j in range(3))
        lines.append(
            f"{k // 9} ||| {words} ||| LM0= {values[0]!r} TM0= {values[1]!r} {values[2]!r}{sparse} ||| {values[3]!r}\n"
        )
    first = read_text(tmp_path, "".join(lines))
    for name in ("out", "out.gz"):
        write_nbest(tmp_path / name, first)
        assert everything(read(tmp_path / name)) == everything(first)
    written = (tmp_path / "out.gz").read_bytes()
    write_nbest(tmp_path / "out.gz", read(tmp_path / "out"))
    assert (tmp_path / "out.gz").read_bytes() == written


def test_words_that_would_break_the_list_are_refused(tmp_path):
    nbest = read_text(tmp_path, "0 ||| a b ||| F0= 1 ||| 1\n", preprocess=lambda text: text.replace("b", "|||"))
    with pytest.raises(UserError, match=r"the word '\|\|\|' cannot be written"):
        write_nbest(tmp_path / "out", nbest)
    assert not (tmp_path / "out").exists()
