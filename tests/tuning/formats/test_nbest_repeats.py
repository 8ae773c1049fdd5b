"""Lines that came before are skipped, and nothing else changes."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from lasw.metrics import References, UserError, Vocabulary
from lasw.tuning import Pool, read_pool, stream_nbest
from lasw.tuning.formats.nbest import repeats as nbest_repeats
from lasw.tuning.formats.nbest.repeats import RepeatedLines

SENTENCES = 6


def references() -> References:
    return References.from_lines([f"the house number {k} is red" for k in range(SENTENCES)])


def write_lists(folder: Path, *, layout: str, lists: int = 4, seed: int = 3) -> list[Path]:
    """Lists that share most of their candidates, with totals of their own."""
    draw = random.Random(seed)
    words = ["the", "house", "red", "is", "number", "blau", "x" * 30]
    candidates = [
        (s, " ".join(draw.choices(words, k=draw.randint(0, 9))), draw.randint(-3, 3) / 2, draw.randint(-9, 0))
        for s in range(SENTENCES)
        for _ in range(12)
    ]
    paths = []
    for number in range(lists):
        lines = []
        for s, text, lm, tm in candidates:
            if draw.random() < 0.7:
                lines.append(layout.format(s=s, text=text, lm=lm, tm=tm, total=draw.random()))
        path = folder / f"list{number}"
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        paths.append(path)
    return paths


def pool_without_skipping(paths: list[Path]) -> Pool:
    common = references()
    pool, names = Pool(common), Vocabulary()
    for path in paths:
        for block in stream_nbest(path, common.vocabulary, sparse_names=names):
            pool.add(block)
    return pool


@pytest.mark.parametrize(
    "layout",
    [
        "{s} ||| {text} ||| LM0= {lm} TM0= {tm} 1 ||| {total}",
        "{s} ||| {text} ||| LM0= {lm} TM0= {tm} 1 WT_{text}~a= 1 ||| {total}".replace("WT_{text}", "WT_{tm}"),
        "{s} ||| {text} ||| {lm} {tm} ||| {total}",
        "{s} ||| {text} ||| {total} ||| lm={lm} tm={tm}",
        "{s} ||| {text} ||| LM0= {lm} TM0= {tm} 1 ||| {total} ||| 0-0 1-1",
    ],
    ids=["moses", "sparse", "nameless", "total first", "alignment behind"],
)
def test_the_pool_is_the_same(tmp_path: Path, layout: str) -> None:
    paths = write_lists(tmp_path, layout=layout)
    plain = pool_without_skipping(paths)
    pool, warnings = read_pool(paths, references())
    assert warnings == []
    assert len(pool) == len(plain) > 40
    np.testing.assert_array_equal(pool.dense, plain.dense)
    np.testing.assert_array_equal(pool.owner, plain.owner)
    assert list(pool.hypotheses) == list(plain.hypotheses)
    assert pool.sparse_names == plain.sparse_names
    if plain.sparse is not None and pool.sparse is not None:
        assert (pool.sparse != plain.sparse).nnz == 0


def test_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("0 ||| a ||| F0= 1 ||| 1\n0 ||| a ||| F0= 1 ||| 2\n1 ||| a ||| F0= 1 ||| 2\n", encoding="utf-8")
    repeats = RepeatedLines()
    for expected_rows, expected_skipped in ((2, 1), (0, 4)):
        rows = sum(len(block) for block in stream_nbest(path, Vocabulary(), repeats=repeats))
        assert (rows, repeats.skipped) == (expected_rows, expected_skipped)


def test_hypotheses_are_counted_with_those_that_are_skipped(tmp_path: Path) -> None:
    paths = write_lists(tmp_path, layout="{s} ||| {text} ||| LM0= {lm} TM0= {tm} 1 ||| {total}")
    told: list[tuple[int, int]] = []
    pool, _ = read_pool(paths, references(), progress=lambda _path, lines, new: told.append((lines, new)))
    assert [lines for lines, _ in told] == [path.read_text().count("\n") for path in paths]
    assert sum(new for _, new in told) == len(pool)


def test_a_repeated_line_is_still_checked(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("0 ||| a ||| F0= 1 ||| 1\n1 ||| a ||| F0= 1 ||| 1\n", encoding="utf-8")
    second.write_text("1 ||| a ||| F0= 1 ||| 1\n0 ||| a ||| F0= 1 ||| 1\n", encoding="utf-8")
    with pytest.raises(UserError, match=f"^{second}:2: .*0.*1"):
        read_pool([first, second], references())
    second.write_text("0 ||| a ||| F0= 1 ||| nan\n", encoding="utf-8")
    with pytest.raises(UserError, match=f"^{second}:1: .*nan"):
        read_pool([first, second], references())
    second.write_text("0 ||| a ||| F0= 1 ||| 1\n1 ||| a ||| F0= 1 ||| 1\n1 ||| b ||| F0= x ||| 1\n", encoding="utf-8")
    with pytest.raises(UserError, match=f"^{second}:3: "):
        read_pool([first, second], references())


def test_memory_has_a_bound_and_what_does_not_fit_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "list"
    count = 5000
    path.write_text("".join(f"{k} ||| a ||| F0= 1 ||| 1\n" for k in range(count)), encoding="utf-8")
    monkeypatch.setattr(nbest_repeats, "_MOST", 2500)
    repeats = RepeatedLines()
    for _ in range(2):
        rows = sum(len(block) for block in stream_nbest(path, Vocabulary(), repeats=repeats))
    capacity = len(repeats.arrays.keys) // 2
    assert capacity < count
    assert repeats.skipped == capacity
    assert rows == count - capacity
