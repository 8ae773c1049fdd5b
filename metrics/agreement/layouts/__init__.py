"""Judgements as they are published: the folders of mt-metrics-eval, WMT's rankings and direct assessment as CSV.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.metrics.agreement.layouts import LAYOUTS, read_marks
>>> list(LAYOUTS)
['FOLDER', '--da', '--rankings', '--marks', '--mtme']
>>> with tempfile.TemporaryDirectory() as folder:
...     (hyp := Path(folder, "hyp")).mkdir()
...     _ = Path(folder, "ref.txt").write_text("a house\\n"), Path(hyp, "online.txt").write_text("a house\\n")
...     _ = Path(folder, "da.csv").write_text("system,seg1,judge,mark\\nonline,1,x,88\\n")
...     read_marks(Path(folder, "da.csv"), folder).marks.tolist()
[[88.0]]
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.agreement.layouts.marks import read_marks
    from lasw.metrics.agreement.layouts.mtme import read_mtme
    from lasw.metrics.agreement.layouts.official import OFFICIAL
    from lasw.metrics.agreement.layouts.rankings import read_rankings
    from lasw.metrics.agreement.layouts.registry import LAYOUTS, other_layouts
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
