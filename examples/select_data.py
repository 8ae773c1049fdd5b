"""Choose the sentence pairs of a pool to tune on: well translated, long enough, unlike each other.

python examples/select_data.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from lasw.selection import Bitext, Diversity, LAScorer, select, write_selection

# Parallel text with word alignment (source-target places), as 'lasw align' makes it. The second pair is the first one
# again but for a word, the third is no translation, the last has words without a partner.
pairs = [
    (
        "der alte Mann liest ein Buch im Garten",
        "the old man reads a book in the garden",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6 6-7 7-8",
    ),
    (
        "der alte Mann liest ein Buch im Haus",
        "the old man reads a book in the house",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6 6-7 7-8",
    ),
    ("wir fahren morgen mit dem Zug nach Wien", "click here to see all offers now", ""),
    (
        "meine Schwester kauft heute zwei neue Fahrraeder",
        "my sister buys two new bicycles today",
        "0-0 1-1 2-2 3-6 4-3 5-4 6-5",
    ),
    (
        "das Wetter wird am Sonntag wieder besser",
        "the weather will get better again on Sunday",
        "0-0 1-1 2-2 2-3 3-6 4-7 5-5 6-4",
    ),
    ("ja das ist gut", "yes that is good", "0-0 1-1 2-2 3-3"),
    ("er hat gestern leider seinen Schluessel verloren", "he lost his key", "0-0 6-1 4-2 5-3"),
]

with TemporaryDirectory() as folder:
    paths = [Path(folder, name) for name in ("pool.de", "pool.en", "pool.align")]
    for path, lines in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    # LA selection prefers pairs whose words are aligned, function words as well; it stops at so many source words.
    scorer = LAScorer(("the", "a", "in", "on", "to"), low=5, high=20)
    selection = select(Bitext(*paths), words=26, la=scorer, diversity=Diversity(threshold=0.6))
    for line, source in zip(selection.chosen.line, selection.chosen.source.texts(), strict=True):
        print(f"line {line}: {source}")
    print(f"{len(selection)} pairs, {selection.words} source words; rejected: {dict(selection.reasons)}")
    write_selection(Path(folder, "dev"), selection, ("de", "en"))
    print("written:", *sorted(path.name for path in Path(folder).glob("dev*")))
