"""Time of a tuning round by loss: `lasw tune` on a Thot system, one round each, WRO.

    python tests/benchmarks/bench_losses.py --model quickstart-run/model --source quickstart-run/text/dev.source \\
        --references quickstart-run/text/dev.target --loss TER --loss WMDO:vectors=glove.bin

Without --loss, all that need no file. Wall seconds of the round's steps, as the run directory has them: decoding is the
same for all; "optimise" holds the loss (statistics of the new candidates) and the regression.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
from pathlib import Path

from lasw.metrics import read_lines
from lasw.scripts.main import main

LOSSES = ("BLEU+1", "PABC4", "TER", "WER", "PER", "CDER", "CHRF", "CHRF:words=2", "NIST", "METEOR")
LOSSES = (*LOSSES, "MIX:BLEU+1=0.5:TER=0.5")


def measure(arguments: argparse.Namespace, loss: str, folder: Path) -> str:
    """One line of the table."""
    words = ["tune", "--decoder", "thot", "--model", arguments.model, "--optimiser", "wro", "--metric", loss]
    words += ["--source", arguments.source, "--references", arguments.references, "--run", str(folder)]
    words += ["--iterations", "1", "--keep", "last", "--noise", "0", "--nbest", str(arguments.nbest), "--quiet"]
    with contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    if code:
        raise SystemExit(f"lasw tune failed with {loss}")
    record = json.loads((folder / "iterations/001/iteration.json").read_text(encoding="utf-8"))
    seconds = record["seconds"]
    parts = "  ".join(f"{seconds[step]:8.2f}" for step in ("decode", "pool", "optimise"))
    return f"{loss[:40]:40}  {parts}  {record['candidates']:10}  {100 * record['pool_bleu']:9.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "source", "references"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--loss", action="append", default=[])
    parser.add_argument("--nbest", type=int, default=100)
    given = parser.parse_args()
    print(f"{'loss':40}  {'decode':>8}  {'pool':>8}  {'optimise':>8}  {'candidates':>10}  {'pool BLEU':>9}")
    with tempfile.TemporaryDirectory() as scratch:
        few = argparse.Namespace(**vars(given))
        for side in ("source", "references"):
            lines = read_lines(getattr(given, side))[:20]
            Path(scratch, side).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            setattr(few, side, str(Path(scratch, side)))
        for number, spec in enumerate(given.loss or LOSSES):
            # A few sentences first: kernels that are compiled at first use would count as the loss's time.
            measure(few, spec, Path(scratch, f"{number}-few"))
            print(measure(given, spec, Path(scratch, f"{number}")), flush=True)
