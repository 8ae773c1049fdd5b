"""Decoding on the workers of a Dask cluster: the bytes of one process, whoever dies; what is said when it cannot be."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from moses_runs import call, files, made

from lasw.metrics import UserError, Vocabulary
from lasw.scripts.main import main
from lasw.scripts.mert_moses.command import main as mert_moses
from lasw.scripts.parallel_text.train import train_thot
from lasw.tuning import NBest, Weights, nbest_text, on_cluster, open_decoder

# Upper-cases and gives every list features that depend on the sentence; a log line a start, for those who count them.
PROGRAM = """\
import sys, time
weights, source, n, nbest = sys.argv[1:]
lines = open(source, encoding="utf-8").read().split("\\n")[:-1]
time.sleep(0 * len(lines))
with open(nbest, "w", encoding="utf-8") as out:
    for s, line in enumerate(lines):
        if "broken" in line:
            sys.exit("no model for " + line)
        for k in range(int(n)):
            words = line.upper().split() + ["x"] * k
            sparse = "".join(f" W_{word}= 1" for word in sorted(set(words), key=hash_of) if word != "x")
            out.write(f"{s} ||| {' '.join(words)} ||| LM= {-len(words)} TM= {k}{sparse} ||| {-k}\\n")
""".replace("hash_of", "lambda word: (len(word), word[::-1])")
COMMAND = "./decode {weights} {source} {n} {nbest}"


@pytest.fixture(scope="module")
def cluster(distributed: Any) -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


@pytest.fixture
def place(tmp_path: Path) -> Path:
    program = tmp_path / "decode"
    program.write_text(f"#!{sys.executable} -SE\n{PROGRAM}", encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "weights.json").write_text(json.dumps({"dense": {"LM": [0.5], "TM": [2.0]}}), encoding="utf-8")
    return tmp_path


def sentences(n: int) -> list[str]:
    draw = random.Random(3)
    words = ["ein", "haus", "äpfel", "w" * 20, "und", "|", "sieht"]
    return [" ".join(draw.choice(words) for _ in range(draw.randint(0 if k else 5, 12))) for k in range(n)]


def written(nbest: NBest) -> str:
    """As its file has it, with the order of sparse features."""
    return "".join(nbest_text(nbest))


def scaled(cluster: Any, n: int) -> str:
    """The address, once there are n workers; there are never fewer again, as that takes seconds."""
    if len(cluster.workers) < n:
        cluster.scale(n)
    with client_of(cluster) as client:
        client.wait_for_workers(n, timeout=120)
    return str(cluster.scheduler_address)


def client_of(cluster: Any) -> Any:
    from distributed import Client

    return Client(cluster, set_as_default=False)


class Killer(threading.Thread):
    """Kills a worker of a cluster as soon as it has a task, and then another one."""

    def __init__(self, cluster: Any, most: int) -> None:
        super().__init__(daemon=True)
        self.cluster, self.most = cluster, most
        self.killed: list[int] = []
        self.done = threading.Event()

    def run(self) -> None:
        while len(self.killed) < self.most and not self.done.wait(0.02):
            busy = [str(state.name) for state in self.cluster.scheduler.workers.values() if state.processing]
            numbers = [self.cluster.workers[key].pid for key in self.cluster.workers if str(key) in busy]
            fresh = [number for number in numbers if number and number not in self.killed]
            if fresh:
                os.kill(fresh[0], signal.SIGKILL)
                self.killed.append(fresh[0])

    def __enter__(self) -> Killer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.join()


def test_any_number_of_workers_gives_the_lists_of_one_process(cluster: Any, place: Path) -> None:
    settings = {"name": "command", "command": COMMAND, "initial": place / "weights.json", "folder": place, "jobs": 3}
    source = sentences(60)
    alone = open_decoder(settings)
    start = alone.start_weights()
    expected = written(alone.decode(source, start, 3, Vocabulary()))
    chosen = np.array([2, 3, 11, 40])
    some = written(alone.decode_some(source, chosen, start, 2, Vocabulary()))
    for n in (1, 2, 4):
        with on_cluster(open_decoder(settings, jobs=False), scaled(cluster, n)) as decoder:
            assert decoder.start_weights().by_group() == start.by_group()
            assert written(decoder.decode(source, start, 3, Vocabulary())) == expected
            assert written(decoder.decode_some(source, chosen, start, 2, Vocabulary())) == some


def test_two_workers_killed_in_each_round(cluster: Any, place: Path) -> None:
    settings = {"name": "command", "command": COMMAND, "initial": place / "weights.json", "folder": place}
    source = sentences(40)
    alone = open_decoder(settings)
    start = alone.start_weights()
    expected = written(alone.decode(source, start, 3, Vocabulary()))
    slow = (place / "decode").read_text(encoding="utf-8").replace("sleep(0", "sleep(0.05")
    (place / "decode").write_text(slow, encoding="utf-8")
    with on_cluster(open_decoder(settings), scaled(cluster, 4)) as decoder:
        for _ in range(2):
            with Killer(cluster, 2) as killer:
                assert written(decoder.decode(source, start, 3, Vocabulary())) == expected
            assert len(killer.killed) == 2


def test_moses_in_place_of_perl(cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = made(tmp_path, sparse=True)
    quick = ("--pairwise-ranked", "--maximum-iterations", "2")
    assert mert_moses(call(system, tmp_path / "alone", *quick)) == 0
    words = call(system, tmp_path / "spread", *quick, "--dask", scaled(cluster, 4), "--jobs", "8", "--queue-flags=-q x")
    words.remove("--quiet")
    assert mert_moses(words) == 0
    told = capsys.readouterr().err
    assert "--jobs has no effect: the workers of --dask decode" in told
    assert "--queue-flags has no effect: no queue is asked; --dask decodes on a queue's machines" in told
    found = files(tmp_path / "spread")  # which name their folder where the sparse weights are
    assert found.keys() == files(tmp_path / "alone").keys()
    for name, content in files(tmp_path / "alone").items():
        assert found[name] == content.replace(b"/alone/", b"/spread/")


def test_thot_keeps_its_models_over_rounds(cluster: Any, tmp_path: Path) -> None:
    pytest.importorskip("thot", reason="sil-thot is not installed")
    draw = random.Random(1)
    pairs = {"das": "the", "ein": "a", "haus": "house", "hund": "dog", "sieht": "sees", "kauft": "buys", "alte": "old"}
    lines = [[draw.choice(list(pairs)) for _ in range(draw.randint(3, 9))] for _ in range(200)]
    for name, text in (("de", lines), ("en", [[pairs[word] for word in line] for line in lines])):
        (tmp_path / f"train.{name}").write_text("".join(" ".join(x) + "\n" for x in text), encoding="utf-8")
        (tmp_path / f"dev.{name}").write_text("".join(" ".join(x[::-1]) + "\n" for x in text[:30]), encoding="utf-8")
    train_thot(tmp_path / "train.de", tmp_path / "train.en", tmp_path / "model", quiet=True)
    words = ["tune", "--decoder", "thot", "--model", str(tmp_path / "model"), "--source", str(tmp_path / "dev.de")]
    words += ["--references", str(tmp_path / "dev.en"), "--iterations", "2", "--nbest", "10", "--quiet", "--run"]
    assert main([*words, str(tmp_path / "alone")]) == 0
    assert main([*words, str(tmp_path / "spread"), "--dask", scaled(cluster, 4)]) == 0
    for name in ("weights.json", "1/nbest.gz", "2/nbest.gz"):
        found = sorted((tmp_path / "spread").rglob(name.rpartition("/")[2]))
        assert [path.read_bytes() for path in found] == [
            path.read_bytes() for path in sorted((tmp_path / "alone").rglob(name.rpartition("/")[2]))
        ]
    words = ["align", "--source", str(tmp_path / "train.de"), "--target", str(tmp_path / "train.en"), "--quiet"]
    for name, more in (("alone", []), ("spread", ["--dask", scaled(cluster, 4)])):
        folder = tmp_path / f"{name}.aligned"
        folder.mkdir()
        assert main([*words, *more, "--output", str(folder / "align"), "--save", str(folder / "model")]) == 0
    assert files(tmp_path / "spread.aligned") == files(tmp_path / "alone.aligned")
    source = (tmp_path / "dev.de").read_text(encoding="utf-8").splitlines()
    decoder = open_decoder({"name": "thot", "model": tmp_path / "model"})
    with on_cluster(decoder, scaled(cluster, 4)) as spread, client_of(cluster) as client:
        start, held = decoder.start_weights(), []
        for weights in (start, Weights(start.names, start.dense + 1)):
            spread.decode(source, weights, 10, Vocabulary())
            held.append(client.run(processes))
        assert any(held[0].values())
        assert all(held[1][worker][: len(numbers)] == numbers for worker, numbers in held[0].items())
    with client_of(cluster) as client:
        assert not any(client.run(processes).values())


def test_local_weights(cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(4)
    lines = []
    for s in range(20):
        for k in range(12):
            text = " ".join(draw.choice(["falsch", word]) for word in f"der Bus {s} faehrt heute".split())
            lines.append(f"{s} ||| {text} ||| LM0= {draw.gauss(0, 1):.6g} TM0= {draw.gauss(s % 2, 1):.6g} ||| {k}\n")
    (tmp_path / "nbest").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "ref").write_text("".join(f"der Bus {s} faehrt heute\n" for s in range(20)), encoding="utf-8")
    (tmp_path / "dev").write_text("".join(f"the bus {s} leaves today\n" for s in range(20)), encoding="utf-8")
    (tmp_path / "test").write_text("".join(f"a bus {s % 7} leaves\n" for s in range(33)), encoding="utf-8")
    words = ["--references", "ref", "--source", "dev", "--setting", "words:power=2:prior=0.1", "--quiet", "nbest"]
    paths = [str(tmp_path / word) if (tmp_path / word).exists() else word for word in words]
    samples = str(tmp_path / "samples")
    assert main(["local", "train", "--start", weights_file(tmp_path), "--output", samples, *paths]) == 0
    words = ["local", "weights", "--quiet", "--samples", samples, "--source", str(tmp_path / "test"), "--output"]
    assert main([*words, str(tmp_path / "alone.jsonl")]) == 0
    expected = (tmp_path / "alone.jsonl").read_bytes()
    assert len(set(expected.splitlines())) == 7
    for n in (1, 2, 4):
        assert main([*words, str(tmp_path / f"{n}.jsonl"), "--dask", scaled(cluster, n)]) == 0
        assert (tmp_path / f"{n}.jsonl").read_bytes() == expected
    capsys.readouterr()


def weights_file(folder: Path) -> str:
    (folder / "start").write_text("LM0= 1\nTM0= 1\n", encoding="utf-8")
    return str(folder / "start")


def processes() -> list[int]:
    """On a worker: of the Thot that it holds."""
    from lasw.tuning.decoders import cluster

    decoders = [decoder for held in cluster._held.values() for decoder in held._idle]
    return [worker._process.pid for decoder in decoders for worker in decoder._workers]  # type: ignore[attr-defined]


class TestMistakes:
    @pytest.fixture
    def words(self, place: Path) -> list[str]:
        (place / "source").write_text("ein haus\nnoch ein haus\n", encoding="utf-8")
        words = ["decode", "--decoder", "command", "--command", COMMAND, "--folder", str(place)]
        return [*words, "--initial", str(place / "weights.json"), "--source", str(place / "source"), "--dask"]

    def test_nobody_listens(
        self, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("lasw.metrics.parallel.executors._PATIENCE", 1)
        assert main([*words, "tcp://127.0.0.1:9"]) == 1
        told = capsys.readouterr().err
        assert "no Dask scheduler at tcp://127.0.0.1:9 (" in told
        assert told.count("\n") == 1

    def test_a_program_that_fails(
        self, cluster: Any, words: list[str], place: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (place / "source").write_text("ein haus\nbroken\n", encoding="utf-8")
        assert main([*words, scaled(cluster, 4)]) == 1
        told = capsys.readouterr().err
        assert "./decode ended with code 1; its last lines: no model for broken (on the worker tcp://127.0.0.1" in told
        assert told.count("\n") == 1

    def test_a_file_that_workers_do_not_see(self, cluster: Any, place: Path) -> None:
        settings = {"name": "command", "command": COMMAND, "initial": place / "weights.json", "folder": place}
        decoder = open_decoder(settings)
        (place / "decode").unlink()
        with (
            on_cluster(decoder, scaled(cluster, 4)) as spread,
            pytest.raises(
                UserError, match=r"decode: No such file or directory \(on the worker .*; let all workers see"
            ),
        ):
            spread.decode(["a"], decoder.start_weights(), 1, Vocabulary())

    def test_other_versions(self, cluster: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        settings = {"name": "command", "command": COMMAND, "initial": place / "weights.json", "folder": place}
        monkeypatch.setattr("lasw.tuning.decoders.cluster.versions", lambda: {"lasw": "1999"})
        decoder = open_decoder(settings)
        with (
            on_cluster(decoder, scaled(cluster, 4)) as spread,
            pytest.raises(UserError, match=r"has lasw .*; expected 1999, as here; start scheduler and workers in the"),
        ):
            spread.decode(["a"], decoder.start_weights(), 1, Vocabulary())

    def test_lists_need_no_workers(self, cluster: Any, tmp_path: Path) -> None:
        (tmp_path / "list").write_text("0 ||| a ||| LM= 1 ||| 1\n", encoding="utf-8")
        decoder = open_decoder({"name": "fixed", "lists": (str(tmp_path / "list"),)})
        with pytest.raises(UserError, match="decoder fixed reads its lists"), on_cluster(decoder, "tcp://x:1"):
            pass
