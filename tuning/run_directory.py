"""The folder of one tuning run: what stands in it, and how it survives a kill at any moment.

Every file appears whole or not at all, and what has been done is read off the files that are there:

    run.json                   settings, fingerprints of the inputs, versions, seed, signature, command
    iterations/001/before.json the weights that the decoder used
    iterations/001/nbest.gz    what it gave for them
    iterations/001/decode.json the development score of these weights; written when the decoding is done
    iterations/001/after.json  the weights that the optimiser made of all lists so far
    iterations/001/iteration.json  the line of the log; written when the iteration is done
    iterations/001/before-2.json, nbest-2.gz, decode-2.json, ...  of other weights that the round decoded with as well
    log.jsonl                  one line an iteration, made from the files above
    weights.json               the final weights
    result.json                why the run ended and which weights these are; written last
    report.html                see `lasw.tuning.report.page`

What marks a step as done, `decode.json` and `iteration.json`, holds the SHA-256 of the files that it stands for and of
itself: a step that was damaged since, or changed by hand, is done again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import math
import os
import re
import socket
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from lasw.metrics import UserError, own_names, parse_json, read_bytes, refuse_links, write_text

Json = dict[str, Any]

_OWN_FILES = ("run.json", "log.jsonl", "weights.json", "result.json", "report.html")
_LOCK = "lock"
_OF_COMPARISONS = ("comparison.json", "table.json", "table.tsv", "runs", "decodings", "selections")
_ITERATION_FILE = r"(?:before|decode)(?:-\d+)?\.json|nbest(?:-\d+)?\.gz|after\.json|iteration\.json"
_TEMPORARY = re.compile(rf"\.(?:{'|'.join(map(re.escape, _OWN_FILES))}|{_ITERATION_FILE})\.")
_locked: set[str] = set()  # by this process: the system's record locks do not keep a process from itself
_SHOWN_DIFFERENCES = 3
_FILES, _SEAL = "files", "sha256"


class RunDirectory:
    """A run's folder, made if need be and held by this process alone between `with` and its end.

    The lock is the kernel's (a record lock on the file `lock`): it ends with the process, however that ends.

    Args:
        path: of the folder.
        beside: what else may stand in it.
        written: names that the caller writes there too; a folder that holds only such ones is no run's.

    Raises:
        UserError: on entering, if another process holds the folder, or it holds something else than a run.
    """

    def __init__(
        self, path: str | os.PathLike[str], beside: Collection[str] = (), written: Collection[str] = ()
    ) -> None:
        self.path = Path(path)
        self._beside, self._written = beside, written
        self._lock: int | None = None
        self._own = contextlib.ExitStack()
        self._damage: list[str] = []
        self._digests: dict[tuple[str, int, int, int], str] = {}

    def __enter__(self) -> RunDirectory:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"the run directory cannot be made ({error.strerror})", path=self.path, remedy="give another --run"
            ) from None
        self._refuse_foreign()
        refuse_links(self._own_names(), "a run directory has files and folders of its own: remove the link")
        self._acquire()
        self._own.enter_context(own_names(os.path.join(self.path, "")))
        self._clean()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            _locked.discard(self._key())
            self._own.close()

    def describe(self, description: Mapping[str, Any], may_change: Collection[str] = ()) -> Json:
        """Write `run.json`, or compare it with the one that is there.

        Args:
            description: `settings`, `inputs` (both must not change), and anything else that is only told.
            may_change: dotted keys of `settings` that may differ; the new value is written.

        Returns:
            The description that was there before, empty if there was none.

        Raises:
            UserError: the run was made with other settings or inputs; the first differences are named.
        """
        new = json.loads(json.dumps(description))  # tuples are lists once written
        old = read_json(self.path / "run.json")
        if old is not None:
            ignored = {f"settings.{key}" for key in may_change}
            differences = [line for part in ("settings", "inputs") for line in _differences(old, new, part, ignored)]
            if differences:
                more = len(differences) - _SHOWN_DIFFERENCES
                raise UserError(
                    "this run was made with " + ", ".join(differences[:_SHOWN_DIFFERENCES]) + _and_more(more),
                    path=self.path,
                    expected="the same settings and inputs as before",
                    remedy="give another --run, or delete this one",
                )
        if old is None or old["settings"] != new["settings"]:
            write_json(self.path / "run.json", {**new, "command": (old or new).get("command", "")})
        return old or {}

    def iteration(self, number: int) -> Path:
        """The folder of one iteration (1, 2, ...)."""
        return self.path / "iterations" / f"{number:03d}"

    def records(self, needs: Collection[str] = ()) -> list[Json]:
        """The log lines of all finished iterations up to the first whose line is damaged or lacks a key of `needs`."""
        found: list[Json] = []
        while (record := self.read(self.iteration(len(found) + 1) / "iteration.json", needs)) is not None:
            found.append(record)
        return found

    def read(self, path: Path, needs: Collection[str] = ()) -> Json | None:
        """A JSON file of the run, without checksums; None if it is not there, or damaged, or what it stands for is."""
        try:
            found = read_json(path, needs)
            return None if found is None else self._unsealed(path, found)
        except UserError as error:
            self.note_damage(Path(error.path or path), error)
            return None

    def write_step(self, path: Path, content: Mapping[str, Any], files: Collection[Path]) -> None:
        """Write what marks a step as done, with checksums of its `files`, which stand beside it, and of itself."""
        whole = json.loads(json.dumps(content, allow_nan=False))
        whole[_FILES] = {file.name: file_digest(file) for file in files}
        write_json(path, {**whole, _SEAL: _seal(whole)})

    def _unsealed(self, path: Path, found: Json) -> Json:
        """Raise UserError if a checksum is another; what earlier releases wrote has none."""
        seal = found.pop(_SEAL, None)
        if seal is not None and seal != _seal(found):
            raise UserError("it is not what was written", path=path)
        files = found.pop(_FILES, {}) if seal is not None else {}
        for name, digest in files.items():
            file = path.parent / name
            if file.exists() and self._digest(file) != digest:
                raise UserError("it is not what was written", path=file)
        return found

    def _digest(self, path: Path) -> str:
        """Of a file; computed again when the file has changed."""
        status = path.stat()
        key = (str(path), status.st_mtime_ns, status.st_size, status.st_ino)
        if key not in self._digests:
            self._digests[key] = file_digest(path)
        return self._digests[key]

    def note_damage(self, path: Path, error: UserError) -> None:
        """Remember that a file of the run is damaged and that what it belongs to is done again."""
        text = f"{path.relative_to(self.path)} is damaged ({error.found}): what it belongs to is done again"
        if text not in self._damage:
            self._damage.append(text)

    def take_damage(self) -> list[str]:
        """Warnings about damaged files since they were taken last."""
        taken, self._damage = self._damage, []
        return taken

    def is_complete(self) -> bool:
        """Whether all files of a finished run are there (what they say is another question)."""
        return all((self.path / name).exists() for name in _OWN_FILES)

    def write_log(self, records: Collection[Mapping[str, Any]]) -> None:
        """Write `log.jsonl`, one line a record."""
        write_text(
            self.path / "log.jsonl", "".join(json.dumps(r, ensure_ascii=False, allow_nan=False) + "\n" for r in records)
        )

    def _refuse_foreign(self) -> None:
        names = {entry.name for entry in self.path.iterdir()}.difference(self._beside)
        ours = names & {*_OWN_FILES, _LOCK, "iterations"}
        if names and not ours and not all(_is_temporary(name) for name in names):
            raise UserError(
                f"this folder is no run directory (it holds {min(names)!r})",
                path=self.path,
                expected="a new or empty folder, or that of an earlier run",
            )

    def _own_names(self) -> list[Path]:
        """What a run writes, where it is there: nothing of it may lead elsewhere."""
        own = [
            self.path / name
            for name in (*_OWN_FILES, _LOCK, "iterations", *_OF_COMPARISONS, *self._beside, *self._written)
        ]
        folders = [] if own[len(_OWN_FILES) + 1].is_symlink() else sorted((self.path / "iterations").glob("[0-9]*"))
        return [*own, *folders, *(one for folder in folders if not folder.is_symlink() for one in folder.iterdir())]

    def _key(self) -> str:
        return os.path.realpath(self.path)

    def _acquire(self) -> None:
        if self._key() in _locked:
            raise UserError("this process is at work in it already", path=self.path)
        try:
            handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise UserError(
                f"the run directory cannot be written to ({error.strerror})",
                path=self.path,
                remedy="give another --run, or a copy of this one",
            ) from None
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(handle, 200).decode("utf-8", "replace").strip()
            os.close(handle)
            if not isinstance(error, (BlockingIOError, PermissionError)):
                raise UserError(f"cannot be locked ({error.strerror})", path=self.path / _LOCK) from None
            raise UserError(
                f"another process is at work in it ({holder or 'unknown'})", path=self.path, remedy="wait for it to end"
            ) from None
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        self._lock = handle
        _locked.add(self._key())

    def _clean(self) -> None:
        """Remove what writes left behind that were killed half-way."""
        folders = [self.path, *sorted((self.path / "iterations").glob("[0-9]*"))]
        for entry in (entry for folder in folders for entry in folder.glob(".*")):
            if _is_temporary(entry.name):
                with contextlib.suppress(OSError):
                    entry.unlink()


def file_digest(path: Path) -> str:
    """The SHA-256 of a file as it lies there."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _seal(content: Json) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_json(path: Path, needs: Collection[str] = ()) -> Json | None:
    """A JSON file of a run, None if it is not there.

    Raises:
        UserError: somebody changed it so that it is no JSON object, or one without the keys that it `needs`.
    """
    remedy = "delete the run and start again"
    if not os.path.lexists(path):
        return None
    found = parse_json(read_bytes(path), path, remedy=remedy, parse_constant=_finite, parse_float=_finite)
    if not isinstance(found, dict):
        raise UserError("this is no JSON object", path=path, remedy=remedy)
    missing = [key for key in needs if key not in found]
    if missing:
        raise UserError(f"it has no {missing[0]!r}", path=path, remedy=remedy)
    return found


def _finite(text: str) -> float:
    """What no file of a run holds is no number in it: NaN, Infinity, 1e999."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file of a run, whole or not at all."""
    write_text(path, json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def _is_temporary(name: str) -> bool:
    return _TEMPORARY.match(name) is not None


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], part: str, ignored: Collection[str]) -> Iterator[str]:
    before, now = dict(_flat(old.get(part, {}), part)), dict(_flat(new.get(part, {}), part))
    for key in sorted(before.keys() | now.keys()):
        if before.get(key) != now.get(key) and key not in ignored:
            name = key.partition(".")[2]
            yield f"{name} = {_shown(before.get(key))} (now {_shown(now.get(key))})"


def _flat(content: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    if isinstance(content, dict) and content:
        for key, value in content.items():
            yield from _flat(value, f"{prefix}.{key}")
    else:
        yield prefix, content


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _and_more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""
