"""`lasw quickstart`: parallel text in, a trained, tuned and tested system out."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import (
    Comparison,
    Evaluation,
    References,
    UserError,
    Vocabulary,
    bootstrap_scores,
    confidence,
    metric,
    paired_bootstrap,
    percentile_p_value,
    read_corpora,
    read_lines,
    write_text,
)
from lasw.scripts.command_line import Parser, TuningProgress, add_jobs, add_seed, positive_int
from lasw.scripts.parallel_text import read_parallel, train_thot
from lasw.selection import Pair, fingerprint_of_pages, read_help, split
from lasw.tuning import (
    CONFIGURATION,
    Configuration,
    Decoder,
    RunDirectory,
    Table,
    Weights,
    fingerprint,
    first_hypotheses,
    open_decoder,
    read_run,
    read_weights,
    tune,
    versions,
    with_changes,
    write_report,
    write_weights,
)

_EPILOG = """\
examples:
  lasw quickstart --help-pages packages --run quickstart-run
  lasw quickstart --source corpus.de --target corpus.en --run my-run

Interrupted, the same command goes on where it stopped. scripts/quickstart fetches the text and calls this.
"""
_SETTINGS = "quickstart"  # the configuration that comes with the package
_OPTIMISERS = ("average", "wro")  # the first is the one whose weights are kept
_PARTS = ("train", "dev", "test")
_SHOWN = ("bleu", "low", "high", "gain", "gain_low", "gain_high")
_SIDES = ("source", "target")
# What else stands in the folder: the steps' own folders and files, and what scripts/quickstart fetched.
_BESIDE = ("text", "model", "test", *_OPTIMISERS, "results.json", "packages", "packages.part", "apt")


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    text = parser.add_argument_group("text")
    text.add_argument("--help-pages", metavar="FOLDER", help="unpacked packages libreoffice-help-de and -en-us")
    text.add_argument("--source", metavar="FILE", help="or: tokenised text, a sentence a line")
    text.add_argument("--target", metavar="FILE", help="and its translation")
    parser.add_argument(
        "--run", default="quickstart-run", metavar="FOLDER", help="where all goes (default: %(default)s)"
    )
    add_jobs(parser, 2)
    parser.add_argument("--dev", type=positive_int, default=400, help="sentences to tune on (default: %(default)s)")
    parser.add_argument("--test", type=positive_int, default=1000, help="sentences to test on (default: %(default)s)")
    parser.add_argument("--iterations", type=positive_int, help="of each tuning, at most (default: as configured)")
    add_seed(parser, "of all that is drawn", 1)


def run(arguments: argparse.Namespace) -> int:
    """Do all steps that are not done yet; 0 if the end is reached."""
    if bool(arguments.source) != bool(arguments.target) or bool(arguments.source) == bool(arguments.help_pages):
        raise UserError("no text", expected="--help-pages, or --source and --target")
    for name in _OPTIMISERS:
        _Steps(arguments, Path(arguments.run)).settings(name)  # refused now, not after the training
    with RunDirectory(arguments.run, beside=_BESIDE) as directory:
        sizes = {name: getattr(arguments, name) for name in ("dev", "test", "iterations", "seed")}
        described = {"command": _command(), "settings": sizes, "inputs": _inputs(arguments)}
        directory.describe({**described, "versions": versions()})
        steps = _Steps(arguments, directory.path)
        steps.text()
        steps.model()
        for name in _OPTIMISERS:
            steps.tune(name)
        steps.test()
        steps.results()
    return 0


def _command() -> str:
    return shlex.join(["lasw", *sys.argv[1:]])


def _inputs(arguments: argparse.Namespace) -> dict[str, str]:
    if arguments.source:
        return {side: fingerprint(getattr(arguments, side)) for side in _SIDES}
    return {"pages": fingerprint_of_pages(arguments.help_pages)}


class _Steps:
    """The steps, each skipped if its result is there."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.arguments = arguments
        self.folder = folder
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self._began:5.0f} s] {text}", flush=True)

    def file(self, part: str, side: str) -> Path:
        return self.folder / "text" / f"{part}.{side}"

    def text(self) -> None:
        """Training, development and test text."""
        done = self.folder / "text" / "split.json"
        if not done.exists():
            parts = split(self._pairs(), dev=self.arguments.dev, test=self.arguments.test, seed=self.arguments.seed)
            done.parent.mkdir(exist_ok=True)
            counts = {}
            for part in _PARTS:
                pairs: list[Pair] = getattr(parts, part)
                for k, side in enumerate(_SIDES):
                    write_text(self.file(part, side), "".join(pair[k] + "\n" for pair in pairs))
                counts[part] = len(pairs)
            write_text(done, json.dumps({**counts, "dropped": parts.dropped}, indent=2) + "\n")
        said = json.loads(done.read_bytes())
        self.say(
            f"text: {said['train']} sentence pairs for training, {said['dev']} for tuning, {said['test']} for testing"
        )

    def _pairs(self) -> list[Pair]:
        if self.arguments.help_pages:
            self.say("reading the help pages")
            return read_help(self.arguments.help_pages)
        return list(zip(*read_parallel(self.arguments.source, self.arguments.target), strict=True))

    def model(self) -> None:
        """Word alignment, phrase table, language model."""
        folder = self.folder / "model"
        if not (folder / "system.json").exists():
            self.say("training: word alignments in both directions, phrase table, language model")
            train_thot(self.file("train", "source"), self.file("train", "target"), folder, jobs=self.arguments.jobs)
        self.say(f"system: {folder}")

    def tune(self, name: str) -> None:
        """Tune on the development set with one optimiser."""
        settings = self.settings(name)
        self.say(f"tuning with {name.upper()}")
        progress = TuningProgress("quickstart", settings.run.iterations)
        try:
            outcome = tune(settings, command=_command(), progress=progress)
        finally:
            progress.close()
        score = "" if outcome.dev_score is None else f", development BLEU {100 * outcome.dev_score:.2f}"
        self.say(f"{name.upper()}: {outcome.iterations} iterations, {outcome.reason}{score}")

    def settings(self, name: str) -> Configuration:
        changes = {
            "run": {"directory": self.folder / name, "seed": self.arguments.seed},
            "data": {"source": self.file("dev", "source"), "references": (self.file("dev", "target"),)},
            "decoder": {"model": self.folder / "model", "jobs": self.arguments.jobs},
            "optimiser": {"name": name},
        }
        if self.arguments.iterations:
            changes["run"]["iterations"] = self.arguments.iterations
        return Configuration.of(with_changes(CONFIGURATION.read(_SETTINGS), changes))

    def _systems(self) -> dict[str, Weights]:
        default = self._decoder().start_weights()
        tuned = {name: read_weights(self.folder / name / "weights.json") for name in _OPTIMISERS}
        return {"all-ones": Weights.constant(default.names, 1.0), "default": default, **tuned}

    def _decoder(self) -> Decoder:
        return open_decoder(self.settings(_OPTIMISERS[0]).decoder)

    def test(self) -> None:
        """The test set translated with every set of weights."""
        (self.folder / "test").mkdir(exist_ok=True)
        source = read_lines(self.file("test", "source"))
        decoder = self._decoder()
        for name, weights in self._systems().items():
            output = self.folder / "test" / f"{name}.txt"
            if not output.exists():
                self.say(f"translating the test set with {name} weights")
                best = first_hypotheses(decoder.decode(source, weights, 1, Vocabulary()), len(source))
                write_text(output, "".join(best.text(k) + "\n" for k in range(len(best))))

    def results(self) -> None:
        """Test BLEU, the kept weights, the report."""
        systems = self._systems()
        bleu = metric("BLEU")
        references = References.read([self.file("test", "target")])
        outputs = read_corpora((self.folder / "test" / f"{name}.txt" for name in systems), references.vocabulary)
        statistics = Evaluation(references, outputs).statistics(bleu)
        compared = paired_bootstrap(bleu, statistics, seed=self.arguments.seed)
        samples = [bootstrap_scores(bleu, one, seed=self.arguments.seed) for one in statistics]
        gains = [one - samples[0] for one in samples]
        kept = systems[_OPTIMISERS[0]]
        write_weights(self.folder / "weights.json", kept)
        comment = [f"tuned by lasw quickstart, test BLEU {100 * compared[2].score:.2f}", str(bleu.signature())]
        self._decoder().write_configuration(self.folder / "thot.cfg", kept, comment)
        rows = _rows(list(systems), compared, gains)
        write_text(self.folder / "results.json", json.dumps(rows, indent=2) + "\n")
        self._report(rows, str(bleu.signature()))
        self._print(rows)

    def _report(self, rows: list[Row], signature: str) -> None:
        table = Table(
            f"Test BLEU, {self.arguments.test} sentences",
            ["weights", "BLEU", "from", "to", "gain over all ones", "from", "to", "p"],
            [[row["weights"], *(100 * row[key] for key in _SHOWN), _p(row)] for row in rows],
            [
                "From, to: the middle 95 % of 1000 bootstrap samples of the test set, paired for the gain; p: of both "
                "sides and the same samples: below .05 where 0 is not between from and to.",
                signature,
            ],
        )
        runs = [read_run(self.folder / name) for name in _OPTIMISERS]
        write_report(self.folder / "report.html", runs, "Quickstart: a phrase-based system, tuned", [table])

    def _print(self, rows: list[Row]) -> None:
        self.say("done\n")
        print(f"test BLEU of {self.arguments.test} sentences and gain over all ones, with 95 % intervals:")
        for row in rows:
            interval = f"{100 * row['bleu']:6.2f}  [{100 * row['low']:.2f}, {100 * row['high']:.2f}]"
            gain = (
                f"{100 * row['gain']:+.2f} [{100 * row['gain_low']:+.2f}, {100 * row['gain_high']:+.2f}], p = {_p(row)}"
            )
            print(f"  {row['weights']:10}{interval}" + ("" if row is rows[0] else f"  {gain}"))
        print(
            f"""
report         {self.folder / "report.html"}
weights        {self.folder / "weights.json"}
Thot's own     {self.folder / "thot.cfg"}
translations   {self.folder / "test"}

next: translate   lasw decode --decoder thot --model {self.folder / "model"} \\
                    --weights {self.folder / "weights.json"} --source {self.file("test", "source")}
      tune again  lasw tune --decoder thot --model {self.folder / "model"} --run my-run \\
                    --source {self.file("dev", "source")} --references {self.file("dev", "target")}
      your text   scripts/quickstart --source FILE --target FILE"""
        )


Row = dict[str, Any]


def _rows(names: Sequence[str], compared: Sequence[Comparison], gains: Sequence[NDArray[np.float64]]) -> list[Row]:
    """One a system: score and interval, gain over the first system, its interval, and a p-value of the same samples."""
    rows = []
    for name, result, resampled in zip(names, compared, gains, strict=True):
        p = None if result.p_value is None else percentile_p_value(resampled)
        paired = confidence(resampled)
        interval = result.interval
        low, high = (interval.low, interval.high) if interval else (result.score, result.score)
        row = {"weights": name, "bleu": result.score, "low": low, "high": high, "p": p}
        gain = result.score - compared[0].score
        rows.append({**row, "gain": gain, "gain_low": paired.low, "gain_high": paired.high})
    return rows


def _p(row: Row) -> str:
    return "" if row["p"] is None else f"{row['p']:.3f}"
