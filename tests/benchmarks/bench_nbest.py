"""N-best lists from disk to features and BLEU statistics: CPU seconds, one core, warm caches.

    python tests/benchmarks/bench_nbest.py [FOLDER_WITH_LISTS REFERENCES]

Peers: Moses' extractor, 1.3-1.6 s for the same list on a machine of this kind (recorded, not run here), and a plain
Python parser with sacreBLEU's statistics on the first 2000 lines, run here.
"""

from __future__ import annotations

import gzip
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from sacrebleu.metrics import BLEU

from lasw.metrics import Blocks, References, Vocabulary, metric, read_corpus, read_lines
from lasw.tuning import Pool, read_nbest, stream_nbest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
EXTRACTOR = (1.3, 1.6)
REPEATS = 5
SAMPLE = 2000


def cpu(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median CPU seconds of `work`, which runs once before for the caches."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def show(name: str, seconds: float, remark: str = "") -> None:
    """One line of the table."""
    print(f"  {name:<22}{seconds:8.3f} s  {remark}")


def peer(lines: list[str], references: list[str]) -> list[tuple[list[float], list[float]]]:
    """Features and BLEU statistics as one would write it in an afternoon."""
    bleu = BLEU(tokenize="none", force=True)
    rows = []
    for line in lines:
        owner, text, features, _ = line.split("|||")
        values = [float(token) for token in features.split() if not token.endswith("=")]
        rows.append((values, bleu._extract_corpus_statistics([text.strip()], [[references[int(owner)]]])[0]))
    return rows


def peak_memory(plain: str, references: str) -> int:
    """Bytes that reading takes at its peak, on top of what the process holds before (Linux only)."""
    code = (
        "import sys\n"
        "from lasw.metrics.text.references import References\n"
        "from lasw.metrics.registry.metrics import metric\n"
        "from lasw.metrics.text.corpus import read_corpus\n"
        "from lasw.tuning.formats.nbest.reader import read_nbest\n"
        "def peak():\n"
        "    return int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) * 1024\n"
        "bleu = metric('PGBC4')\n"
        "refs = References((read_corpus(sys.argv[2]),))\n"
        "prepared = bleu.prepare(refs)\n"
        "open('/proc/self/clear_refs', 'w').write('5')\n"  # the peak starts again from here
        "before = peak()\n"
        "nbest = read_nbest(sys.argv[1], refs.vocabulary)\n"
        "kept = bleu.statistics(nbest.hypotheses, prepared, nbest.owner)\n"
        "print(peak() - before)\n"
    )
    command = [sys.executable, "-c", code, plain, references]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "moses" / "de-en"
    reference_path = sys.argv[2] if len(sys.argv) > 2 else str(DATA / "multi30k" / "dev.en.gz")
    packed = sorted(folder.glob("run*.best100.out.gz"))
    references = References((read_corpus(reference_path),))
    bleu = metric("PGBC4")
    prepared = bleu.prepare(references)

    def statistics_of_one(path: str) -> None:
        nbest = read_nbest(path, references.vocabulary)
        bleu.statistics(nbest.hypotheses, prepared, nbest.owner)

    def pool_of_all() -> Pool:
        pool = Pool(References((read_corpus(reference_path, Vocabulary()),)))
        for path in packed:
            for block in stream_nbest(path, pool.references.vocabulary):
                pool.add(block)
        pool.statistics(bleu)
        return pool

    with tempfile.TemporaryDirectory() as temporary:
        plain = str(Path(temporary) / "nbest")
        Path(plain).write_bytes(gzip.decompress(packed[0].read_bytes()))
        size = Path(plain).stat().st_size
        lines = read_lines(plain)
        nbest = read_nbest(plain, references.vocabulary)
        seconds = cpu(lambda: statistics_of_one(plain))
        print(f"one list, {len(lines)} lines, {size / 1e6:.1f} MB, to features and BLEU statistics")
        show("all", seconds, f"{len(lines) / seconds:,.0f} lines/s, {size / seconds / 1e6:.0f} MB/s")
        show("file in blocks", cpu(lambda: [len(block.data) for block in Blocks(plain)]))
        show("text to features", cpu(lambda: read_nbest(plain, references.vocabulary)), "blocks included")
        show("statistics", cpu(lambda: bleu.statistics(nbest.hypotheses, prepared, nbest.owner)))
        show("from gz", cpu(lambda: statistics_of_one(str(packed[0]))))
        low, high = EXTRACTOR
        print(f"  Moses' extractor      {low}-{high} s recorded, {low / seconds:.1f}-{high / seconds:.1f} times ours")
        texts = [references.corpora[0].text(k) for k in range(len(references))]
        sample = cpu(lambda: peer(lines[:SAMPLE], texts), 1) * len(lines) / SAMPLE
        show("Python and sacreBLEU", sample, f"from {SAMPLE} lines, {sample / seconds:.0f} times ours")
        more = peak_memory(plain, reference_path)
        print(f"  peak memory           {more / 1e6:8.0f} MB on top of the program's, {more / size:.1f} times the file")
    print(f"{len(packed)} compressed lists to a pool with BLEU statistics")
    show("all", cpu(pool_of_all, 3), f"{len(pool_of_all())} candidates")
    show("zlib alone", cpu(lambda: [zlib.decompress(path.read_bytes(), 31) for path in packed], 3))


if __name__ == "__main__":
    main()
