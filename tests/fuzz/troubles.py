"""A full disk, closed folders, two processes on one run: ``python tests/fuzz/troubles.py [--only COMMAND]``.

Every command of `commands` meets each trouble. It must say so in one line and leave nothing half written behind; run
again without the trouble it ends with the bytes of a run that had none.

    full      no file may become larger than so many bytes (RLIMIT_FSIZE), for children too
    tmpfs     where root may mount one: a disk of so many pages that is full after them
    readonly  folders of somebody else, for a user without rights (root becomes one; another closes the folders)
    two       the same command twice in the same instant: one does it, the other is refused or finds it done
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from commands import Job, ended, jobs  # noqa: E402
from kills import contents  # noqa: E402

# May read everything (Python itself may stand where others cannot look) and write nothing that is not everybody's.
_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+dac_read_search")
_NOBODY += ("--ambient-caps=+dac_read_search",)
_SIZES = (0, 100, 1500, 9000, 60_000)  # bytes
_PAGES = (1, 4, 12)
_TIMES = 20
_LONGEST = 600.0  # seconds
_TRACEBACK = re.compile(r"^Traceback", re.MULTILINE)


class Trouble:
    """One command and its undisturbed run.

    Args:
        job: the command.
        place: an empty folder.
        kernels: a folder for what is compiled by those who may not write beside the program: without one each of them
            waits for compilation.
    """

    def __init__(self, job: Job, place: Path, kernels: Path | None = None) -> None:
        self.job, self.run, self.kernels = job, place / "run", kernels or place / "kernels"
        job.prepare(place)
        self.end_well()
        self.wanted = contents(self.run)
        shutil.rmtree(self.run)

    def ended(self, **more: object) -> tuple[int, str]:
        """Its exit code and what it said."""
        return ended(self.job.start(self.run, **more), _LONGEST)

    def end_well(self) -> None:
        """Run it to its end.

        Raises:
            RuntimeError: it failed.
        """
        code, said = self.ended()
        if code:
            raise RuntimeError(f"code {code}: {said}")

    def full(self) -> Iterator[str]:
        """What goes wrong where files may not become large."""
        for size in _SIZES:
            limit = (size, resource.RLIM_INFINITY)
            yield from self._met(
                f"files of {size} bytes",
                preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
            )

    def tmpfs(self) -> Iterator[str]:
        """What goes wrong on a disk that gets full; nothing where no disk can be mounted."""
        for pages in _PAGES:
            self.run.mkdir()
            mount = ["mount", "-t", "tmpfs", "-o", f"size={pages * resource.getpagesize()}", "lasw", str(self.run)]
            if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
                self.run.rmdir()
                return
            try:
                code, said = self.ended()
                yield from self._told(f"disk of {pages} pages", code, said)
                grown = ["mount", "-o", "remount,size=200M", str(self.run)]
                subprocess.run(grown, check=True, capture_output=True)
                yield from self._again(f"disk of {pages} pages")
            finally:
                subprocess.run(["umount", "-l", str(self.run)], check=True)
            shutil.rmtree(self.run, ignore_errors=True)

    def readonly(self) -> Iterator[str]:
        """What goes wrong where nothing may be written."""
        self.kernels.mkdir(exist_ok=True)
        self.kernels.chmod(0o777)
        nobody = () if os.geteuid() else (*_NOBODY, "env", f"NUMBA_CACHE_DIR={self.kernels}")
        for where in ("out", ".", "begun"):
            (self.run / "tmp").mkdir(parents=True)
            (self.run / "tmp").chmod(0o777)
            if where == "out":
                (self.run / "out").mkdir()
            elif where == "begun":
                self.end_well()
                for name in ("result.json", "table.json", "moses.ini"):
                    (self.run / "out" / name).unlink(missing_ok=True)
            closed = [path for path in self.run.rglob("*") if path.is_dir() and path.name != "tmp"] + [self.run]
            if where == "." and not self.job.folder:
                (self.run / "out").mkdir()
                closed.append(self.run / "out")
            for path in closed:
                path.chmod(0o555)
            before = contents(self.run)
            code, said = self.ended(before=nobody)
            for path in closed:
                path.chmod(0o755)
            yield from self._told(f"closed {where}", code, said)
            if contents(self.run) != before:
                yield f"closed {where}: something was written"
            if code == 0 and where != "begun":
                yield f"closed {where}: code 0"
            shutil.rmtree(self.run)

    def two(self, times: int = _TIMES) -> Iterator[str]:
        """What goes wrong where two start at once."""
        for _ in range(times):
            both = [self.job.start(self.run) for _ in range(2)]
            ends = [ended(one, _LONGEST) for one in both]
            codes = sorted(code for code, _ in ends)
            for code, said in ends:
                yield from self._told("two at once", code, said)
                if code and not re.search("another process is at work|process \\d+", said):
                    yield f"two at once: {said[-300:]!r}"
            if codes not in ([0, 0], [0, 1]):
                yield f"two at once: codes {codes}"
            yield from self._again("two at once", run=False)
            shutil.rmtree(self.run)

    def _met(self, name: str, **more: object) -> Iterator[str]:
        code, said = self.ended(**more)
        yield from self._told(name, code, said)
        yield from self._again(name)
        shutil.rmtree(self.run)

    def _told(self, name: str, code: int, said: str) -> Iterator[str]:
        if code not in (0, 1):
            yield f"{name}: code {code}"
        if _TRACEBACK.search(said):
            yield f"{name}: {said[-600:]!r}"
        faults = [line for line in said.splitlines() if re.match(r"lasw[\w -]*: (?!warning|note)", line)]
        if code == 1 and not (faults and said.rstrip().endswith(faults[-1])):
            yield f"{name}: the last line is {said[-200:]!r}"
        left = [str(path.relative_to(self.run)) for path in self.run.rglob(".*") if path.is_file()]
        if left:
            yield f"{name}: left are {left}"

    def _again(self, name: str, *, run: bool = True) -> Iterator[str]:
        if run:
            code, said = self.ended()
            if code:
                yield f"{name}, then without: code {code}: {said[-300:]!r}"
                return
        found = contents(self.run)
        wrong = sorted(key for key in {*found, *self.wanted} if found.get(key) != self.wanted.get(key))
        if wrong:
            yield f"{name}, then without: other {', '.join(wrong[:6])}"


TROUBLES: dict[str, Callable[[Trouble], Iterator[str]]] = {
    "full": Trouble.full,
    "tmpfs": Trouble.tmpfs,
    "readonly": Trouble.readonly,
    "two": Trouble.two,
}


def main() -> int:
    """Print a line for every command and trouble; 1 if something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help="one command; may be repeated")
    parser.add_argument("--trouble", action="append", choices=TROUBLES, help="one trouble; may be repeated")
    given = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="lasw-troubles-") as made:
        os.chmod(made, 0o755)
        for k, job in enumerate(jobs()):
            if given.only is None or job.name in given.only:
                trouble = Trouble(job, Path(made) / str(k), Path(made) / "kernels")
                faults += sum(_meet(trouble, name) for name in given.trouble or TROUBLES)
    return min(faults, 1)


def _meet(trouble: Trouble, name: str) -> int:
    """One trouble: how many faults, which are printed."""
    found = list(dict.fromkeys(TROUBLES[name](trouble)))
    print(f"{trouble.job.name:24} {name:9} {'well' if not found else f'{len(found)} faults'}", flush=True)
    for text in found:
        print(f"    {text}", flush=True)
    shutil.rmtree(trouble.run, ignore_errors=True)
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
