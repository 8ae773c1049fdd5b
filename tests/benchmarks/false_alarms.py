"""Whether commands find fault with real text: every door where texts meet, over all data that is here.

Prints what was said, a line each, and ends with 1 if it was a warning or an error: nearly all of these texts are what
they seem, and what is true of the others stands in `TRUE`. Lines that are no warnings (how many words have vectors) are
counted only.

Run: python tests/benchmarks/false_alarms.py [DATA]   (some minutes)
"""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lasw.scripts.main import main as lasw

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TRUE = (
    "the weights stay as they are",  # of lists of four sentences
    "seg_da: 21 of 4035 tokens are escaped as Moses' tokeniser does it",  # of WMT17 cs-en: one wrote &apos;
)
WAYS = ("", "--lowercase", "--tokenize 13a", "--lowercase --tokenize 13a", "--unescape", "--strip-marks")


def lists(data: Path) -> Iterator[str]:
    """N-best lists and references, in all ways to prepare both; small lists of all layouts."""
    text = data / "multi30k"
    weights = data / "moses" / "de-en" / "run1.moses.ini"
    references = f"--references {text}/dev.en.gz"
    found = sorted((data / "moses" / "de-en").glob("*.best100.out.gz"))
    for path in found:
        yield from (f"optimise --optimiser mira {references} {way} --output w.json {path}" for way in WAYS)
        yield f"rerank --weights {weights} {path}"
    for path in sorted((data / "moses" / "variants").glob("*.nbest")):
        segments = 1 + max(int(line.split(" ", 1)[0]) for line in path.read_text(encoding="utf-8").splitlines())
        with gzip.open(text / "dev.en.gz", "rt", encoding="utf-8") as stream:
            Path("some").write_text("".join(itertools.islice(stream, segments)), encoding="utf-8")
        yield f"optimise --optimiser expected --references some --output w.json {path}"
    source = f"--source {text}/dev.de.gz --start {weights}"
    yield f"local train {references} {source} --setting bleu --try bleu --output samples {found[0]}"
    for side in ("dev", "test", "train"):
        yield f"local weights --samples samples --source {text}/{side}.de.gz --output local.npz"


def systems(data: Path) -> Iterator[str]:
    """Systems and references, in all ways; with word vectors; sets of judgements."""
    vectors = f"WMD:vectors={unpacked(data / 'vectors' / 'glove-6b-50d-subset.bin.gz')}"
    for folder in sorted([*data.glob("wmt11/*"), *data.glob("wmt13/*")]):
        one = f"--references {folder}/ref.txt.gz {' '.join(map(str, sorted((folder / 'hyp').iterdir())))}"
        yield from (f"score --metric BLEU {way} {one}" for way in WAYS)
        yield f"score --metric {vectors} --lowercase --tokenize 13a {one}"
        yield from (f"agree --metric BLEU+1 {way} {folder}" for way in WAYS)
    for path in sorted(data.glob("wmt17/*/seg_da.tsv.gz")):
        yield from (f"agree --metric BLEU+1 {way} --da {path}" for way in WAYS)
        yield f"agree --metric {vectors} --lowercase --tokenize 13a --da {path}"
    train = " ".join(f"--data {folder}" for folder in sorted(data.glob("wmt13/*")))
    yield f"train-metric combine --metric TER --metric BLEU+1 {train} --output model.json"


def parallel(data: Path) -> Iterator[str]:
    """Texts and their translations."""
    text = data / "multi30k"
    for name in ("train", "dev", "test"):
        sides = f"--source {text}/{name}.de.gz --target {text}/{name}.en.gz"
        yield f"select {sides} --test-source {text}/test.de.gz --method tfidf --words 500 --output chosen-{name}"
        if name != "train":  # which takes minutes, for the same look
            yield f"align {sides} --iterations 1 --output {name}.align"
            yield f"train {sides} --iterations 1 --output model-{name}"


def unpacked(path: Path) -> str:
    """A copy without compression, in the working directory."""
    Path("vectors.bin").write_bytes(gzip.decompress(path.read_bytes()))
    return "vectors.bin"


def said(command: str) -> tuple[int, list[str]]:
    """How a command ended, and its lines on stderr."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = lasw(command.split())
    return code, err.getvalue().splitlines()


def main() -> int:
    """Print the alarms; 1 if there are any."""
    data = Path(sys.argv[1] if len(sys.argv) > 1 else DATA).resolve()
    alarms = commands = lines = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for command in (line for part in (lists, systems, parallel) for line in part(data)):
            code, told = said(command)
            warned = [line for line in told if code or ("warning:" in line and not any(true in line for true in TRUE))]
            commands, lines, alarms = commands + 1, lines + len(told), alarms + len(warned)
            for line in warned:
                print(f"{' '.join(command.replace(f'{data}/', '').split()[:12])} ...\n    {line}", flush=True)
        os.chdir("/")
    print(f"{commands} commands, {lines} lines on stderr, {alarms} of them warnings or errors")
    return int(alarms > 0)


if __name__ == "__main__":
    sys.exit(main())
