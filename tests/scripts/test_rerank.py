"""`lasw rerank`: the best hypotheses, the sorted lists, ties, gaps, and blocks that cut sentences."""

import io
import sys

import numpy as np
import pytest

from lasw.metrics import UserError, Vocabulary
from lasw.metrics.text import files
from lasw.scripts.main import main
from lasw.tuning import Reranker, Weights, one_per_sentence, read_nbest, stream_nbest

LIST = """\
0 ||| ein Bus  ||| LM0= -1 TM0= -2 -3 ||| -6
0 ||| der Bus  ||| LM0= -3 TM0= -2 -0.5 ||| -5.5
0 ||| Bus  ||| LM0= -0.5 TM0= -2.5 -3 ||| -6
1 |||  ||| LM0= -1 TM0= -1 -1 ||| -3
1 ||| zwei  ||| LM0= -1 TM0= -1 -1 ||| -3
"""


def written(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


@pytest.fixture
def nbest(tmp_path):
    return written(tmp_path, "nbest", LIST)


def reranked(capsys, *words):
    code = main(["rerank", *words])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out, err


def test_one_best_line_a_sentence(tmp_path, nbest, capsys):
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 1 1\n")
    assert reranked(capsys, "--weights", weights, nbest) == ("der Bus\n\n", "")
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 1 1\nUnknownWordPenalty0= 1\n")  # which lists never print
    assert reranked(capsys, "--weights", weights, nbest) == ("der Bus\n\n", "")
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 1 0\n")  # the first and the third tie at -3
    assert reranked(capsys, "--weights", weights, nbest)[0] == "ein Bus\n\n"


def test_a_list_from_standard_input(tmp_path, capsys, monkeypatch):
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 1 1\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(LIST.encode()))))
    assert reranked(capsys, "--weights", weights)[0] == "der Bus\n\n"


def test_all_hypotheses_sorted_with_new_totals(tmp_path, nbest, capsys):
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 0.5 0\n")
    out, _ = reranked(capsys, "--weights", weights, "--nbest", nbest)
    assert out == (
        "0 ||| Bus  ||| LM0= -0.5 TM0= -2.5 -3.0 ||| -1.75\n"
        "0 ||| ein Bus  ||| LM0= -1.0 TM0= -2.0 -3.0 ||| -2.0\n"
        "0 ||| der Bus  ||| LM0= -3.0 TM0= -2.0 -0.5 ||| -4.0\n"
        "1 |||  ||| LM0= -1.0 TM0= -1.0 -1.0 ||| -1.5\n"
        "1 ||| zwei  ||| LM0= -1.0 TM0= -1.0 -1.0 ||| -1.5\n"
    )


def test_missing_sentences_give_empty_lines_and_a_warning(tmp_path, capsys):
    nbest = written(tmp_path, "n", LIST.replace("\n1 ", "\n3 "))
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 1 1\n")
    out, err = reranked(capsys, "--weights", weights, "--sentences", "6", nbest)
    assert out == "der Bus\n\n\n\n\n\n"
    assert "no hypotheses for 4 sentences (id 1, 2, 4, 5)" in err
    assert reranked(capsys, "--weights", weights, "--quiet", nbest) == ("der Bus\n\n\n\n", "")


def test_an_id_far_beyond_the_others(tmp_path, capsys):
    nbest = written(tmp_path, "n", LIST.replace("\n1 ", "\n1999999999 "))
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 1 1\n")
    assert main(["rerank", "--weights", weights, nbest]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)  # nothing of a list that fails
    assert "no hypotheses for sentences 1 to 1999999998; expected no such gap; mend the sentence ids" in err


def test_ids_in_any_order(tmp_path, capsys):
    lines = LIST.splitlines(keepends=True)
    nbest = written(tmp_path, "n", "".join([lines[4], lines[1], lines[0], lines[3], lines[2]]))
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 1 1\n")
    assert reranked(capsys, "--weights", weights, "--unsorted", nbest)[0] == "der Bus\nzwei\n"
    assert main(["rerank", "--weights", weights, nbest]) == 1
    assert "--unsorted" in capsys.readouterr().err


def test_sparse_weights_of_a_flat_file(tmp_path, capsys):
    nbest = written(
        tmp_path,
        "n",
        "0 ||| a  ||| LM0= -1 WT_a~b= 1 ||| -1\n0 ||| b  ||| LM0= -2 ||| -2\n0 ||| c  ||| LM0= -3 WT_c~c= 1 ||| -2\n",
    )
    weights = written(tmp_path, "w", "LM0 1\nWT_c~c 5\nWT_z~z 1\n")
    out, err = reranked(capsys, "--weights", weights, nbest)
    assert out == "c\n"
    assert "WT_z~z" in err
    assert "WT_c~c" not in err


def test_weight_0_equals_absence_and_features_from_files(tmp_path, nbest, capsys):
    numbers = written(tmp_path, "lm", "0\n0\n1e3\n0\n1\n")
    for weight, expected in (("0", "der Bus\n\n"), ("1", "Bus\nzwei\n")):
        weights = written(tmp_path, "w", f"LM0= 1\nTM0= 1 1\nlm= {weight}\n")
        assert reranked(capsys, "--weights", weights, "--feature", f"lm={numbers}", nbest)[0] == expected


