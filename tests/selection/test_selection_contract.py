"""What every method of selection, aligner and symmetrisation keeps to."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pairs import made_pairs, write_bitext

from lasw.metrics import UserError, workers
from lasw.selection import (
    ALIGNERS,
    METHODS,
    SYMMETRISATIONS,
    Bitext,
    LAScorer,
    Lists,
    Material,
    collector,
    select,
    write_selection,
)
from lasw.selection.alignment import Alignment, Directions, symmetrise
from lasw.selection.alignment.aligner import Aligner
from lasw.selection.pool import OK
from lasw.selection.rankings.la_features import NAMES

PAIRS = 120
LA = LAScorer(("e1", "e2"), 8, 15)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    return write_bitext(tmp_path_factory.mktemp("pool"), list(zip(*made_pairs(1, PAIRS), strict=True)))


@pytest.fixture(scope="module")
def needs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All that any method takes, by the name of the field."""
    draw = np.random.default_rng(2)
    starts = np.arange(0, 4 * PAIRS + 1, 4)
    lists = [Lists(starts, draw.normal(size=(4 * PAIRS, 3)), draw.random(4 * PAIRS)) for _ in range(2)]
    trusted = write_bitext(tmp_path_factory.mktemp("trusted"), list(zip(*made_pairs(3, 40), strict=True)))
    test = tuple(source for source, _, _ in made_pairs(2, 5))
    return {"seed": 3, "test": test, "trusted": trusted, "lists": lists[0], "test_lists": lists[1]}


@pytest.mark.parametrize("name", list(METHODS))
def test_methods(pool: Bitext, needs: dict[str, Any], name: str) -> None:
    kind = METHODS.find(name)
    assert kind.meaning
    assert "\n" not in kind.meaning
    fields = {field.name: field for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}
    assert set(fields) == set(kind.takes())
    required = {key for key, field in fields.items() if field.default is field.default_factory is dataclasses.MISSING}
    assert required <= set(needs) - {"seed"}
    if required:
        with pytest.raises(TypeError, match="missing"):
            kind()
    given = {key: needs[key] for key in fields if key in needs}

    def scorer() -> Any:
        return kind(**given).scorer(Material(pool, LA, lambda scorer: collector(pool, scorer), 300))

    first = scorer()
    (block,) = pool.blocks()
    scored = first.score(block)
    assert scored.features.shape == (PAIRS, len(first.feature_names))
    assert np.isfinite(scored.score).all()
    # The same to the bit made anew, in another process, and whatever stands beside a pair.
    sent = pickle.loads(pickle.dumps(scorer()))
    for parts in ([block], [block[:1], block[1:77], block[77:]]):
        score = np.concatenate([sent.score(part).score for part in parts])
        rows = scored.verdicts == OK
        np.testing.assert_array_equal(score[rows], scored.score[rows])
    with workers(2) as threads:
        whole = collector(pool, first)(150, None).ranked()
        pieces = collector(pool, sent, threads, pairs=33)(150, None).ranked()
    assert whole is not None
    assert pieces is not None
    assert whole.line.tolist() == pieces.line.tolist()
    assert (np.diff(whole.score) <= 0).all()


def test_a_selection_in_one_call(pool: Bitext, needs: dict[str, Any], tmp_path: Path) -> None:
    selection = select(pool, words=100)
    assert 100 <= selection.words < 120
    assert selection.feature_names == NAMES
    assert selection.profile.pairs == PAIRS
    assert [path.rpartition(".")[2] for path in write_selection(str(tmp_path / "dev"), selection, ("de", "en"))] == [
        *("de", "en", "alignment", "lines", "scores", "tsv")
    ]
    assert (tmp_path / "dev.de").read_text().splitlines() == selection.chosen.source.texts()
    similar = select(pool, METHODS.find("edit")(needs["test"]), words=100, la=LA, jobs=2)
    assert similar.chosen.line.tolist() != selection.chosen.line.tolist()
    assert not similar.reasons  # what LA selection is compared with takes similar pairs
    with pytest.raises(UserError, match="unknown method 'las'; expected la, svm"):
        select(pool, "las")


@pytest.mark.parametrize("name", list(ALIGNERS))
def test_aligners(name: str) -> None:
    kind = ALIGNERS.find(name)
    assert issubclass(kind, Aligner)
    usual = kind()  # type: ignore[call-arg]
    assert usual.iterations >= 1
    assert kind(iterations=7, seed=5) == dataclasses.replace(usual, iterations=7, seed=5)


# Four words a side; the directions share the point 1-3.
FORWARD, BACKWARD = [[1, 0], [1, 3], [2, 2]], [[1, 3], [2, 3], [3, 0]]
MERGED = {
    "intersection": [[1, 3]],
    "union": [[1, 0], [1, 3], [2, 2], [2, 3], [3, 0]],
    "grow": [[1, 3], [2, 2], [2, 3]],  # 2-3 lies below 1-3, and 2-2 beside it
    "grow-diag": [[1, 3], [2, 2]],  # 2-2 comes first, and then 2-3 has neither row nor column to itself
    "grow-diag-final": [[1, 0], [1, 3], [2, 2], [3, 0]],  # 1-0 has its column to itself
    "grow-diag-final-and": [[1, 3], [2, 2], [3, 0]],  # only 3-0 has both
    "och": [[1, 3], [2, 2], [2, 3], [3, 0]],
    "forward": FORWARD,
    "backward": BACKWARD,
}


@pytest.mark.parametrize("name", list(SYMMETRISATIONS))
def test_symmetrisations(name: str) -> None:
    pytest.importorskip("thot", reason="sil-thot is not installed")
    directions = [Alignment.from_pairs([np.array(points), np.empty((0, 2), int)]) for points in (FORWARD, BACKWARD)]
    sizes = np.array([4, 1])
    both = Directions(*directions, sizes, sizes, np.empty(0, dtype=np.int64), (Path(), Path()))
    merged = symmetrise(both, name)
    assert [points.tolist() for points in merged] == [MERGED[name], []]
