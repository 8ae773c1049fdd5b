"""How a program ends whatever goes wrong: one line, the right exit code, from the first import to the last flush."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lasw.metrics import write_text

LASW = [sys.executable, "-m", "lasw.scripts.entry"]


def done(*words: str | bytes, cwd: Path, **settings: object) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **settings.pop("env", {})}  # type: ignore[dict-item]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
    return subprocess.run([*LASW, *words], cwd=cwd, env=environment, timeout=120, check=False, **pipes)  # type: ignore[call-overload, no-any-return]


def heeding() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["tune", "--help"], ["score", "-r", "hyp", "--", "hyp"]])
def test_a_full_disk(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "hyp").write_text("a b c d\n")
    with open("/dev/full", "wb") as full:
        found = done(*words, cwd=tmp_path, stdout=full)
    assert found.returncode == 1
    assert found.stderr.decode().endswith("No space left on device (--debug shows where)\n")
    assert found.stderr.count(b"\n") == 1


def test_ctrl_c_at_any_moment(tmp_path: Path) -> None:
    """From the first import of ours on; what Python itself is at before is Python's."""
    (tmp_path / "hyp").write_text("a b c d\n" * 2000)
    for wait in (0.12, 0.2, 0.3, 0.45, 0.7):
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys, lasw.scripts.entry as e; e.begin(); print(1, flush=True); sys.exit(e.lasw())",
                *words(),
            ],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=heeding,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait - 0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        if process.returncode != 0:  # it was not over by then
            assert process.returncode == 130, said.decode()
            assert said.decode().endswith(("interrupted\n", "stopped within a computation\n"))
            assert said.count(b"\n") == 1


def test_a_signal_while_the_ways_to_hear_of_it_are_opened(tmp_path: Path) -> None:
    code = """if True:
        import os, signal, sys, threading
        from lasw.scripts.command_line import guarded
        def start(thread, begin=threading.Thread.start):
            begin(thread)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread.start = start
        sys.exit(guarded(lambda: "lasw", lambda: 0, debug=False))"""
    words = [sys.executable, "-c", code]
    found = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, preexec_fn=heeding)
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "lasw: interrupted\n")


def test_a_signal_that_c_code_does_not_pass_on(tmp_path: Path) -> None:
    """As when a compiler asks Python for what it made before: the exception is lost, and the program would go on."""
    code = """if True:
        import ctypes, os, signal
        from lasw.scripts.command_line import told_of_signals
        with told_of_signals():
            ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))()
        print("went on")"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (found.returncode, found.stdout) == (143, "")
    assert found.stderr == "lasw: stopped within a computation\n"


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_where_the_first_was_caught(second: signal.Signals) -> None:
    """By a library that goes on all the same, with something that Python does not see signals in."""
    code = """if True:
        import ctypes, os, signal
        from lasw.scripts.command_line import told_of_signals
        c, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
        with told_of_signals():
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                print("caught", flush=True)
            c.pthread_mutex_lock(mutex)
            c.pthread_mutex_lock(mutex)"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heeding
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"caught\n"
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(second)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + second, b"lasw: stopped within a computation\n")
    assert time.monotonic() - began < 10


