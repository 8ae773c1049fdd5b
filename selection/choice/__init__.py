"""Choosing from a pool: the best pairs in bounded memory, taken if they are unlike those before (algorithm 4.1).

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.selection import Bitext, Diversity, LAScorer, choose, collector
>>> with tempfile.TemporaryDirectory() as folder:
...     table = Path(folder, "pool.tsv")
...     _ = table.write_text("ein haus am see\\ta house by the lake\\nein baum im wald\\ta tree in the wood\\n")
...     scorer = LAScorer(("a", "the"), low=2, high=9, aligned=False)
...     selection = choose(collector(Bitext(str(table), columns=(1, 2)), scorer), words=4, diversity=Diversity(0.3))
>>> selection.chosen.source.texts(), selection.words
(['ein haus am see'], 4)
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.selection.choice.candidates import BIN, REJECTED, Candidates, Collection, Profile, score_bins
    from lasw.selection.choice.distributed import collector, counted
    from lasw.selection.choice.diversity import Diversity
    from lasw.selection.choice.la import WORDS, Collect, Selection, choose
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
