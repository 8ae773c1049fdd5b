"""Metrics on word vectors: optimal transport (WMD, WMD_O, WE, WE_WPI) and semantic BLEU.

>>> import tempfile
>>> from pathlib import Path
>>> from lasw.metrics import Evaluation, metric
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "vectors.txt")
...     _ = path.write_text("dog 1 0\\nhound 0.9 0.1\\ntree 0 1\\n")
...     wmd = metric(f"WMD:vectors={path}")
...     near, far = Evaluation.from_lines(["dog"], ["hound"], ["tree"]).corpus_scores(wmd)
>>> bool(near > far)
True
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.embedding.wmd import check_vectors
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
