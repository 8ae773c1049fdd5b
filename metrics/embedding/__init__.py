"""Metrics on word vectors: optimal transport (WMD, WMD_O, WE, WE_WPI) and semantic BLEU."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.embedding.wmd import check_vectors
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
