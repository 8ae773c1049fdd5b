"""The pool scored by processes and by Dask's workers, some of which die."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from lasw.metrics import UserError
from lasw.selection import (
    Bitext,
    Diversity,
    LAScorer,
    Material,
    Selection,
    ShardedBitext,
    Workers,
    counted,
    dask,
    distributed_collector,
    method,
    pool_collector,
    processes,
    read_shards,
    select,
)
from lasw.selection.choice.distributed import ATTEMPTS, each_once
from lasw.selection.choice.shards import parts_of
from lasw.selection.features.la_features import Scored

PAIRS = 2400


def lines(seed: int, n: int = PAIRS) -> list[tuple[str, str, str]]:
    """Made pairs with alignments, many with the same score."""
    draw = random.Random(seed)
    out = []
    for _ in range(n):
        source, target = draw.randint(8, 16), draw.randint(8, 16)
        words = [
            " ".join(f"{side}{draw.randint(0, 60)}" for _ in range(size))
            for side, size in (("f", source), ("e", target))
        ]
        points = sorted({(draw.randrange(source), draw.randrange(target)) for _ in range(draw.randint(6, 14))})
        out.append((*words, " ".join(f"{i}-{j}" for i, j in points)))
    return out


def write(folder: Path, pairs: list[tuple[str, str, str]], name: str = "pool") -> tuple[str, str, str]:
    """The three files of a pool."""
    paths = tuple(str(folder / f"{name}.{end}") for end in ("de", "en", "align"))
    for path, column in zip(paths, zip(*pairs, strict=True), strict=True):
        Path(path).write_text("".join(line + "\n" for line in column))
    return paths  # type: ignore[return-value]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    return Bitext(*write(tmp_path_factory.mktemp("pool"), lines(1)))


def summary(selection: Selection) -> tuple[Any, ...]:
    """All that a selection says."""
    chosen = selection.chosen
    assert chosen is not None
    return (
        chosen.line.tolist(),
        chosen.score.tolist(),
        chosen.source.texts(),
        chosen.target.texts(),
        chosen.features.tolist(),
        selection.words,
        selection.rejections,
        selection.reached,
        vars(selection.profile),
    )


def chosen_by(collector: Any) -> tuple[Any, ...]:
    # A reach of 1 makes the choice read the pool again.
    return summary(select(collector, 900, Diversity(), reach=1))


SCORER = LAScorer(("e1", "e2"))


@pytest.fixture(scope="module")
def expected(pool: Bitext) -> tuple[Any, ...]:
    return chosen_by(pool_collector(pool, SCORER))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_parts_in_any_number_of_threads(pool: Bitext, expected: tuple[Any, ...], n: int) -> None:
    workers = Workers(lambda: ThreadPoolExecutor(n), 2 * n)
    assert chosen_by(distributed_collector(pool, SCORER, workers, pairs=111)) == expected


def test_processes(pool: Bitext, expected: tuple[Any, ...]) -> None:
    with processes(2) as workers:
        assert chosen_by(distributed_collector(pool, SCORER, workers, pairs=500)) == expected


def kill_once(part: int, flag: str) -> int:
    """Its process dies, the first time."""
    if part == 2 and not os.path.exists(flag):
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    done: list[int] = []
    with processes(2) as workers:
        each_once(workers, kill_once, iter(range(6)), lambda: (str(tmp_path / "killed"),), done.append)
    assert (tmp_path / "killed").exists()
    assert sorted(done) == list(range(6))


def test_shards_in_files(tmp_path: Path, expected: tuple[Any, ...]) -> None:
    pairs, table = lines(1), []
    for k, (start, end) in enumerate(((0, 700), (700, 701), (701, PAIRS))):
        table.append("\t".join(os.path.basename(path) for path in write(tmp_path, pairs[start:end], f"part{k}")))
    (tmp_path / "shards").write_text("\n".join(table) + "\n")
    sharded = read_shards(str(tmp_path / "shards"))
    workers = Workers(lambda: ThreadPoolExecutor(2), 2)
    assert counted(sharded, workers).counts == (700, 1, PAIRS - 701)
    assert chosen_by(distributed_collector(counted(sharded, workers), SCORER, workers)) == expected
    assert chosen_by(distributed_collector(sharded, SCORER, workers)) == expected
    assert chosen_by(pool_collector(sharded, SCORER)) == expected


def test_faults_in_shards_are_named_by_their_own_file(tmp_path: Path) -> None:
    pairs = lines(1, 30)
    faulty = [*pairs[:4], (pairs[4][0], "", ""), *pairs[5:]]
    shards = ShardedBitext.of([Bitext(*write(tmp_path, part, name)) for part, name in ((pairs, "a"), (faulty, "b"))])
    with pytest.raises(UserError) as error:
        distributed_collector(shards, SCORER, Workers(lambda: ThreadPoolExecutor(2), 4))(100, None)
    assert str(error.value).startswith(f"{tmp_path / 'b.en'}:5: the target side is empty")


@pytest.mark.parametrize(
    ("table", "message"),
    [("", "no shard"), ("a\tb\tc\td\n", "4 columns"), ("a\n", "1 columns"), ("none.de\tnone.en\n", "no such file")],
)
def test_faulty_tables_of_shards(tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "shards").write_text(table)
    with pytest.raises(UserError, match=message):
        read_shards(str(tmp_path / "shards"))


def test_parts_hold_every_pair_once(pool: Bitext) -> None:
    numbers = [
        block.first_line + k for part in parts_of(pool, 77) for block in part.blocks() for k in range(len(block))
    ]
    assert numbers == list(range(1, PAIRS + 1))


class Unreliable(Executor):
    """Breaks with every third call."""

    calls = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        Unreliable.calls += 1
        future: Future[Any] = Future()
        if Unreliable.calls % 3 == 0:
            future.set_exception(BrokenProcessPool("a process died"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_what_breaks_is_done_again_and_counted_once(pool: Bitext, expected: tuple[Any, ...]) -> None:
    started = []

    def start() -> Executor:
        started.append(1)
        return Unreliable()

    assert chosen_by(distributed_collector(pool, SCORER, Workers(start, 3), pairs=200)) == expected
    assert len(started) > 2


def fail(part: int) -> None:
    raise OSError(f"part {part}")


def test_what_always_fails_is_given_up() -> None:
    calls = []

    def work(part: int) -> None:
        calls.append(part)
        fail(part)

    with pytest.raises(OSError, match="part 0"):
        each_once(Workers(lambda: ThreadPoolExecutor(1), 1), work, iter([0, 1]), tuple, lambda result: None)
    assert calls == [0] * ATTEMPTS


def test_of_several_mistakes_the_first_is_reported() -> None:
    second = threading.Event()

    def work(part: int) -> None:
        if part == 3:
            second.set()
        elif part == 1:
            second.wait(10)
        if part in (1, 3):
            raise UserError(f"mistake {part}")

    with pytest.raises(UserError, match="mistake 1"):
        each_once(Workers(lambda: ThreadPoolExecutor(4), 4), work, iter(range(100)), tuple, lambda result: None)


class Slow(LAScorer):
    """Takes its time, so that a worker dies at work."""

    def score(self, block: Any) -> Scored:
        time.sleep(0.05)
        return super().score(block)


SLOW = Slow(("e1", "e2"))


def test_two_workers_of_dask_die(pool: Bitext) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        dask(cluster.scheduler_address) as workers,
    ):
        killed: list[int] = []
        draw = random.Random(7)
        moments = draw.sample(range(1, 9), 2)  # of the twelve parts

        def watch(pairs: int) -> None:
            moments[:] = [moment - 1 for moment in moments]
            if 0 in moments:
                alive = [worker.process.pid for worker in cluster.workers.values() if worker.process is not None]
                victim = draw.choice([pid for pid in alive if pid is not None and pid not in killed])
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

        found = summary(select(distributed_collector(pool, SLOW, workers, pairs=200, watch=watch), 900))
        assert len(killed) == 2
        assert found == summary(select(pool_collector(pool, SCORER), 900))


@pytest.mark.parametrize("address", ["nowhere", "http://nowhere:1", "nowhere:x"])
def test_no_dask_scheduler(address: str) -> None:
    distributed = pytest.importorskip("distributed")
    with pytest.MonkeyPatch.context() as patched:
        # A client that is made for such an address only to fail speaks up when it is collected.
        patched.setattr(distributed, "Client", None)
        with pytest.raises(UserError, match=rf"no Dask scheduler at {address} .*; expected HOST:PORT"), dask(address):
            pass


@pytest.mark.parametrize("name", ["random", "length", "tfidf", "edit", "TAR", "la"])
def test_methods_do_not_depend_on_the_parts(pool: Bitext, name: str) -> None:
    material = Material(
        SCORER,
        lambda: list(pool.blocks()),
        lambda scorer: pool_collector(pool, scorer),
        test=tuple(line[0] for line in lines(2, 5)),
    )
    scorer = method(name).scorer(material)
    workers = Workers(lambda: ThreadPoolExecutor(2), 4)
    assert chosen_by(distributed_collector(pool, scorer, workers, pairs=97)) == chosen_by(pool_collector(pool, scorer))
