"""Metrics on word vectors: optimal transport (WMD, WMD_O, WE, WE_WPI) and semantic BLEU."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.embedding.wmd import check_vectors
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