def test_signals_that_come_together_are_heeded_together() -> None:
    """What is cleaned up after the first is not cut short by one that came before it was heeded."""
    code = """if True:
        import ctypes, os, signal, threading, time
        from lasw.scripts.command_line import told_of_signals
        c, mutex, locked = ctypes.CDLL(None), ctypes.create_string_buffer(256), threading.Event()
        def others():
            c.pthread_mutex_lock(mutex)
            locked.set()
            for _ in range(3):
                time.sleep(0.2)
                os.kill(os.getpid(), signal.SIGINT)
            c.pthread_mutex_unlock(mutex)
        with told_of_signals():
            threading.Thread(target=others).start()
            locked.wait()
            try:
                c.pthread_mutex_lock(mutex)  # until all three have come
                time.sleep(0)
            except KeyboardInterrupt:
                time.sleep(2)
                print("cleaned up")"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, preexec_fn=heeding
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "cleaned up\n", "")


def words() -> list[str]:
    return ["score", "-r", "hyp", "--", "hyp"]


def test_a_signal_while_a_list_comes_slowly(tmp_path: Path) -> None:
    write_text(tmp_path / "ref", "a b\n")
    process = subprocess.Popen(
        [*LASW, "optimise", "--optimiser", "pro", "--references", "ref", "--quiet", "-"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    waiting = Path(f"/proc/{process.pid}/wchan")
    deadline = time.monotonic() + 10
    while "pipe" not in waiting.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    assert process.stderr.read() == b"lasw optimise: interrupted\n"
    assert process.wait(10) == 143
    process.stdin.close()  # type: ignore[union-attr]


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    name = b"h\xff"
    with open(os.path.join(os.fsencode(tmp_path), name), "wb") as stream:
        stream.write(b"a b c d\n")
    strict = {"PYTHONIOENCODING": "utf-8:strict"}
    for form in ([], ["--json"]):
        found = done("score", *form, "-r", name, "--", name, name, cwd=tmp_path, env=strict)
        assert (found.returncode, found.stderr) == (0, b"")
        assert name in found.stdout
    found = done("score", "-r", name, "--", b"gone\xff", cwd=tmp_path, env=strict)
    assert found.returncode == 1
    assert found.stderr == b"lasw score: gone\\udcff: no such file\n"
    write_text(tmp_path / "page", "a \udcff")
    assert (tmp_path / "page").read_text() == "a \\udcff"


def test_standard_output_of_few_letters(tmp_path: Path) -> None:
    (tmp_path / "ä").write_text("a b c d\n")
    found = done("score", "-r", "ä", "--", "ä", "ä", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert found.returncode == 1
    assert found.stderr == b"lasw score: standard output takes ascii only: set PYTHONIOENCODING=utf-8\n"


def test_little_memory(tmp_path: Path) -> None:
    """Wherever it ends: in a line, not in a traceback; libraries of others may have something to say as well."""
    (tmp_path / "ref").write_text("a b\n")
    (tmp_path / "hyp").write_bytes(b"a " * (7 << 20) + b"\n")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20))

    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "LASW_LONGEST_LINE": "1G"}
    found = done("score", "-m", "WER", "-r", "ref", "--", "hyp", cwd=tmp_path, preexec_fn=limited, env=single)
    assert b"Traceback" not in found.stderr


def test_memory_too_little_for_what_is_loaded(tmp_path: Path) -> None:
    """LLVM ends a process that may take 400 MB, OpenBLAS one that may take 200, in lines of their own or in none."""
    (tmp_path / "hyp").write_text("a b c d\n")
    for megabytes in (200, 300, 400, 511):

        def limited(most: int = megabytes << 20) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

        told = f"not enough memory: a limit (ulimit -v) leaves {megabytes} MB of addresses, at least 512 are needed"
        found = done(*words(), cwd=tmp_path, preexec_fn=limited)
        assert (found.returncode, found.stderr.decode()) == (1, f"lasw score: {told}\n")
        found = done("--version", cwd=tmp_path, preexec_fn=limited)
        assert (found.returncode, found.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("fault", "limit", "told"),
    [
        ("MemoryError()", -1, "not enough memory"),
        ("ImportError('a library') from OSError('failed to map segment')", -1, "not enough memory"),
        ('RuntimeError("can\'t start new thread")', -1, "no thread can be started: not enough memory, or too many"),
        ("SystemError('returned NULL without setting an exception')", 1 << 36, "not enough memory"),
        ("SystemError('returned NULL without setting an exception')", -1, None),
        ("RuntimeError('a mistake')", 1 << 36, None),
    ],
)
def test_faults_of_little_memory(fault: str, limit: int, told: str | None) -> None:
    """What is no fault of the program; of what C code does not say why, only where memory is limited."""
    code = f"""if True:
        import resource, sys
        from lasw.scripts.command_line import guarded
        resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
        def work():
            raise {fault}
        sys.exit(guarded(lambda: "lasw", work, debug=False))"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 1
    assert found.stderr.startswith(f"lasw: {told}" if told else "Traceback")
    assert told is None or found.stderr.count("\n") == 1


def test_a_library_that_makes_another_error_of_a_signal() -> None:
    """numpy does where it is just being loaded."""
    code = """if True:
        import os, signal, sys
        from lasw.scripts.command_line import guarded
        def work():
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError("a bad installation")
        sys.exit(guarded(lambda: "lasw", work, debug=False))"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, preexec_fn=heeding
    )
    assert (found.returncode, found.stderr) == (130, "lasw: interrupted\n")
