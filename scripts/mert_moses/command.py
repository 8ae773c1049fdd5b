"""`lasw-mert-moses`: takes the command line of Moses' mert-moses.pl, leaves the same files, needs no Perl."""

from __future__ import annotations

import gc
import shlex
import sys
from collections.abc import Sequence

from lasw.metrics import UserError
from lasw.scripts.command_line import EXIT_USAGE, ask_for_room, guarded, told_of_compiling
from lasw.scripts.mert_moses.options import Given, UsageError, read_options, refuse_and_remark, usage

PROGRAM = "lasw-mert-moses"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong usage, 128 and the signal's number if it was stopped (130 by Ctrl-C).
    """
    words = list(sys.argv[1:] if argv is None else argv)
    # Moses' experiment manager takes the word "error" in a log for a step that failed.
    return guarded(
        lambda: PROGRAM, lambda: _main(words), debug={"-debug", "--debug"} & set(words) != set(), error="error: "
    )


def _main(words: list[str]) -> int:
    gc.set_threshold(200_000, 20, 20)
    try:
        given = read_options(words)
        if given.flag("help"):
            print(usage(), flush=True)
            return 0
        if given.flag("version"):
            from lasw.metrics import version

            print(f"{PROGRAM} {version()}")
            return 0
        with told_of_compiling(PROGRAM, quiet=given.flag("quiet")):
            return _tune(given, words)
    except UsageError as error:
        print(f"{PROGRAM}: error: {error}", file=sys.stderr)
        return EXIT_USAGE


def _tune(given: Given, words: Sequence[str]) -> int:
    quiet = given.flag("quiet")

    def tell(text: str) -> None:
        if not quiet:
            print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)

    for remark in refuse_and_remark(given):
        tell(remark)
    # What is below loads NumPy and the kernels, which a refused command line need not wait for.
    ask_for_room()
    from lasw.scripts.command_line import TuningProgress, development_score
    from lasw.scripts.mert_moses.inputs import open_inputs
    from lasw.scripts.mert_moses.run import kept_iterations, tune_moses
    from lasw.scripts.mert_moses.settings import ITERATIONS, settings

    wanted = settings(given)
    for remark in wanted.remarks:
        tell(remark)
    progress = TuningProgress("mert-moses", wanted.iterations or ITERATIONS, quiet=quiet, dev_metric=wanted.metric)
    try:
        done = tune_moses(
            wanted,
            open_inputs(wanted, tell),
            shlex.join([PROGRAM, *words]),
            go_on=given.flag("continue"),
            skip_decoder=given.flag("skip-decoder"),
            progress=progress,
            tell=tell,
        )
    except (UserError, OSError, KeyboardInterrupt):
        kept = kept_iterations(wanted.folder) if progress.begun else 0
        if kept:
            tell(f"{kept} finished iterations are kept in {wanted.folder}; --continue goes on from there")
        raise
    finally:
        progress.close()
    outcome = done.outcome
    again = "was finished already" if outcome.already_finished else "finished"
    plural = "" if outcome.iterations == 1 else "s"
    print(f"{again} after {outcome.iterations} iteration{plural}: {outcome.reason}")
    told = "" if outcome.dev_score is None else f", {development_score(outcome.dev_score, wanted.metric)}"
    print(f"weights  {done.path} (before iteration {outcome.chosen + 1}{told})", flush=True)
    return 0
