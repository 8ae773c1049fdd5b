"""Every metric's agreement with people on WMT13 and WMT17: ``python tests/benchmarks/agreement_table.py``.

Signatures stand below the numbers. Needs the real data beside the checkout. Text is tokenised by sacreBLEU's 13a and
lower-cased, as the word vectors are. ROSE, combinations and pairwise networks are trained on WMT11, of whose segments
the numbers were inferred with BLEU: see the data's README; with ``--models FOLDER`` they stay there and are not trained
again. More metrics are arguments; so are options of `lasw agree`:

    python tests/benchmarks/agreement_table.py --sets wmt17 -m CHRF:chars=4 --significance

With ``--today`` it prints what the metrics tasks report today, tested by exchanging scores: accuracy of pairs with
calibrated ties, pairwise accuracy of systems, clusters, mean ranks; and the advice of `lasw agree --report`.
"""

from __future__ import annotations

import argparse
import gzip
import re
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

from lasw.scripts.main import main

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TEXT = ["--tokenize", "13a", "--lowercase"]
NGRAMS = ["BLEU+1", "PABC3:alpha=0", "PABC4:alpha=3", "RAC1:alpha=0", "RABC2:alpha=0", "NIST", "METEOR", "CHRF"]
NGRAMS += ["CHRF:words=2", "WER", "PER", "CDER", "TER"]
# Each behind what it improves on.
WITH_VECTORS = ["WMD:vectors={}", "WMDO:vectors={}", "WE:vectors={}", "WEWPI:vectors={}", "SRBLEU:vectors={}"]
_METRICS = {"rose": "ROSE", "combine": "COMBINATION", "pairwise": "PAIRWISE"}
TODAY = dict.fromkeys(("wmt11", "wmt13"), "acc-eq,tau13,pairwise-accuracy,pearson")
TODAY |= {"wmt17": "acc-eq,pearson,pairwise-accuracy"}


def judgements(name: str) -> list[str]:
    """The arguments that name one year's data."""
    folders = sorted(path for path in (DATA / name).iterdir() if path.is_dir())
    tables = [str(folder / "seg_da.tsv.gz") for folder in folders if (folder / "seg_da.tsv.gz").exists()]
    return ["--da", *tables] if tables else [*map(str, folders)]


def trained(folder: Path, vectors: Path) -> list[str]:
    """The specifications of metrics trained on WMT11."""
    specs = []
    skip = ["--skip", "METEOR", "TER", "NIST", "BLEUCOMP", "--networks", "3", "--vectors", str(vectors)]
    for name, action, options, more in (
        ("rose", "rose", [], ""),
        ("rose-characters", "rose", ["--characters", "3"], ""),
        ("chrf-wmdo", "combine", ["-m", "CHRF", "-m", f"WMDO:vectors={vectors}"], ":files=yes"),
        ("chrf2-wmdo", "combine", ["-m", "CHRF:chars=2:beta=4", "-m", f"WMDO:vectors={vectors}"], ":files=yes"),
        ("pairwise", "pairwise", skip, ":files=yes"),
    ):
        model = folder / f"{name}.json"
        data = ["--data", *judgements("wmt11"), *TEXT, "--quiet"]
        if not model.exists():
            run(["train-metric", action, *options, *data, "--output", str(model)])
        specs.append(f"{_METRICS[action]}:model={model}{more}")
    return specs


def unpacked_vectors(folder: Path) -> Path:
    """Word vectors as a file that can be mapped."""
    packed = next((DATA / "vectors").glob("*.bin.gz"))
    path = folder / packed.stem
    if not path.exists():
        part = path.with_suffix(".part")
        with gzip.open(packed, "rb") as source, part.open("wb") as target:
            shutil.copyfileobj(source, target)
        part.rename(path)
    return path


def run(arguments: list[str]) -> None:
    """One command line, with its CPU seconds."""
    print("$ lasw", shlex.join(arguments), flush=True)
    start = time.process_time()
    if main(arguments):
        sys.exit(1)
    print(f"({time.process_time() - start:.1f} CPU seconds)\n", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=("wmt11", "wmt13", "wmt17"), default=["wmt13", "wmt17"])
    parser.add_argument("--only", nargs="+", metavar="SPEC", help="these metrics instead of all")
    parser.add_argument("--trained", action="store_true", help="those of --only, and the trained ones behind them")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="where trained metrics stay")
    parser.add_argument("--today", action="store_true", help="today's statistics, clusters, and what to tune with")
    own, others = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as temporary:
        models = own.models or Path(temporary)
        models.mkdir(parents=True, exist_ok=True)
        vectors = unpacked_vectors(models)
        specs = [spec.format(vectors) for spec in own.only or [*NGRAMS, *WITH_VECTORS]]
        specs += trained(models, vectors) if own.trained or not own.only else []
        wanted = [word for spec in specs for word in ("-m", spec)]
        for name in own.sets:
            if own.today:
                page = Path(temporary) / "report.html"
                today = ["--statistics", TODAY[name], "--test", "perm-both", "--report", str(page)]
                run(["agree", *wanted, *TEXT, *today, *others, *judgements(name)])
                for sentence in re.findall(r"<p>(<strong>.*?)</p>", page.read_text(encoding="utf-8")):
                    print(re.sub("<[^>]*>", "", sentence))
            else:
                run(["agree", *wanted, *TEXT, *others, *judgements(name)])
