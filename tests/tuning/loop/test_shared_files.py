"""Files that several runs have in common."""

import os

import numpy as np

from lasw.tuning import FeatureNames, Weights
from lasw.tuning.loop.shared_files import SharedFiles

NAMES = FeatureNames((("LM", 1), ("TM", 2)))


def weights(*values, sparse=()):
    return Weights(NAMES, np.array(values), dict(sparse))


W = weights(0.1, 0.2, 0.3)


def test_only_what_depends_on_the_same_is_taken(tmp_path):
    shared = SharedFiles(tmp_path / "shared", ["decoder", {"source": "hash"}])
    made, wanted = tmp_path / "made.gz", tmp_path / "wanted.gz"
    assert not shared.take(wanted, W, 100)
    made.write_bytes(b"lists")
    shared.give(made, W, 100)
    shared.give(made, W, 100)  # another process was as fast
    others = [
        (SharedFiles(tmp_path / "shared", ["decoder", {"source": "other"}]), W, 100),
        (shared, W, 200),
        (shared, weights(0.1, 0.2, np.nextafter(0.3, 1)), 100),
        (shared, weights(0.1, 0.2, 0.3, sparse=[("S", 1.0)]), 100),
    ]
    assert not any(one.take(wanted, other, n) for one, other, n in others)
    assert not wanted.exists()
    wanted.write_bytes(b"of before")
    assert shared.take(wanted, weights(0.1, 0.2, 0.3), 100)
    assert wanted.read_bytes() == b"lists"


def test_what_was_damaged_is_not_taken(tmp_path):
    shared = SharedFiles(tmp_path / "shared", "decoder")
    made, wanted = tmp_path / "made.gz", tmp_path / "wanted.gz"
    made.write_bytes(b"lists")
    shared.give(made, W)
    made.write_bytes(b"lisps")  # the same file by another name
    assert not shared.take(wanted, W)
    made.unlink()
    made.write_bytes(b"lists")
    shared.give(made, W)
    assert shared.take(wanted, W)


def test_where_files_cannot_be_linked_nothing_is_shared(tmp_path, monkeypatch):
    def refused(*_):
        raise OSError

    monkeypatch.setattr(os, "link", refused)
    shared = SharedFiles(tmp_path / "shared", "decoder")
    (tmp_path / "made.gz").write_bytes(b"lists")
    shared.give(tmp_path / "made.gz", W)
    assert not shared.take(tmp_path / "wanted.gz", W)
