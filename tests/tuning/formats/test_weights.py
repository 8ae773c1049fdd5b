"""Weight files of every kind, and their match with the features of N-best lists."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lasw.metrics import UserError
from lasw.tuning import FeatureNames, Weights, kind_of_name, match, read_weights, write_weights

THREE = FeatureNames((("LM0", 1), ("TM0", 2)))


def written(tmp_path, text, name="weights"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "dense", "sparse"),
    [
        ("LM0= 0.5\nTM0= 0.1 -2e-05\n", {"LM0": [0.5], "TM0": [0.1, -2e-05]}, {}),
        ("LM0= 0.500000\nUnknownWordPenalty0 UNTUNEABLE\nWT=\n", {"LM0": [0.5]}, {}),
        ("lm_0 = 0.5\ntm_pt_0 = -1\n", {"lm_0": [0.5], "tm_pt_0": [-1.0]}, {}),
        ("lm=0.5\nw=-1\n", {"lm": [0.5], "w": [-1.0]}, {}),
        ("a=b=0.5\n", {"a=b": [0.5]}, {}),
        ("LanguageModel 0.5\nWT_a=b 1e+02\n", {"LanguageModel": [0.5], "WT_a=b": [100.0]}, {}),
        ("TWI_= 0.5\nTWI_a 0.25\n", {"TWI_=": [0.5], "TWI_a": [0.25]}, {}),
        ("# a comment\n\n  LM0= 0.5  \r\n\n", {"LM0": [0.5]}, {}),
        ("\ufeffLM0= 0.5", {"LM0": [0.5]}, {}),
        (
            '{"dense": {"LM0": [0.5], "w": -1}, "sparse": {"WT_a~b": 0.25}}',
            {"LM0": [0.5], "w": [-1.0]},
            {"WT_a~b": 0.25},
        ),
        ('{"F0": 1}', {"F0": [1.0]}, {}),
        ('{\n  "TM0": [0.5, -2],\n  "dense": 3\n}', {"TM0": [0.5, -2.0], "dense": [3.0]}, {}),
        ('{"signature": "x", "weights": {"dense": {"LM0": [0.5]}, "sparse": {"a": 1}}}', {"LM0": [0.5]}, {"a": 1.0}),
        ("LM0 0.5\nTM0 0.1 -2e-05\n", {"LM0": [0.5], "TM0": [0.1, -2e-05]}, {}),
        ("LM0= 0.5\nTM0= 0.1\nTM0= 0.2\nw= -1\n", {"LM0": [0.5], "TM0": [0.1, 0.2], "w": [-1.0]}, {}),
        ("TM0= 0.1 UNTUNEABLECOMPONENT 0.3\nUW UNTUNEABLE\nWT=\n", {"TM0": [0.1, 0.3]}, {}),
        ("0.5 0.1 -2e-05 \n", {"F0": [0.5], "F1": [0.1], "F2": [-2e-05]}, {}),
        ("0.5 0.1 2\n0 0 -1\n1 1 1\n", {"F0": [0.5], "F1": [0.1], "F2": [2.0]}, {}),
        ("F0 0.5\nF1 -1\nWT_a~b 0.25\n", {"F0": [0.5], "F1": [-1.0], "WT_a~b": [0.25]}, {}),
        (
            "Loading Data from: run1.scores.dat\nBest point: 0.25 -0.5 2e-01  => 0.391\nStopping... : [2]\n",
            {"F0": [0.25], "F1": [-0.5], "F2": [0.2]},
            {},
        ),
        (
            "[tm_file]\nmodel/rules.gz\n\n[weight_vals]\nlm=0.3\negfp_a= -1\n\n[search]\ncp\n",
            {"lm": [0.3], "egfp_a": [-1.0]},
            {},
        ),
        ("[binarize]\nright\n[weight_vals]\nlm=0.3\n", {"lm": [0.3]}, {}),
    ],
)
def test_kinds_are_detected_by_content(tmp_path, text, dense, sparse):
    weights = read_weights(written(tmp_path, text))
    assert weights.by_group() == dense
    assert dict(weights.sparse) == sparse


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("LM0= 0.5\nw= 1\nLM0= 0.6\n", 3, ["LM0", "second weight", "line 1"]),
        ("LM0 0.5\nLM0 0.5\n", 2, ["LM0", "second weight"]),
        ("LM0= nan\n", 1, ["LM0", "nan", "finite"]),
        ("LM0= 0.5\nw= inf\n", 2, ["'inf'"]),
        ("LM0 1_000\n", 1, ["'1_000'"]),
        ("LM0 0,5\n", 1, ["'0,5'"]),
        ("LM0= 0.5\nTM0= 1\nwhat is this\n", 3, ["what is this", "NAME= v v v"]),
        ('{"dense": {"LM0": [0.5],\n "LM0": [0.6]}}', None, ["'LM0'", "twice"]),
        ('{"dense": {"LM0": [NaN]}}', None, ["LM0", "nan"]),
        ('{"dense": {"LM0": ["0.5"]}}', None, ["LM0", "finite number"]),
        ('{"dense": {"LM0": [true]}}', None, ["LM0", "true"]),
        ('{"weights": {"LM0": [0.5]}}', None, ["dense"]),
        ('{"dense": {"LM0": [0.5}\n', 1, ["JSON"]),
        ('{"dense": {"LM0": ' + "1" * 5000 + "}}", None, ["JSON", "digits"]),
        ('{"dense": ' + "[" * 100_000, None, ["JSON"]),
        ("LM0= 0.5 0.1\nLM0= 0.6\n", 2, ["LM0", "second weight"]),
        ("0.5 nan 1\n", 1, ["'0.5 nan 1' gives no weight"]),
        ("0.5 0.1 1\n0 0\n", 1, ["gives no weight"]),
        ("not used\n", None, ["not used", "mert.out", "runN.dense"]),
        ("MIRA\nBest BLEU = 0.38 [now using]\n", None, ["no weights", "mert.out"]),
        ("Best point: 0.5 nan => 0.3\n", 1, ["weight 2", "'nan'"]),
        ("[tm_file]\nx\n[weight_vals]\nlm=x\n", 4, ["lm", "'x'"]),
        ('{"dense": {"a": [1]}}\n{"dense": {"a": [2]}}\n', 2, ["several sentences", "--local-weights"]),
        ("{}", None, ["dense"]),
        ("", None, ["no weights"]),
        ("# nothing\n", None, ["no weights"]),
    ],
)
def test_what_is_wrong_is_refused_with_file_and_line(tmp_path, text, line, words):
    path = written(tmp_path, text)
    with pytest.raises(UserError) as error:
        read_weights(path)
    assert error.value.path == str(path)
    assert error.value.line == line
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("kind", ["pairs", "joshua", "travatar", "json"])
def test_names_of_words_with_other_blanks(tmp_path, kind):
    weights = Weights.from_groups({"LM0": [0.5]}, {"WT_a\u00a0b~\u3000": 2.0, "WT_\u2028": 3.0, "WT_\x85": 4.0})
    write_weights(tmp_path / "w", weights, kind=kind)
    again = read_weights(tmp_path / "w")
    flat = {**{name: values[0] for name, values in again.by_group().items()}, **again.sparse}
    assert flat == {"LM0": 0.5, **weights.sparse}


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        read_weights(tmp_path / "none")
    with pytest.raises(UserError, match="folder"):
        read_weights(tmp_path)


FINITE = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(alphabet="ABCxyz0189_~,.ä:", min_size=1, max_size=8)


@given(
    groups=st.dictionaries(NAMES, st.lists(FINITE, min_size=1, max_size=1), min_size=1, max_size=5),
    kind=st.sampled_from(["json", "flat-json", "pairs", "joshua", "travatar", "vectors", "groups"]),
)
def test_every_kind_gives_the_same_bits_back(tmp_path_factory, groups, kind):
    path = tmp_path_factory.mktemp("w") / "weights"
    weights = Weights.from_groups(groups)
    write_weights(path, weights, kind=kind, comment=["BLEU 0.4"])
    back = read_weights(path)
    assert back.names == weights.names
    assert back.dense.tobytes() == weights.dense.tobytes()


def test_tiny_weights_do_not_become_zero(tmp_path):
    weights = Weights.from_groups({"LM0": [1e-7], "TM0": [0.1, 1 / 3]}, {"WT_a": -2.5e-9})
    for kind in ("json", "pairs", "joshua", "travatar"):
        write_weights(tmp_path / kind, weights, kind=kind)
        back = match(read_weights(tmp_path / kind), weights.names, sparse_names=["WT_a"]).weights
        assert back.dense.tolist() == weights.dense.tolist()
        assert dict(back.sparse) == dict(weights.sparse)


def test_json_holds_groups_and_sparse_weights(tmp_path):
    path = tmp_path / "w.json"
    write_weights(path, Weights.from_groups({"TM0": [1.0, 2.0]}, {"b": 1.0, "a": 2.0}))
    assert json.loads(path.read_text()) == {"dense": {"TM0": [1.0, 2.0]}, "sparse": {"a": 2.0, "b": 1.0}}


def test_the_name_says_the_kind():
    assert kind_of_name("a/moses.ini") == "moses"
    assert kind_of_name("weights.json") == kind_of_name("weights") == "json"


def test_wrong_ways_to_write(tmp_path):
    weights = Weights.from_groups({"LM0": [0.5]}, {"WT_a": 1.0})
    with pytest.raises(UserError, match=r"did you mean 'pairs'"):
        write_weights(tmp_path / "w", weights, kind="pair")
    with pytest.raises(UserError, match=r"moses\.ini"):
        write_weights(tmp_path / "w.ini", weights)
    with pytest.raises(UserError, match="sparse"):
        write_weights(tmp_path / "w", weights, kind="groups")
    with pytest.raises(UserError, match="share one name"):
        write_weights(tmp_path / "w", Weights.from_groups({"a": [0.5]}, {"a": 1.0}), kind="pairs")
    assert not list(tmp_path.iterdir())


def test_sparse_weights_from_a_file_beside(tmp_path):
    dense, sparse = written(tmp_path, "LM0= 0.5\n", "d"), written(tmp_path, "# c\n\nWT_a~b 0.25\nPL_1,2 -1\n", "s")
    weights = read_weights(dense, sparse_path=sparse)
    assert weights.by_group() == {"LM0": [0.5]}
    assert dict(weights.sparse) == {"WT_a~b": 0.25, "PL_1,2": -1.0}
    both = written(tmp_path, '{"dense": {}, "sparse": {"WT_a~b": 1}}', "j")
    with pytest.raises(UserError, match="second weight"):
        read_weights(both, sparse_path=sparse)


def test_match_puts_weights_in_the_order_of_the_lists():
    found = match(Weights.from_groups({"TM0": [2.0, 3.0], "UnknownWordPenalty0": [1.0], "LM0": [1.0]}), THREE)
    assert found.weights.names == THREE
    assert found.weights.dense.tolist() == [1.0, 2.0, 3.0]
    assert found.unused == {"UnknownWordPenalty0": [1.0]}
    assert found.warnings == ()  # Moses never lists it: nothing to say
    assert found.complete(found.weights).by_group() == {"LM0": [1.0], "TM0": [2.0, 3.0], "UnknownWordPenalty0": [1.0]}


def test_match_takes_components_and_sparse_features_out_of_flat_files():
    flat = Weights.from_groups({"LM0_0": [1.0], "TM0_1": [3.0], "TM0_0": [2.0], "WT_a": [4.0]})
    found = match(flat, THREE, sparse_names=["WT_a", "WT_b"])
    assert found.weights.dense.tolist() == [1.0, 2.0, 3.0]
    assert dict(found.weights.sparse) == {"WT_a": 4.0}
    assert not found.unused
    assert not found.warnings


def test_the_lists_decide_what_is_dense():
    found = match(Weights.from_groups({"TM0": [2.0, 3.0], "a_b": [4.0]}, {"LM0": 1.0}), THREE, sparse_names=["a_b"])
    assert found.weights.dense.tolist() == [1.0, 2.0, 3.0]
    assert dict(found.weights.sparse) == {"a_b": 4.0}


def test_match_reports_a_weight_for_a_feature_that_the_lists_never_have():
    found = match(Weights.from_groups({"LM0": [1.0], "TM0": [2.0, 3.0], "LM1": [0.5]}), THREE)
    assert found.unused == {"LM1": [0.5]}
    assert len(found.warnings) == 1
    assert "LM1" in found.warnings[0]


def test_match_refuses_a_feature_without_weight_and_a_wrong_number():
    with pytest.raises(
        UserError,
        match=r"w\.ini: no weight for the feature TM0; expected .*LM0, TM0.*no feature took: TN0; is it the file",
    ):
        match(Weights.from_groups({"LM0": [1.0], "TN0": [1.0, 2.0]}), THREE, path="w.ini")
    with pytest.raises(UserError, match=r"3 weights for TM0; expected 2"):
        match(Weights.from_groups({"LM0": [1.0], "TM0": [1.0, 2.0, 3.0]}), THREE)
    assert match(Weights.from_groups({"LM0": [1.0]}), THREE, default={"TM0": 0.0}).weights.dense.tolist() == [
        1.0,
        0.0,
        0.0,
    ]


def test_weights_without_names_go_to_the_features_in_their_order(tmp_path):
    found = match(read_weights(written(tmp_path, "1 2 3")), THREE)
    assert found.weights.by_group() == {"LM0": [1.0], "TM0": [2.0, 3.0]}
    assert found.warnings == ("the weights have no names: they are those of LM0, TM0_0, TM0_1, in this order",)
    found = match(read_weights(written(tmp_path, "F0 1\nF2 3\nF1 2\nWT_a 4")), THREE, sparse_names=["WT_a"])
    assert (found.weights.dense.tolist(), dict(found.weights.sparse)) == ([1.0, 2.0, 3.0], {"WT_a": 4.0})
    more = match(
        read_weights(written(tmp_path, "1 2 3")), FeatureNames((*THREE.groups, ("lm", 1))), default={"lm": 0.0}
    )
    assert more.weights.dense.tolist() == [1.0, 2.0, 3.0, 0.0]
    assert match(
        read_weights(written(tmp_path, "1 2 3 4")), FeatureNames((*THREE.groups, ("lm", 1))), default={"lm": 0.0}
    ).weights.dense[3]
    with pytest.raises(UserError, match=r"w: 4 weights without names; expected 3, one for each of LM0, TM0_0, TM0_1"):
        match(read_weights(written(tmp_path, "1 2 3 4")), THREE, path="w")
    named = FeatureNames((("F1", 1), ("F0", 1)))  # as Marian calls them: names, not places
    assert match(read_weights(written(tmp_path, "F0 1\nF1 2")), named).weights.dense.tolist() == [2.0, 1.0]
    with pytest.raises(UserError, match="no weight for the feature LM0"):  # sparse features may be called so
        match(Weights.from_groups({"TM0": [1.0, 2.0], "F0": [3.0]}), THREE, sparse_names=["F0"])


@pytest.mark.parametrize(
    ("name", "text", "beside"),
    [
        ("run3.dense", "LM0= 1\nTM0= 2\nTM0= 3\n", "run3.sparse-weights"),
        ("run3.init.opt", "1 2 3\n0 0 0\n1 1 1\n", "run3.sparse-weights"),
        ("run3.weights.txt", "1 2 3 \n", "run4.sparse-weights"),
        ("run3.mert.log", "Best point: 1 2 3  => 0.4\n", "run4.sparse-weights"),
        ("weights.txt", "1 2 3\n", "run.sparse-weights"),
        ("run.weights", "LM0= 1\nTM0= 2\nTM0= 3\n", "run.sparse-weights"),
    ],
)
def test_sparse_weights_of_moses_tuning_are_found_beside_the_dense_ones(tmp_path, name, text, beside):
    written(tmp_path, "WT_other 9\n", "run2.sparse-weights")
    assert not read_weights(written(tmp_path, text, name)).sparse
    written(tmp_path, "WT_a~b 0.25\n", beside)
    found = match(read_weights(tmp_path / name), THREE, sparse_names=["WT_a~b"]).weights
    assert (found.dense.tolist(), dict(found.sparse)) == ([1.0, 2.0, 3.0], {"WT_a~b": 0.25})


def test_a_travatar_ini_keeps_its_other_lines(tmp_path):
    ini = written(tmp_path, "[tm_file]\nrules\n\n[weight_vals]\nold=1\nlm=2\n\n[search]\ncp\n", "travatar.ini")
    assert kind_of_name(tmp_path / "new.ini", ini) == "travatar-ini"
    write_weights(tmp_path / "new.ini", Weights.from_groups({"lm": [0.5]}, {"s_a": -1.0}), template=ini, comment=["c"])
    assert (tmp_path / "new.ini").read_text() == (
        "# c\n[tm_file]\nrules\n\n[weight_vals]\nlm=0.5\ns_a=-1.0\n\n[search]\ncp\n"
    )
    written(tmp_path, "[weight]\nlm= 1\n", "m.ini")
    with pytest.raises(UserError, match=r"m\.ini: no travatar\.ini; expected sections"):
        write_weights(
            tmp_path / "w", Weights.from_groups({"lm": [0.5]}), kind="travatar-ini", template=tmp_path / "m.ini"
        )


def test_old_groups_are_cut_into_the_features_of_today():
    old = Weights.from_groups({"d": [0.1, 1, 2], "lm": [3.0, 4], "tm": [5.0, 6], "w": [-1.0]})
    names = FeatureNames(
        (
            ("LexicalReordering0", 2),
            ("Distortion0", 1),
            ("LM1", 1),
            ("LM0", 1),
            ("WordPenalty0", 1),
            ("TranslationModel0", 2),
        )
    )
    assert match(old, names).weights.dense.tolist() == [1, 2, 0.1, 4, 3, -1, 5, 6]
    same = FeatureNames((("d", 3), ("lm", 2), ("tm", 2), ("w", 1)))
    assert match(old, same).weights.dense.tolist() == old.dense.tolist()
    with pytest.raises(UserError, match="Distortion0"):
        match(old, FeatureNames((*names.groups, ("LexicalReordering1", 6))))


def test_weights_of_zero_survive(tmp_path):
    write_weights(tmp_path / "w", Weights.from_groups({"LM0": [0.0, -0.0]}))
    assert np.signbit(read_weights(tmp_path / "w").dense).tolist() == [False, True]
