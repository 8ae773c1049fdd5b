"""The folders of mt-metrics-eval: a test set's texts, people's scores and metrics' scores, for several language pairs.

``documents/LP.docs`` has a line a segment; ``references/LP.NAME.txt`` and ``system-outputs/LP/SYSTEM.txt`` a segment a
line (or ``.jsonl``, an object a line). ``human-scores/LP.NAME.LEVEL.score`` and
``metric-scores/LP/NAME-REF.LEVEL.score`` have a system and a score a line, LEVEL being ``seg`` (a line a segment, each
system's in order) or ``sys``. People's score may be None: there is no mark. Left out are systems without any, the
reference that metrics used, if people marked it among the systems, metrics that used another one, and metrics without a
score for a system that has marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement.layouts.official import official_outliers, official_reference
from lasw.metrics.agreement.layouts.registry import other_layouts
from lasw.metrics.agreement.marked import MarkedSystems, StoredMetric
from lasw.metrics.base import Evaluation, number_in
from lasw.metrics.errors import UserError, unknown
from lasw.metrics.text import Corpus, References, Vocabulary, parse_json, read_lines

# Whose scores are taken where there are several, as the metrics tasks took them.
_FIRST = ("mqm", "mqm-col", "esa", "esa-human1", "da-sqm", "wmt-appraise")
PROTOCOLS = {"seg": (*_FIRST, "wmt-raw", "wmt-z", "wmt"), "sys": (*_FIRST, "wmt-z", "wmt-raw", "wmt")}
_NOBODY = "src"  # in the place of a reference's name


def read_mtme(
    place: str,
    *,
    human: str = "",
    reference: str = "",
    official: bool = False,
    preprocess: Callable[[str], str] | None = None,
    encoding: str = "utf-8",
) -> MarkedSystems:
    """Read one language pair.

    Args:
        place: ``FOLDER:LP``, ``wmt22:en-de``.
        human: whose scores; the first there is of `PROTOCOLS` if empty.
        reference: which one metrics used; if empty, the one of the metrics task of that test set, else ``refA`` or
            ``ref``, else the first by name.
        official: leave the systems out that the metrics task of that test set left out.
        preprocess: of every line of text.
        encoding: of all files.

    Raises:
        UserError: a folder, a file or a score is missing, a line is wrong.
    """
    path, _, pair = place.rpartition(":")
    folder = Path(path)
    if not path or not pair:
        raise UserError(f"--mtme {place}", expected="FOLDER:LP, wmt22:en-de say")
    references = _texts(folder / "references", rf"{re.escape(pair)}\.(?P<name>[^.]+)")
    outputs = _texts(folder / "system-outputs" / pair, r"(?P<name>.+)")
    if not references or not outputs:
        where = folder / ("system-outputs" if references else "references")
        raise UserError(f"nothing of {pair}", path=where, expected="texts", remedy=other_layouts("--mtme"))
    customary = (official_reference(folder.resolve().name, pair), "refA", "ref")
    used = _chosen(reference, "reference", sorted(references), customary, folder / "references")
    far = official_outliers(folder.resolve().name, pair) if official else ()
    names = [name for name in sorted(outputs) if name != used and name not in far]
    n = len(_lines(references[used], encoding))
    _check_documents(folder / "documents" / f"{pair}.docs", n, encoding)
    marks, given, whose = _people(folder / "human-scores", pair, human, names, n, encoding)
    has = ~np.isnan(marks).all(axis=1) | (False if given is None else ~np.isnan(given))
    kept = np.flatnonzero(has).tolist()
    if not kept:
        raise UserError(f"no mark of {whose} for any system", path=folder / "human-scores", expected="some")
    systems = tuple(names[k] for k in kept)
    stored, notes = _metrics(folder / "metric-scores" / pair, used, systems, n, encoding)
    vocabulary = Vocabulary()

    def corpus(file: Path) -> Corpus:
        lines = _lines(file, encoding)
        if len(lines) != n:
            raise UserError(f"{len(lines)} lines", path=file, expected=f"{n}, as many as {references[used].name} has")
        return Corpus.from_lines(lines, vocabulary, preprocess)

    texts = References((corpus(references[used]),))
    evaluation = Evaluation(texts, tuple(corpus(outputs[name]) for name in systems))
    left_out = [f"left out, as the metrics task did: {', '.join(x for x in far if x in outputs)}"] if far else []
    notes = [f"marks of {whose}, reference {used}", *left_out, *notes]
    scores = None if given is None else given[kept]
    return MarkedSystems(f"{folder.name}:{pair}", systems, evaluation, marks[kept], scores, stored, tuple(notes))


def _texts(folder: Path, pattern: str) -> dict[str, Path]:
    found = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        match = re.fullmatch(pattern + r"\.(txt|jsonl)(\.(gz|bz2|xz))?", path.name)
        if match:
            found[match["name"]] = path
    return found


def _lines(path: Path, encoding: str) -> list[str]:
    lines = read_lines(path, encoding=encoding)
    if ".jsonl" not in path.name:
        return lines
    key = "target" if path.parent.name == "references" else "hypothesis"
    texts = []
    for number, line in enumerate(lines, start=1):
        content = parse_json(line, path, line=number)
        if not isinstance(content, dict) or not isinstance(content.get(key), str):
            raise UserError(f"no {key!r}", path=path, line=number, expected="an object with this text")
        texts.append(content[key].replace("\n", " "))
    return texts


def _chosen(wanted: str, kind: str, names: Sequence[str], first: Sequence[str], path: Path) -> str:
    """One of the names, the wanted one if any is."""
    if wanted and wanted not in names:
        error = unknown(kind, wanted, list(names))
        raise UserError(error.found, path=path, expected=error.expected, remedy=error.remedy)
    return wanted or next((name for name in first if name in names), names[0])


def _check_documents(path: Path, n: int, encoding: str) -> None:
    if path.exists() and (found := len(read_lines(path, encoding=encoding))) != n:
        raise UserError(f"{found} lines", path=path, expected=f"{n}, as the reference has")


def _people(
    folder: Path, pair: str, human: str, systems: Sequence[str], n: int, encoding: str
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, str]:
    """(S, n) marks, (S,) scores of systems if there are any, and whose they are."""
    files = {level: _score_files(folder, rf"{re.escape(pair)}\.(?P<name>.+)\.{level}") for level in PROTOCOLS}
    names = sorted({*files["seg"], *files["sys"]})
    if not names:
        expected = f"{pair}.NAME.seg.score or {pair}.NAME.sys.score"
        raise UserError(f"no scores of {pair}", path=folder, expected=expected, remedy=other_layouts("--mtme"))
    if human:
        _chosen(human, "protocol", names, (), folder)
    scores: dict[str, NDArray[np.float64]] = {}
    whose = []
    for level, known in files.items():
        if known and (not human or human in known):
            first = [name for name in PROTOCOLS[level] if name in known]
            if not human and not first and len(known) > 1:
                remedy = "--human NAME says whose"
                raise UserError(f"scores of {', '.join(known)}", path=folder, expected="one of them", remedy=remedy)
            name = human or (first or list(known))[0]
            scores[level] = _scores(known[name], systems, n if level == "seg" else 1, encoding, missing=True)
            whose.append(name)
    marks = scores.get("seg", np.full((len(systems), n), np.nan))
    given = scores["sys"][:, 0] if "sys" in scores else None
    return marks, given, "/".join(dict.fromkeys(whose))


def _score_files(folder: Path, pattern: str) -> dict[str, Path]:
    """By name, in alphabetical order."""
    found = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        match = re.fullmatch(pattern + r"\.score(\.(gz|bz2|xz))?", path.name)
        if match:
            found[match["name"]] = path
    return found


def _scores(path: Path, systems: Sequence[str], n: int, encoding: str, *, missing: bool) -> NDArray[np.float64]:
    """(S, n) scores of the systems, NaN where people gave none; others in the file are left out."""
    by_system: dict[str, list[float]] = {name: [] for name in systems}
    for number, line in enumerate(read_lines(path, encoding=encoding), start=1):
        fields = line.split()
        if len(fields) != 2:
            raise UserError(f"{len(fields)} words", path=path, line=number, expected="a system and a score")
        value = np.nan if missing and fields[1] == "None" else number_in(fields[1])
        if value is None:
            expected = "a finite number" + (" or None" if missing else "")
            raise UserError(f"score {fields[1]!r}", path=path, line=number, expected=expected)
        if fields[0] in by_system:
            by_system[fields[0]].append(value)
    for name, values in by_system.items():
        if values and len(values) != n:
            expected = f"{n}, one a segment" if n > 1 else "one"
            raise UserError(f"{len(values)} scores of system {name}", path=path, expected=expected)
    empty = [np.nan] * n
    return np.array([values or empty for values in by_system.values()], dtype=np.float64)


def _metrics(
    folder: Path, used: str, systems: Sequence[str], n: int, encoding: str
) -> tuple[tuple[StoredMetric, ...], list[str]]:
    """Those that used this reference or none, and have scores for all the systems; what was left out."""
    files = {level: _score_files(folder, rf"(?P<name>.+)\.{level}") for level in PROTOCOLS}
    stored, notes, others = [], [], []
    for name in sorted({*files["seg"], *files["sys"]}):
        base, _, against = name.rpartition("-")
        if not base or not set(against.split(".")) <= {used, _NOBODY}:
            others.append(name)
            continue
        scores = {
            level: _scores(known[name], systems, n if level == "seg" else 1, encoding, missing=False)
            for level, known in files.items()
            if name in known
        }
        gaps = np.flatnonzero(np.isnan(np.concatenate(list(scores.values()), axis=1)).any(axis=1)).tolist()
        lacking = systems[gaps[0]] if gaps else None
        if lacking is not None:
            notes.append(f"{name} left out: no score of {lacking}, which people marked")
            continue
        by_system = scores.get("sys")
        stored.append(StoredMetric(name, scores.get("seg"), None if by_system is None else by_system[:, 0]))
    if others:
        notes.append(f"left out, of other references: {', '.join(others)}")
    return tuple(stored), notes
