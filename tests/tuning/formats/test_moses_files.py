"""Moses' features and scores files: against the N-best lists they were made from, and what is refused."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from lasw.metrics import References, UserError, Vocabulary, metric, read_corpus
from lasw.tuning import Pool, Weights, is_features_file, read_nbest, write_moses_files
from lasw.tuning.formats.moses_files import read_moses_files

FEATURES = """FEATURES_TXT_BEGIN_0 0 2 3 LM0_0 T_M_0 T_M_1
-1.5 2 0 X_a=2 X_b=0
-1 1e-05 3 X_b=1
FEATURES_TXT_END_0
FEATURES_TXT_BEGIN_0 2 1 3 LM0_0 T_M_0 T_M_1
-1 0 0
FEATURES_TXT_END_0
"""
SCORES = """SCORES_TXT_BEGIN_0 0 2 9 BLEU
2 2 1 1 0 0 0 0 3
1 2 0 1 0 0 0 0 3
SCORES_TXT_END_0
SCORES_TXT_BEGIN_0 2 1 9 BLEU
1 1 0 0 0 0 0 0 1
SCORES_TXT_END_0
"""


def written(tmp_path, features=FEATURES, scores=SCORES):
    paths = tmp_path / "features.dat", tmp_path / "scores.dat"
    for path, content in zip(paths, (features, scores), strict=True):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


def binary(kind, sentence, rows, names):
    values = np.array(rows, dtype="<f4")
    head = f"{kind}_BIN_BEGIN_0 {sentence} {values.shape[0]} {values.shape[1]} {names}\n".encode()
    return head + values.tobytes() + f"{kind}_BIN_END_0\n".encode()


def as_extractor(nbest, statistics):
    """Rows in the order of Moses' extractor: a row like an earlier one (features and statistics) gives its place to the
    last row of the sentence, which is looked at next."""
    order = []
    for sentence in np.unique(nbest.owner):
        rows = np.flatnonzero(nbest.owner == sentence).tolist()
        seen, place = set(), 0
        while place < len(rows):
            key = nbest.dense[rows[place]].tobytes(), statistics[rows[place]].tobytes()
            if key in seen:
                last = rows.pop()
                if place < len(rows):
                    rows[place] = last
            else:
                seen.add(key)
                place += 1
        order.extend(rows)
    return order


@pytest.mark.parametrize("iteration", [1, 2])
def test_features_and_statistics_are_those_of_the_lists(shared_data, iteration):
    folder = shared_data / "moses" / "de-en"
    references = References((read_corpus(shared_data / "multi30k" / "dev.en.gz"),))
    nbest = read_nbest(folder / f"run{iteration}.best100.out.gz", references.vocabulary)
    bleu = metric("PGBC4")
    statistics = bleu.statistics(nbest.hypotheses, bleu.prepare(references), nbest.owner)
    found = read_moses_files(folder / f"run{iteration}.features.dat.gz", folder / f"run{iteration}.scores.dat.gz")
    order = as_extractor(nbest, statistics)
    assert found.names == nbest.names
    assert found.owner.tolist() == nbest.owner[order].tolist()
    assert found.dense.tobytes() == nbest.dense[order].tobytes()
    assert (found.statistics == statistics[order]).all()
    assert found.statistics_key == bleu.statistics_key()
    with_text, without = Pool(references), Pool.without_text()
    with_text.add(nbest)
    assert without.add(found) == len(found)
    assert (with_text.statistics(bleu) == statistics).all()
    weights = Weights.constant(found.names, 0.25)
    assert without.corpus_score(bleu, weights) == with_text.corpus_score(bleu, weights)


def test_variants_of_moses(shared_data):
    start = str(shared_data / "moses" / "variants" / "sparse")
    text = read_moses_files(f"{start}.features", f"{start}.scores")
    packed = read_moses_files(f"{start}.features.bin", f"{start}.scores.bin")
    nbest = read_nbest(f"{start}.nbest", Vocabulary())
    assert text.names == nbest.names == packed.names
    assert text.dense.tobytes() == nbest.dense.tobytes()
    assert packed.dense.tobytes() == nbest.dense.astype(np.float32).astype(np.float64).tobytes()
    assert (text.statistics == packed.statistics).all()
    assert packed.sparse is None
    for row in range(len(nbest)):
        for column in range(len(nbest.sparse_names)):
            name = nbest.sparse_names[column]
            assert text.sparse[row, text.sparse_names.add(name)] == nbest.sparse[row, column]


def test_text_and_binary(tmp_path):
    found = read_moses_files(*written(tmp_path))
    assert found.names.groups == (("LM0", 1), ("T_M", 2))
    assert found.owner.tolist() == [0, 0, 2]
    assert found.dense.tolist() == [[-1.5, 2, 0], [-1, 1e-05, 3], [-1, 0, 0]]
    assert [found.sparse_names[k] for k in range(2)] == ["X_a", "X_b"]
    assert found.sparse.toarray().tolist() == [[2, 0], [0, 1], [0, 0]]
    assert found.statistics[0].tolist() == [2, 2, 1, 1, 0, 0, 0, 0, 3]
    names = "LM0_0 T_M_0 T_M_1"
    features = binary("FEATURES", 0, [[-1.5, 2, 0]], names) + binary("FEATURES", 2, [[-1, 0, 10]], names)
    scores = binary("SCORES", 0, [[2, 2, 1, 1, 0, 0, 0, 0, 3]], "BLEU") + binary("SCORES", 2, [[0] * 9], "BLEU")
    packed = read_moses_files(*written(tmp_path, gzip.compress(features), scores))
    assert packed.dense.tolist() == [[-1.5, 2, 0], [-1, 0, 10]]
    assert packed.owner.tolist() == [0, 2]
    assert is_features_file(tmp_path / "features.dat")
    assert not is_features_file(tmp_path / "scores.dat")


def without(text, sentence):
    blocks = text.split("_END_0\n")
    return "".join(block + "_END_0\n" for block in blocks[:-1] if f"BEGIN_0 {sentence} " not in block)


@pytest.mark.parametrize(
    ("features", "scores", "message"),
    [
        (FEATURES, without(SCORES, 0), "scores.dat: sentence 0 is missing; expected as in .*features.dat"),
        (FEATURES, without(SCORES, 2), "scores.dat: sentence 2 is missing; expected as in .*features.dat"),
        (without(FEATURES, 0), SCORES, "features.dat: sentence 0 is missing; expected as in .*scores.dat"),
        (
            FEATURES,
            SCORES.replace("0 2 9", "0 1 9").replace("1 2 0 1 0 0 0 0 3\n", ""),
            "scores.dat:1: 1 candidates of",
        ),
        (FEATURES.replace("2 0 X_a", "2 X_a"), SCORES, "features.dat:2: 'X_a=2'; expected a number"),
        (FEATURES.replace("-1.5 2 0 X_a=2 X_b=0", "-1.5 2"), SCORES, "features.dat:2: 2 numbers; expected 3"),
        (FEATURES.replace("-1.5", "nan"), SCORES, "features.dat:2: a value is nan"),
        (FEATURES.replace("X_b=1", "X_b=x"), SCORES, "features.dat:3: 'X_b=x'; expected NAME=VALUE"),
        (FEATURES.replace("X_b=0", "X_a=1"), SCORES, "features.dat:2: feature X_a is there twice"),
        (FEATURES[:100], SCORES, "features.dat:1: 1 candidates? of sentence 0; expected 2|features.dat"),
        (FEATURES.replace("T_M_1", "T_M_2"), SCORES, "features.dat: feature T_M_2 out of order"),
        (FEATURES, SCORES.replace("9 BLEU", "9 TER"), "scores.dat:1: scores TER with 9 numbers; expected BLEU with 9"),
        (
            FEATURES,
            SCORES.replace("1 2 0 1", "1.5 2 0 1"),
            "scores.dat:1: BLEU statistics of sentence 0; expected whole",
        ),
        (
            FEATURES,
            SCORES.replace("1 2 0 1", "3 2 0 1"),
            "scores.dat:1: more matches than n-grams in the BLEU statistics of sentence 0",
        ),
        (FEATURES + FEATURES, SCORES, "features.dat:8: sentence 0 once more than in .*scores.dat"),
        (FEATURES, SCORES + SCORES, "scores.dat:8: sentence 0 where .*features.dat has none"),
        (FEATURES.replace("0 2 3", "0 9999999999 3"), SCORES, "features.dat:1: number of candidates 9999999999"),
        (FEATURES.replace("0 2 3", f"0 {'9' * 5000} 3"), SCORES, "features.dat:1: .* begins no sentence"),
        (SCORES, FEATURES, "features.dat: no features file of Moses"),
        (
            binary("FEATURES", 0, [[1.0, 2.0]], "A_0 B_0")[:-20],
            SCORES,
            "features.dat: sentence 0 does not end behind 1",
        ),
    ],
)
def test_refused(tmp_path, features, scores, message):
    with pytest.raises(UserError, match=message):
        read_moses_files(*written(tmp_path, features, scores))


def test_names_hold_any_blank_but_space_and_tab_in_any_encoding(tmp_path):
    features = FEATURES.replace("X_a", "X_ä\u00a0b\u3000c")
    names = read_moses_files(*written(tmp_path, features)).sparse_names
    assert [names[k] for k in range(len(names))] == ["X_ä\u00a0b\u3000c", "X_b"]
    paths = written(tmp_path, FEATURES.replace("X_a", "X_ä").encode("latin-1"), SCORES)
    assert read_moses_files(*paths, encoding="latin-1").sparse_names[0] == "X_ä"
    with pytest.raises(UserError, match=r"features\.dat:2: byte 0xe4 is no UTF-8"):
        read_moses_files(*paths)


def test_standard_input_is_refused(tmp_path):
    with pytest.raises(UserError, match="a features file from standard input; expected the name of a file"):
        read_moses_files("-", written(tmp_path)[1])


def test_a_list_as_the_extractor_writes_it(tmp_path):
    """Counted by hand: the reference of sentence 0 is "a b c d e", that of 3 "x y"."""
    (tmp_path / "list").write_text(
        "0 ||| a b c d ||| LM_x= 1.5 2 W= -4 S_a= 1 S_b= 0.000009 ||| 0\n"
        "0 ||| b a ||| LM_x= 0.1 1e-05 W= -2 ||| 0\n"
        "0 ||| a b  c d ||| LM_x= 1.5 2 W= -4 S_b= 7 ||| 0\n"  # a duplicate, whatever its sparse features
        "0 ||| a b c d ||| LM_x= 1.5 2.0000001 W= -4.5 ||| 0\n"
        "0 ||| e ||| LM_x= -0.333333333 123456789 W= 0 S_b= -2.5 S_c= 1 ||| 0\n"
        "3 ||| ||| LM_x= 0 0 W= 0 ||| 0\n"
    )
    references = References.from_lines(["a b c d e", "", "", "x y"])
    bleu, nbest = metric("BLEU"), read_nbest(tmp_path / "list", references.vocabulary, sparse_names=Vocabulary())
    statistics = bleu.statistics(nbest.hypotheses, bleu.prepare(references), nbest.owner)
    write_moses_files(tmp_path / "f", tmp_path / "s", nbest, statistics)
    assert (tmp_path / "f").read_text() == (
        "FEATURES_TXT_BEGIN_0 0 4 3 LM_x_0 LM_x_1 W_0 \n"
        "1.5 2 -4 S_a=1 \n"
        "0.1 1e-05 -2 \n"
        "-0.333333 1.23457e+08 0 S_b=-2.5 S_c=1 \n"
        "1.5 2 -4.5 \n"
        "FEATURES_TXT_END_0\n"
        "FEATURES_TXT_BEGIN_0 3 1 3 LM_x_0 LM_x_1 W_0 \n"
        "0 0 0 \n"
        "FEATURES_TXT_END_0\n"
    )
    assert (tmp_path / "s").read_text() == (
        "SCORES_TXT_BEGIN_0 0 4 9 BLEU\n"
        "4 4 3 3 2 2 1 1 5 \n"
        "2 2 0 1 0 0 0 0 5 \n"
        "1 1 0 0 0 0 0 0 5 \n"
        "4 4 3 3 2 2 1 1 5 \n"
        "SCORES_TXT_END_0\n"
        "SCORES_TXT_BEGIN_0 3 1 9 BLEU\n"
        "0 0 0 0 0 0 0 0 2 \n"
        "SCORES_TXT_END_0\n"
    )
    again = read_moses_files(tmp_path / "f", tmp_path / "s")
    assert again.dense.shape == (5, 3)


@pytest.mark.parametrize("number", [1, 2])
def test_the_files_that_moses_extractor_made(shared_data, tmp_path, number):
    folder = shared_data / "moses" / "de-en"
    references = References.read([shared_data / "multi30k" / "dev.en.gz"])
    bleu, nbest = metric("BLEU"), read_nbest(folder / f"run{number}.best100.out.gz", references.vocabulary)
    statistics = bleu.statistics(nbest.hypotheses, bleu.prepare(references), nbest.owner)
    write_moses_files(tmp_path / "features", tmp_path / "scores", nbest, statistics)
    for name in ("features", "scores"):
        theirs = gzip.decompress((folder / f"run{number}.{name}.dat.gz").read_bytes())
        assert (tmp_path / name).read_bytes() == theirs


def test_sparse_features_that_moses_extractor_wrote(shared_data, tmp_path):
    folder = shared_data / "moses" / "variants"
    nbest = read_nbest(folder / "sparse.nbest", Vocabulary(), sparse_names=Vocabulary())
    lines = (folder / "sparse.scores").read_text().split("\n")
    statistics = np.array([line.split() for line in lines if line[:1].isdigit()], dtype=int)
    write_moses_files(tmp_path / "features", tmp_path / "scores", nbest, statistics)
    for name in ("features", "scores"):
        assert (tmp_path / name).read_bytes() == (folder / f"sparse.{name}").read_bytes()
