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
from pairs import choice, made_pairs, write_bitext

from lasw.metrics import ATTEMPTS, UserError, Workers, each_once, workers
from lasw.selection import (
    METHODS,
    Bitext,
    Diversity,
    LAScorer,
    Material,
    Selection,
    ShardedBitext,
    choose,
    collector,
    counted,
    read_shards,
)
from lasw.selection.pool import Scored, parts_of

PAIRS = 2400


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    return write_bitext(tmp_path_factory.mktemp("pool"), list(zip(*made_pairs(1, PAIRS), strict=True)))


def summary(selection: Selection) -> tuple[Any, ...]:
    """All that a selection says."""
    chosen = selection.chosen
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


def chosen_by(collect: Any) -> tuple[Any, ...]:
    # A reach of 1 makes the choice read the pool again.
    return summary(choose(collect, 900, Diversity(), reach=1))


SCORER = LAScorer(("e1", "e2"))


@pytest.fixture(scope="module")
def expected(pool: Bitext) -> tuple[Any, ...]:
    return chosen_by(collector(pool, SCORER))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_parts_in_any_number_of_threads(pool: Bitext, expected: tuple[Any, ...], n: int) -> None:
    with workers(n) as where:
        assert chosen_by(collector(pool, SCORER, where, pairs=111)) == expected


def test_processes(pool: Bitext, expected: tuple[Any, ...]) -> None:
    with workers(2, apart=True) as where:
        assert chosen_by(collector(pool, SCORER, where, pairs=500)) == expected


def kill_once(part: int, flag: str) -> int:
    """Its process dies, the first time."""
    if part == 2 and not os.path.exists(flag):
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    done: list[int] = []
    with workers(2, apart=True) as where:
        each_once(where, kill_once, iter(range(6)), lambda: (str(tmp_path / "killed"),), done.append)
    assert (tmp_path / "killed").exists()
    assert sorted(done) == list(range(6))


def test_shards_in_files(tmp_path: Path, expected: tuple[Any, ...]) -> None:
    pairs, table = made_pairs(1, PAIRS), []
    for k, (start, end) in enumerate(((0, 700), (700, 701), (701, PAIRS))):
        write_bitext(tmp_path, list(zip(*pairs[start:end], strict=True)), f"part{k}")
        table.append(f"part{k}.de\tpart{k}.en\tpart{k}.align")
    (tmp_path / "shards").write_text("\n".join(table) + "\n")
    sharded = read_shards(str(tmp_path / "shards"))
    with workers(2) as where:
        numbered = counted(sharded, where)
        assert isinstance(numbered, ShardedBitext)
        assert numbered.counts == (700, 1, PAIRS - 701)
        assert chosen_by(collector(numbered, SCORER, where)) == expected
        assert chosen_by(collector(sharded, SCORER, where)) == expected
    assert chosen_by(collector(sharded, SCORER)) == expected


def test_faults_in_shards_are_named_by_their_own_file(tmp_path: Path) -> None:
    pairs = made_pairs(1, 30)
    faulty = [*pairs[:4], (pairs[4][0], "", ""), *pairs[5:]]
    shards = ShardedBitext.of(
        [write_bitext(tmp_path, list(zip(*part, strict=True)), name) for part, name in ((pairs, "a"), (faulty, "b"))]
    )
    with pytest.raises(UserError) as error:
        collector(shards, SCORER, Workers(lambda: ThreadPoolExecutor(2), lambda: 2))(100, None)
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
        line for part in parts_of(pool, 77) for block, _ in part.scored(SCORER) for line in block.line_numbers.tolist()
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

    assert chosen_by(collector(pool, SCORER, Workers(start, lambda: 2), pairs=200)) == expected
    assert len(started) > 2


def fail(part: int) -> None:
    raise OSError(f"part {part}")


def test_what_always_fails_is_given_up() -> None:
    calls = []

    def work(part: int) -> None:
        calls.append(part)
        fail(part)

    with pytest.raises(OSError, match="part 0"):
        each_once(Workers(lambda: ThreadPoolExecutor(1)), work, iter([0]), tuple, lambda result: None)
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
        each_once(Workers(lambda: ThreadPoolExecutor(4), lambda: 4), work, iter(range(100)), tuple, lambda result: None)


class Slow(LAScorer):
    """Takes its time, so that a worker dies at work."""

    def score(self, block: Any) -> Scored:
        time.sleep(0.05)
        return super().score(block)


SLOW = Slow(("e1", "e2"))


def test_two_workers_of_dask_die(pool: Bitext, distributed: Any) -> None:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        workers(scheduler=cluster.scheduler_address) as where,
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

        found = summary(choose(collector(pool, SLOW, where, pairs=200, watch=watch), 900))
        assert len(killed) == 2
        assert found == summary(choice(pool, SCORER, 900))


@pytest.mark.parametrize("address", ["nowhere", "http://nowhere:1", "nowhere:x"])
def test_no_dask_scheduler(address: str) -> None:
    distributed = pytest.importorskip("distributed")
    with pytest.MonkeyPatch.context() as patched:
        # A client that is made for such an address only to fail speaks up when it is collected.
        patched.setattr(distributed, "Client", None)
        with (
            pytest.raises(UserError, match=rf"no Dask scheduler at {address} .*; expected HOST:PORT"),
            workers(scheduler=address),
        ):
            pass


@pytest.mark.parametrize("name", ["random", "length", "tfidf", "edit", "TAR", "la"])
def test_methods_do_not_depend_on_the_parts(pool: Bitext, name: str) -> None:
    material = Material(pool, SCORER, lambda scorer: collector(pool, scorer))
    test = {"test": tuple(pair[0] for pair in made_pairs(2, 5))} if name in ("tfidf", "edit") else {}
    scorer = METHODS.find(name)(**test).scorer(material)
    with workers(2) as where:
        assert chosen_by(collector(pool, scorer, where, pairs=97)) == chosen_by(collector(pool, scorer))
