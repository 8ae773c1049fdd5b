"""Tuned systems side by side: a grid of optimisers, losses, development sets and seeds, tuned, tested and compared.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.tuning import compare, read_comparison
>>> with tempfile.TemporaryDirectory() as folder:
...     grid, lists, references = (Path(folder, name) for name in ("grid.toml", "dev.nbest", "dev.en"))
...     _ = references.write_text("a b c d e\\n")
...     _ = lists.write_text("0 ||| b a c d e ||| LM= 1 TM= 0 ||| 1\\n0 ||| a b c d e ||| LM= 0 TM= 2 ||| 2\\n")
...     _ = grid.write_text(
...         f"[comparison]\\nseeds = [1, 2, 3]\\nmeasures = ['WER']\\nsamples = 10\\n"
...         f"[development.dev]\\nreferences = ['{references}']\\nlists = ['{lists}']\\n"
...         f"[system.untuned]\\noptimiser = 'none'\\n[system.MERT]\\noptimiser = 'mert'\\n"
...     )
...     compared = compare(read_comparison(str(grid)), Path(folder, "run"))
>>> [(row["row"], row["cells"][0]["mean"]) for row in compared.table["rows"]]
[('untuned', 40.0), ('MERT', 0.0)]
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.tuning.comparison.reading import COMPARISON, read_comparison
    from lasw.tuning.comparison.settings import PoolFiles
    from lasw.tuning.comparison.table import table_text
    from lasw.tuning.comparison.whole import compare
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
