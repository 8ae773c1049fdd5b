"""A comparison from beginning to end: the grid, what is missing of it, the table and its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lasw.metrics import UserError, executor, run_all, write_text
from lasw.tuning.comparison.grid import Row, rows, runs, tasks
from lasw.tuning.comparison.settings import Comparison
from lasw.tuning.comparison.table import columns, dumped, table_json, table_tsv
from lasw.tuning.comparison.task import Task
from lasw.tuning.comparison.work import perform
from lasw.tuning.provenance import versions
from lasw.tuning.report import read_comparison_data, told_of_runs, write_comparison_report
from lasw.tuning.run_directory import Json, RunDirectory, write_json


@dataclass(frozen=True)
class Compared:
    """How a comparison ended.

    Attributes:
        table: what `table.json` says.
        runs: of the whole grid.
        reused: so many of them were there already.
        warnings: about the translations.
    """

    table: Json
    runs: int
    reused: int
    warnings: tuple[str, ...] = ()


def compare(
    comparison: Comparison,
    directory: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    command: str = "",
    told: Callable[[Json, int, int], None] | None = None,
    prepare: Callable[[], None] | None = None,
) -> Compared:
    """Carry out what is missing of a comparison and write its table.

    Args:
        comparison: its settings.
        directory: where everything goes; finished runs in it are reused.
        jobs: processes.
        dask: address of a Dask scheduler instead.
        command: as it was typed, for the report.
        told: called with each run's record, how many are done, and of how many.
        prepare: called first, once the directory is this process's: it makes the files that the comparison reads.

    Raises:
        UserError: settings or files that do not fit together, another process at work in the directory, or runs that
            failed; the others are kept.
    """
    found = rows(comparison)
    with RunDirectory(directory):
        if prepare is not None:
            prepare()
        grid = tasks(comparison, found, directory, command)
        flat = runs(grid)
        missing = [task for task in flat if not task.done()]
        reused = len(flat) - len(missing)
        _describe(directory, comparison, found, grid, command)
        if missing:
            _carry_out(missing, reused, jobs, dask, told)
        warnings: list[str] = []
        with told_of_runs(directory):
            table = table_json(comparison, found, columns(comparison, grid, warnings))
        write_text(directory / "table.json", dumped(table))
        write_text(directory / "table.tsv", table_tsv(table))
        write_comparison_report(directory / "report.html", read_comparison_data(directory))
    return Compared(table, len(flat), reused, tuple(warnings))


def _carry_out(
    missing: list[Task],
    reused: int,
    jobs: int,
    dask: str | None,
    told: Callable[[Json, int, int], None] | None,
) -> None:
    done = reused

    def one_done(record: Json) -> None:
        nonlocal done
        done += 1
        if told is not None:
            told(record, done, reused + len(missing))

    tuned, from_others = ([task for task in missing if (task.lists_of is None) == alone] for alone in (True, False))
    # Those that learn from the same lists one after the other: a process keeps only some in memory.
    from_others.sort(key=lambda task: str(task.lists_of))
    with executor(min(jobs, len(missing)), dask) as where:
        failed = run_all(where, perform, tuned, one_done)
        without = {task.folder for task, _ in failed}
        failed += run_all(where, perform, [task for task in from_others if task.lists_of not in without], one_done)
    if failed:
        task, error = failed[0]
        more = f" ({len(failed) - 1} other runs failed as well)" if len(failed) > 1 else ""
        if not isinstance(error, UserError):
            raise error
        raise UserError(
            f"{task.label}, seed {task.seed}: {error}{more}", remedy="the same command goes on with what is missing"
        )


def _describe(directory: Path, comparison: Comparison, found: list[Row], grid: list[list[Task]], command: str) -> None:
    """`comparison.json`: how it was made and where its runs are, for reports."""
    write_json(
        directory / "comparison.json",
        {
            "title": comparison.settings.title,
            "command": command,
            "versions": versions(),
            "rows": [
                {
                    "row": row.label,
                    "signature": row.signature,
                    "runs": [str(task.folder.relative_to(directory.resolve())) for task in line],
                    "files": [one.file for one in line[0].translations],
                }
                for row, line in zip(found, grid, strict=True)
            ],
            "tests": [
                {
                    "test": one.name,
                    "source": None if one.data.source is None else str(one.data.source.absolute()),
                    "references": [str(path.absolute()) for path in one.data.references],
                    "encoding": one.data.encoding,
                    "tokenize": one.data.tokenize,
                    "lowercase": one.data.lowercase,
                    "strip_marks": one.data.strip_marks,
                    "join": one.data.join,
                    "unescape": one.data.unescape,
                }
                for one in grid[0][0].translations
            ],
        },
    )
