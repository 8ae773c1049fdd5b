"""The tables of Song (2015) that need a decoder, on a part of Multi30k: German to English, Thot, from one command.

    python tests/benchmarks/thesis_tables.py --run FOLDER                   # all; hours
    python tests/benchmarks/thesis_tables.py --run FOLDER --only table-5.2  # minutes
    python tests/benchmarks/thesis_tables.py --run FOLDER --only table-5.4 --help-pages quickstart-run/packages

Thot is trained on the first 6 000 pairs, the noisy pool is the 6 000 behind them, half of them damaged, professionals
are the development text, the test set is the first 300 sentences of the test text. Development sets have --words words.
The same command goes on where it was stopped; all tables are in one comparison's folder, and rows that two tables have
are run once.

Table 5.4 is of text of another domain: LibreOffice's help, as scripts/quickstart fetched it, those of its paragraphs of
which the system knows 70 % of the words at least. 200 of them are its test set.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lasw.metrics import read_lines
from lasw.selection import Pair, read_help, split

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from damage import KINDS, damage
from thesis_runs import ALIGNED, DATA, Sections, compare, lasw, options, read, write, write_aligned

TRAINED, POOL, TESTED, HELP = ALIGNED, 6000, 300, 200
KNOWN = 0.7  # of the words of a paragraph of help
ACROSS = "table-5.4"


def main() -> None:
    """Make what is missing, then one comparison after the other."""
    parser = options(__doc__, seeds=3)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--help-pages", type=Path, metavar="FOLDER", help="unpacked packages, for table 5.4")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        print("real data is not beside the checkout (../shared/data)")
        return
    arguments.run.mkdir(parents=True, exist_ok=True)
    _make(arguments.run)
    if arguments.help_pages:
        _other_domain(arguments.run, arguments.help_pages, arguments.words)
    run = ["decoder.name=thot", "decoder.model=system", f"run.iterations={arguments.iterations}"]
    compare(
        arguments,
        lambda grid, sections: [*run, *_given(grid, sections)],
        without=() if arguments.help_pages else (ACROSS,),
    )


def _make(folder: Path) -> None:
    """Texts, their alignment, the system, and a set that is drawn from the pool."""
    train, professional, test = (read(name) for name in ("train", "dev", "test"))
    trained = [side[:TRAINED] for side in train]
    held_out = [side[TRAINED : TRAINED + POOL] for side in train]
    pool = damage(*held_out, dict.fromkeys(KINDS, 0.5 / len(KINDS)), seed=1, foreign=trained[0])
    write_aligned(folder, {"noisy": (pool.source, pool.target), "professional": professional}, trained)
    write(folder, "train", trained)
    write(folder, "test", [side[:TESTED] for side in test])
    if not (folder / "system").exists():
        lasw("train", "--source", "train.de", "--target", "train.en", "--output", "system", cwd=folder)
    files = ["--source", "noisy.de", "--target", "noisy.en", "--method", "random", "--words", "2000"]
    lasw("select", *files, "--output", "drawn", "--quiet", cwd=folder)


def _other_domain(folder: Path, pages: Path, words: int) -> None:
    """A development set and a test set of help, and one of both domains, half of each."""
    known = {word for line in read_lines(folder / "train.de") for word in line.split()}
    parts = split([pair for pair in read_help(pages) if _share(pair[0], known) >= KNOWN], dev=HELP, test=HELP)
    ours = _sides(parts.dev)
    size = sum(len(line.split()) for line in ours[0])
    lines = len(ours[0]) * words // size if size > words else len(ours[0])
    write(folder, "help", [side[:lines] for side in ours])
    write(folder, "help-test", _sides(parts.test))
    drawn = [read_lines(folder / f"drawn.{end}") for end in ("de", "en")]
    write(folder, "mixed", [a[: len(a) // 2] + b[: lines // 2] for a, b in zip(drawn, ours, strict=True)])


def _share(text: str, known: set[str]) -> float:
    words = text.split()
    return sum(word in known for word in words) / len(words)


def _sides(pairs: Sequence[Pair]) -> list[list[str]]:
    return [[pair[k] for pair in pairs] for k in range(2)]


def _given(grid: str, sections: Sections) -> Sequence[str]:
    """Development sets that are not selected, and the test set."""
    texts = {"system": "drawn", "test-like": "help", "mixed": "mixed"} if grid == ACROSS else {}
    found = []
    for name, values in sections["development"].items():
        if "select" not in values:
            text = texts.get(name, "drawn")
            found += [f"development.{name}.source={text}.de", f"development.{name}.references={text}.en"]
    test = "help-test" if grid == ACROSS else "test"
    return [*found, f"test.test.source={test}.de", f"test.test.references={test}.en"]


if __name__ == "__main__":
    main()
