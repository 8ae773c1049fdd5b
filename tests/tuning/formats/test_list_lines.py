"""Lists and numbers as text: against Python's own repr, and against lines put together from strings."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace

import numpy as np
import pytest
from build import everything
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import Vocabulary
from lasw.tuning import nbest_text, read_nbest
from lasw.tuning.formats import packed_lists
from lasw.tuning.formats.nbest.decimals import LONGEST, write_number, write_whole


def number(value: float) -> str:
    out = np.full(LONGEST + 8, 35, dtype=np.uint8)
    end = write_number(np.float64(value).view(np.uint64), out, 3)
    assert end - 3 <= LONGEST
    return out[3:end].tobytes().decode()


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=1000, deadline=None)
def test_any_number(value):
    assert number(value) == repr(value)


def test_numbers_at_the_edges():
    """Powers of two, whose lower neighbours are nearer, powers of ten, and what is next to them."""
    edges = [2.0**k for k in range(-1074, 1024)] + [float(f"1e{k}") for k in range(-323, 309)]
    edges += [np.nextafter(value, to) for value in edges for to in (0.0, np.inf)]
    edges += [0.0, 5e-324, 9007199254740993.0, 9999999999999998.0, 0.0001, 0.00009999999999999999, 123.0]
    for value in map(float, edges):
        if np.isfinite(value):
            assert number(value) == repr(value)
            assert number(-value) == repr(-value)


def test_numbers_of_all_lengths():
    rng = random.Random(3)
    for _ in range(10_000):
        value = float(f"{rng.randrange(10 ** rng.randint(1, 18))}e{rng.randint(-330, 290)}")
        assert number(value) == repr(value)


def test_whole_numbers():
    out = np.zeros(20, dtype=np.uint8)
    for value in (0, 7, 10, 99, 100, 2**31 - 1):
        assert out[: write_whole(value, out, 0)].tobytes().decode() == str(value)


def line(nbest, k: int) -> str:
    words = "".join(word + " " for word in nbest.hypotheses.tokens(k))
    features = []
    for name, place in nbest.names.slices.items():
        features += [f"{name}=", *map(repr, nbest.dense[k, place].tolist())]
    if nbest.sparse is not None:
        row = nbest.sparse[[k]].tocoo()
        found = zip([nbest.sparse_names[j] for j in row.coords[1].tolist()], row.data.tolist(), strict=True)
        features += [f"{name}= {value!r}" for name, value in sorted(found)]
    return f"{nbest.owner[k]} ||| {words} ||| {' '.join(features)} ||| {float(nbest.score[k])!r}\n"


def some_list(tmp_path, sentences: int, *, sparse: bool):
    """Empty hypotheses among them, words beyond ASCII, sparse names that are met in another order than their own."""
    rng = random.Random(8)
    with open(tmp_path / "list", "w", encoding="utf-8") as stream:
        for k in range(sentences):
            words = " ".join(rng.choice(["ein", "zwei", "ü", "日本", "="]) for _ in range(rng.randrange(5)))
            values = [repr(rng.gauss(0, 1) * 10 ** rng.randint(-30, 30)) for _ in range(4)]
            names = rng.sample(["Z_b", "X_ö", "X_a", "Y"], rng.randrange(5)) if sparse else []
            named = "".join(f" {name}= {rng.choice(['1', '-0.25', '1e-07'])}" for name in names)
            stream.write(f"{k} ||| {words} ||| LM0= {values[0]} TM0= {values[1]} {values[2]}{named} ||| {values[3]}\n")
    return read_nbest(tmp_path / "list", Vocabulary())


def test_lines_of_a_dense_list_in_several_steps(tmp_path):
    nbest = some_list(tmp_path, 5000, sparse=False)
    parts = list(nbest_text(nbest))
    assert len(parts) == 2
    assert "".join(parts).splitlines(keepends=True) == [line(nbest, k) for k in range(len(nbest))]


def test_lines_of_a_sparse_list(tmp_path):
    nbest = some_list(tmp_path, 300, sparse=True)
    assert len(nbest.sparse_names) == 4
    assert "".join(nbest_text(nbest)) == "".join(line(nbest, k) for k in range(len(nbest)))


def test_lines_of_rows_in_another_order(tmp_path):
    """What was picked from a list is no block of memory of its own."""
    nbest = some_list(tmp_path, 40, sparse=False)
    order = np.arange(39, -1, -2)
    picked = replace(
        nbest, owner=nbest.owner[order], hypotheses=nbest.hypotheses.take(order), dense=nbest.dense[::-1][::2],
        score=nbest.score[order], sparse=None,
    )  # fmt: skip
    assert "".join(nbest_text(picked)) == "".join(line(nbest, k) for k in order.tolist())


def test_no_lines(tmp_path):
    nbest = some_list(tmp_path, 3, sparse=True)
    none = np.zeros(0, dtype=np.int64)
    empty = replace(
        nbest, owner=nbest.owner[none], hypotheses=nbest.hypotheses.take(none), dense=nbest.dense[none],
        score=nbest.score[none], sparse=nbest.sparse[none],
    )  # fmt: skip
    assert list(nbest_text(empty)) == []


def unpacked(member: bytes) -> str:
    return gzip.decompress(member).decode()


def test_packed_lists_are_a_file_for_each_sentence(tmp_path):
    """Many sentences of few candidates, and few of more than fit one step."""
    made = some_list(tmp_path, 9000, sparse=False)
    for size in (1, 7, 4000):
        nbest = replace(made, owner=(np.arange(9000) // size * 3).astype(np.int32))
        members = list(packed_lists(nbest))
        assert len(members) == -(-9000 // size)
        for k in (0, 1, len(members) - 1):
            rows = range(k * size, min((k + 1) * size, 9000))
            assert unpacked(members[k]) == "".join(line(nbest, row) for row in rows)
        assert unpacked(b"".join(members)) == "".join(nbest_text(nbest))
        (tmp_path / "packed.gz").write_bytes(b"".join(members))
        assert everything(read_nbest(tmp_path / "packed.gz", Vocabulary())) == everything(nbest)


def test_packed_lists_of_some_sentences_are_those_of_all(tmp_path):
    nbest = some_list(tmp_path, 200, sparse=True)
    nbest = replace(nbest, owner=(np.arange(200) // 10).astype(np.int32))
    whole = list(packed_lists(nbest))
    some = nbest.take(np.flatnonzero(np.isin(nbest.owner, [3, 4, 17])))
    assert list(packed_lists(some)) == [whole[3], whole[4], whole[17]]


def test_packed_lists_are_in_the_order_of_the_sentences(tmp_path):
    nbest = some_list(tmp_path, 4, sparse=False)
    nbest = replace(nbest, owner=np.array([5, 2, 5, 2], dtype=np.int32))
    texts = [unpacked(member) for member in packed_lists(nbest)]
    assert texts == [line(nbest, 1) + line(nbest, 3), line(nbest, 0) + line(nbest, 2)]


def test_packed_lists_refuse_what_lines_cannot_hold(tmp_path):
    nbest = some_list(tmp_path, 4, sparse=False)
    score = nbest.score.copy()
    score[2] = np.inf
    with pytest.raises(ValueError, match="finite"):
        list(packed_lists(replace(nbest, score=score)))