@pytest.mark.parametrize(
    ("weights", "more", "words"),
    [
        ("LM0= 1\n", [], ["no weight for the feature TM0", "w:"]),
        ("LM0= 1\nTM0= 1\n", [], ["1 weights for TM0", "expected 2"]),
        ("LM0= 1\nTM0= 1 1\nx= 1\n", ["--feature", "x=SHORT"], ["2 values of the feature x", "more than 2"]),
        ("LM0= 1\nTM0= 1 1\nx= 1\n", ["--feature", "x=LONG"], ["6 values of the feature x", "expected 5"]),
        ("LM0= 1\nTM0= 1 1\nx= 1\n", ["--feature", "x=BAD"], ["a value of x is 'nan'", "BAD:2"]),
        ("LM0= 1\nTM0= 1 1\n", ["--feature", "x y=SHORT"], ["'x y' as the name", "without blanks"]),
        ("LM0= 1\nTM0= 1 1\n", ["--feature", "x|||y=SHORT"], ["'x|||y' as the name"]),
        ("LM0= 1e308\nTM0= 1e308 -1e308\n", [], ["w: a score of sentence 0 is beyond", "divide all weights"]),
        ("LM0= 1\nTM0= 1e308 -1e308\n", ["--nbest"], ["w: a score of sentence 0 is beyond"]),
        ("LM0= 1\nTM0= 1 1\n", ["--feature", "x"], ["--feature KEY=VALUE"]),
        ("LM0= 1\nTM0= 1 1\n", ["--feature", "LM0=LONG"], ["LM0 of its own"]),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path, nbest, capsys, monkeypatch, weights, more, words):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "SHORT", "1\n2\n")
    written(tmp_path, "LONG", "1\n2\n3\n4\n5\n6\n")
    written(tmp_path, "BAD", "1\nnan\n3\n4\n5\n")
    assert main(["rerank", "--weights", written(tmp_path, "w", weights), *more, nbest]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert all(word in error for word in words)


def test_the_list_given_as_weights(nbest, capsys):
    assert main(["rerank", "--weights", nbest, nbest]) == 1
    assert "as weights and as N-best list" in capsys.readouterr().err


@pytest.mark.parametrize("size", [16, 100, 1000])
def test_any_blocks_give_what_the_whole_list_gives(tmp_path, monkeypatch, size):
    rng = np.random.default_rng(size)
    lines = []
    for s in range(12):
        for _ in range(rng.integers(1, 9)):
            text = " ".join(rng.choice(["a", "b", "c"], rng.integers(0, 4)))
            sparse = "".join(f" S_{k}= 1" for k in range(s + 1) if rng.random() < 0.2)
            lines.append(f"{s} ||| {text}  ||| LM0= {rng.integers(0, 4)} TM0= {rng.integers(0, 2)} 1{sparse} ||| 0\n")
    path = written(tmp_path, "n", "".join(lines))
    sparse = {f"S_{k}": float(k % 3) for k in range(12)}
    weights = Weights.from_groups({"LM0": [1.0], "TM0": [2.0, 3.0]}, sparse)
    whole = read_nbest(path, Vocabulary())
    vector = weights.sparse_vector([whole.sparse_names[k] for k in range(len(whole.sparse_names))])
    scores = whole.model_scores(weights.dense, vector)
    expected = []
    for s in range(12):
        mine = np.flatnonzero(whole.owner == s)
        expected += mine[np.argsort(-scores[mine], kind="stable")].tolist()
    monkeypatch.setattr(files.Blocks, "__init__", _with_size(size))
    blocks = list(Reranker(weights).sort(stream_nbest(path, Vocabulary())))
    assert len(blocks) > 1 or size == 1000
    texts = [block.hypotheses.text(k) for block in blocks for k in range(len(block))]
    assert texts == [whole.hypotheses.text(k) for k in expected]
    assert np.concatenate([block.score for block in blocks]) == pytest.approx(scores[expected])
    best = [pair for block in blocks for pair in one_per_sentence(block)]
    assert [sentence for sentence, _ in best] == list(range(12))
    assert [text for _, text in best] == [
        whole.hypotheses.text(next(k for k in expected if whole.owner[k] == s)) for s in range(12)
    ]


def _with_size(size):
    made = files.Blocks.__init__

    def make(self, path, encoding="utf-8", size=size):
        made(self, path, encoding, size)

    return make


def test_weights_of_other_features_in_the_api(nbest):
    with pytest.raises(UserError, match="no weight for the feature LM0"):
        list(Reranker(Weights.from_groups({"x": [1.0]})).sort(stream_nbest(nbest, Vocabulary())))


def test_a_column_with_the_name_of_a_sparse_feature(tmp_path, capsys):
    text = "0 ||| a ||| LM0= -1 LM0_x= 2 ||| 0\n0 ||| b ||| LM0= -1 ||| 0\n"
    nbest = written(tmp_path, "n", text)
    column = written(tmp_path, "column", "1\n2\n")
    weights = written(tmp_path, "v", "LM0 1\nLM0_x 1\n")
    assert main(["rerank", "--weights", weights, "--feature", f"LM0_x={column}", nbest]) == 1
    assert "the N-best list has a feature LM0_x of its own; name the new one" in capsys.readouterr().err


@pytest.mark.parametrize("values", ["1\n2\n3\n4\n", "1\n" * 6, "1\n2\nx\n4\n5\n"])
@pytest.mark.parametrize("words", [(), ("--nbest",)])
def test_nothing_is_printed_of_a_list_that_fails_at_its_end(tmp_path, nbest, capsys, monkeypatch, values, words):
    monkeypatch.setattr(files.Blocks, "__init__", _with_size(64))  # sentence 0 would be out before the fault is met
    weights = written(tmp_path, "w", "LM0= 1\nTM0= 1 1\nx= 1\n")
    feature = written(tmp_path, "x", values)
    assert main(["rerank", "--weights", weights, "--feature", f"x={feature}", *words, nbest]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "x" in err
