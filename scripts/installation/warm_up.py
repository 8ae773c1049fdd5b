"""`lasw warm-up`: compiles in advance what commands need, which their first runs would wait for."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lasw.metrics import UserError
from lasw.scripts.command_line import Parser, note
from lasw.scripts.main import main
from lasw.tuning import OPTIMISERS

_EPILOG = """\
examples:
  lasw warm-up
  lasw warm-up score optimise

Kernels are compiled when they are first called, and kept beside the program or in the folder that NUMBA_CACHE_DIR
names. Run it after an installation or update, as the user who may write there; a second run takes seconds.
"""
_TEXT = "a small old house stands on the green hill and nobody lives in it today"
_SENTENCES, _CANDIDATES = 12, 100  # so many that tables grow


def _steps() -> dict[str, list[str]]:
    """By what is asked for: commands on the files of `_made`, whose kernels are the same as for any other text."""
    metrics = ["BLEU", "BLEU+1", "PABC4", "RABC2", "TER", "WER", "PER", "CDER", "CHRF", "METEOR", "NIST"]
    lists = "--references ref --quiet --output w.json"
    optimised = [f"optimise --optimiser {name} {lists} list" for name in OPTIMISERS]
    return {
        "score": [f"score {' '.join(f'-m {name}' for name in metrics)} -r ref hyp other --paired-bs --paired-bs-n 10"],
        "optimise": [*optimised, *(f"optimise --optimiser {name} {lists} sparse" for name in ("pro", "mira"))],
        "rerank": ["rerank --weights start --quiet list", "rerank --weights start --quiet sparse"],
        "tune": [
            "tune --decoder fixed --lists list --source ref --references ref --run run --iterations 1 --quiet",
        ],
        "local": [
            "local train --references ref --source ref --output samples --quiet list",
            "local weights --samples samples --source ref --quiet",
        ],
        "select": [f"select --source ref --target ref --alignment align --output o{name} --low 1 --words 20 --quiet"
                   f" --method {name}" for name in ("la", "random", "length")],
    }  # fmt: skip


def add_arguments(parser: Parser) -> None:
    """Declare the options."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "commands", nargs="*", metavar="COMMAND", help=f"of {', '.join(_steps())} (default: all of them)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Run every command on a little made text; 0 if all is compiled."""
    steps = _steps()
    for name in arguments.commands:
        if name not in steps:
            raise UserError(f"nothing to compile for {name!r}", expected=", ".join(steps))
    wanted = [(name, line) for name in arguments.commands or steps for line in steps[name]]
    began = time.perf_counter()
    with _made():
        for k, (name, line) in enumerate(wanted, start=1):
            note(arguments.quiet, f"{k} of {len(wanted)}: {_shown(name, line)}")
            _run(line)
    note(arguments.quiet, f"compiled in {time.perf_counter() - began:.0f} s")
    return 0


def _shown(name: str, line: str) -> str:
    words = line.split()
    chosen = [words[k + 1] for k, word in enumerate(words) if word in ("--optimiser", "--method")]
    return " ".join([name, *chosen])


def _run(line: str) -> None:
    out, errors = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = main(line.split())
    if code:
        raise UserError(f"lasw {line} ended with code {code}: {errors.getvalue().strip()[-300:]}")


@contextlib.contextmanager
def _made() -> Iterator[None]:
    """Inside, the working directory has text and lists for `_steps`."""
    draw = random.Random(1)
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="lasw-warm-up-") as folder:
        texts = [" ".join(draw.sample(_TEXT.split(), 12)) for _ in range(_SENTENCES)]
        for name, spoilt in (("ref", 0.0), ("hyp", 0.2), ("other", 0.4)):
            Path(folder, name).write_text("".join(_spoilt(draw, text, spoilt)[0] + "\n" for text in texts))
        Path(folder, "align").write_text("0-0 1-2 4-3 5-5 6-6 7-7 8-8\n" * _SENTENCES)
        Path(folder, "start").write_text("LM0= 1\nTM0= 1 1\n")
        for name in ("list", "sparse"):
            with open(Path(folder, name), "w") as stream:
                for k, text in enumerate(texts):
                    for _ in range(_CANDIDATES):
                        words, wrong = _spoilt(draw, text, 0.6 * draw.random())
                        more = f" X_{draw.randrange(3)}= 1 X_all= {wrong}" if name == "sparse" else ""
                        values = f"LM0= {draw.gauss(-wrong, 1):.4f} TM0= {draw.gauss(0, 1):.4f} {-len(text)}{more}"
                        stream.write(f"{k} ||| {words}  ||| {values} ||| {draw.gauss(0, 1):.4f}\n")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _spoilt(draw: random.Random, text: str, share: float) -> tuple[str, int]:
    """A text with so many of its words replaced, and how many."""
    words = [draw.choice(_TEXT.split()) if draw.random() < share else word for word in text.split()]
    return " ".join(words), sum(a != b for a, b in zip(words, text.split(), strict=True))
