"""Word alignment: symmetrisation against slow definitions, models on text whose alignment is known, file formats."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from lasw.metrics import UserError, tokens
from lasw.selection import ALIGNERS, SYMMETRISATIONS, write_giza, write_pharaoh
from lasw.selection.alignment import Directions, align_directions, alignment_blocks, symmetrise, transposed
from lasw.selection.alignment.pharaoh import Alignment, read_pharaoh

pytest.importorskip("thot", reason="sil-thot is not installed")

Points = set[tuple[int, int]]
NEXT = [(-1, 0), (0, -1), (1, 0), (0, 1)]
DIAGONAL = [(-1, -1), (-1, 1), (1, -1), (1, 1)]


def grown(forward: Points, backward: Points, steps: list[tuple[int, int]]) -> Points:
    """Points of the union beside an aligned point with a free row or column are added, row by row, until none is."""
    points = forward & backward
    again = True
    while again:
        again = False
        for i, j in sorted(forward | backward):
            free = all(a != i for a, _ in points) or all(b != j for _, b in points)
            if (i, j) not in points and free and any((i + a, j + b) in points for a, b in steps):
                points.add((i, j))
                again = True
    return points


def finished(points: Points, forward: Points, backward: Points, *, both: bool) -> Points:
    """Points of the two directions whose row or column (both: and column) is free."""
    points = set(points)
    for direction in (forward, backward):
        for i, j in sorted(direction):
            free = [all(a != i for a, _ in points), all(b != j for _, b in points)]
            if all(free) if both else any(free):
                points.add((i, j))
    return points


def slow(forward: Points, backward: Points, heuristic: str) -> Points:
    around = NEXT + DIAGONAL
    if heuristic == "union":
        return forward | backward
    if heuristic == "intersection":
        return forward & backward
    if heuristic == "grow":
        return grown(forward, backward, NEXT)
    if heuristic == "grow-diag":
        return grown(forward, backward, around)
    if heuristic == "grow-diag-final":
        return finished(grown(forward, backward, around), forward, backward, both=False)
    if heuristic == "grow-diag-final-and":
        return finished(grown(forward, backward, around), forward, backward, both=True)
    return forward if heuristic == "forward" else backward


def alignment(pairs: list[Points]) -> Alignment:
    return Alignment.from_pairs([np.array(sorted(points), dtype=np.int32).reshape(-1, 2) for points in pairs])


@pytest.mark.parametrize("heuristic", [name for name in SYMMETRISATIONS if name != "och"])
def test_symmetrisations_are_what_their_papers_say(heuristic: str) -> None:
    draw = random.Random(3)
    sizes = [(draw.randint(1, 7), draw.randint(1, 7)) for _ in range(120)]
    forward = [{(draw.randrange(s), j) for j in range(t) if draw.random() < 0.8} for s, t in sizes]
    backward = [{(i, draw.randrange(t)) for i in range(s) if draw.random() < 0.8} for s, t in sizes]
    lengths = np.array(sizes, dtype=np.int64)
    none = np.empty(0, dtype=np.int64)
    given = Directions(alignment(forward), alignment(backward), lengths[:, 0], lengths[:, 1], none, (Path(), Path()))
    found = [{(i, j) for i, j in points.tolist()} for points in symmetrise(given, heuristic)]
    assert found == [slow(f, b, heuristic) for f, b in zip(forward, backward, strict=True)]


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    empty = alignment([])
    none = np.empty(0, dtype=np.int64)
    with pytest.raises(UserError, match="unknown symmetrisation 'gdf'"):
        symmetrise(Directions(empty, empty, none, none, none, (tmp_path, tmp_path)), "gdf")
    with pytest.raises(UserError, match="unknown model 'ibm9'"):
        align_directions(["a"], ["b"], tmp_path, model="ibm9")
    with pytest.raises(ValueError, match="1 source lines for 2 target lines"):
        align_directions(["a"], ["b", "c"], tmp_path)


def test_transposed_is_sorted() -> None:
    given = alignment([{(0, 2), (1, 0), (2, 0)}, set(), {(1, 1)}])
    assert [points.tolist() for points in transposed(given)] == [[[0, 1], [0, 2], [2, 0]], [], [[1, 1]]]


def parallel(pairs: int, seed: int) -> tuple[list[str], list[str]]:
    """Sentences word for word translated: target word k translates source word k."""
    draw = random.Random(seed)
    source = [draw.sample(range(25), draw.randint(3, 9)) for _ in range(pairs)]
    return [" ".join(f"s{w}" for w in line) for line in source], [" ".join(f"t{w}" for w in line) for line in source]


@pytest.mark.parametrize("model", list(ALIGNERS))
def test_models_find_a_word_for_word_translation(tmp_path: Path, model: str) -> None:
    source, target = parallel(200, 1)
    found = symmetrise(align_directions(source, target, tmp_path, model=model))
    right = [[[k, k] for k in range(len(line.split()))] for line in source]
    same = sum(points.tolist() == expected for points, expected in zip(found, right, strict=True))
    assert same >= 180, f"{same} of 200 sentence pairs"


@pytest.mark.parametrize("model", ["fast_align", "hmm", "eflomal"])
def test_same_text_same_bytes(tmp_path: Path, model: str) -> None:
    source, target = parallel(300, 2)
    target = [" ".join(reversed(line.split())) if k % 3 else line for k, line in enumerate(target)]
    written = []
    for jobs in (1, 2):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        directions = align_directions(source, target, folder, model=model, jobs=jobs)
        write_pharaoh(folder / "out", [symmetrise(directions)])
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]


def test_empty_and_long_sides_are_not_aligned(tmp_path: Path) -> None:
    source, target = parallel(60, 4)
    source[3], target[10], source[20] = "", " \t ", "s1 " * 2000
    found = align_directions(source, target, tmp_path)
    assert found.unaligned.tolist() == [3, 10, 20]
    assert all(len(points) == 0 for k, points in enumerate(symmetrise(found)) if k in (3, 10, 20))
    assert found.source.tolist() == [len(line.split()) for line in source]
    with pytest.raises(UserError, match="no sentence pair to align"):
        align_directions(["", "a"], ["b", ""], tmp_path)


def test_tokens_are_split_on_space_and_tab_alone() -> None:
    assert tokens(" a\u00a0b \t c\u2028d ") == ["a\u00a0b", "c\u2028d"]


def test_a_failing_aligner_is_blamed(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the aligner ended with code 1; its last lines: .*could not be written"):
        align_directions(["a b"], ["c d"], tmp_path / "no" / "folder")


WHOLE = "NULL ({ 3 }) das ({ 1 }) NULL ({ }) haus ({ 2 4 }) "


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" })", " )"), (" })", " }"), (" })", "})"), (" })", ""), (" ({", " {"), (" ({", " ("), (" ({", "({"),
        (" ({", ""), ("1", "1x"), ("1", "1" * 5000), ("das", "da s"), ("NULL", "NUL"), ("das ", ""),
    ],
)  # fmt: skip
def test_a_broken_mark_of_giza_is_told(tmp_path: Path, before: str, after: str) -> None:
    """It would give the points to another word."""
    path = tmp_path / "giza"
    for name, text in (("source", "das NULL haus\n" * 2), ("target", "a b c d\n" * 2)):
        (tmp_path / name).write_text(text)
    path.write_text(f"# 1\na b c d\n{WHOLE}\n" * 2)
    assert [lines[0].texts() for lines, _ in alignment_blocks(str(path))] == [["0-0 2-1 2-3"] * 2]
    for place in (k for k in range(len(WHOLE)) if WHOLE.startswith(before, k)):
        broken = WHOLE[:place] + after + WHOLE[place + len(before) :]
        if before == "NULL" and place:
            continue
        path.write_text(f"# 1\na b c d\n{WHOLE}\n# 1\na b c d\n{broken}\n")
        found = [text for lines, _ in alignment_blocks(str(path)) for text in lines[0].texts()]
        assert found[1] == broken, broken
    path.write_text(f"# 1\na b c d\n{WHOLE.replace('haus', '({')}\n")  # a word like any other
    assert [lines[0].texts() for lines, _ in alignment_blocks(str(path))] == [["0-0 2-1 2-3"]]


def test_pharaoh_and_giza(tmp_path: Path) -> None:
    given = alignment([{(0, 0), (1, 2)}, set(), {(0, 1), (0, 0)}])
    path = tmp_path / "a"
    write_pharaoh(path, [given])
    assert path.read_text(encoding="utf-8") == "0-0 1-2\n\n0-0 0-1\n"
    again = read_pharaoh(path)
    assert again.points.tolist() == given.points.tolist()
    assert again.offsets.tolist() == given.offsets.tolist()
    path.write_text(" \n1-1  0-0\t1-1 \n\n", encoding="utf-8")
    assert [points.tolist() for points in read_pharaoh(path)] == [[], [[0, 0], [1, 1]], []]
    path.write_text("\n\n", encoding="utf-8")
    assert [points.tolist() for points in read_pharaoh(path)] == [[], []]
    write_giza(path, [["a", "b"], ["c"], ["d"]], [["x", "y", "z"], ["u"], ["v", "w"]], given)
    assert path.read_text(encoding="utf-8") == (
        "# 1\nx y z\nNULL ({ 2 }) a ({ 1 }) b ({ 3 })\n# 1\nv w\nNULL ({  }) d ({ 1 2 })\n"
    )
    with pytest.raises(UserError, match=r"a:1: a source token is '\(\{' or '\}\)'"):
        write_giza(path, [["({"]], [["x"]], alignment([{(0, 0)}]))


@pytest.mark.parametrize("text", ["0-0 1", "0:0", "a-b", "0--1", "0-0-0", "1-²"])
def test_what_is_no_alignment(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").write_text(f"0-0\n{text}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"a:2: .* is no word alignment; expected points like 0-0 1-2"):
        read_pharaoh(tmp_path / "a")
