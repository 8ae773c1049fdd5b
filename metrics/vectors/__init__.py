"""Word vectors: files of many programs, training, nearest neighbours."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.vectors.base import VectorFile
    from lasw.metrics.vectors.coverage import Coverages, Sees, check_evaluation
    from lasw.metrics.vectors.files import open_vectors
    from lasw.metrics.vectors.neighbours import nearest
    from lasw.metrics.vectors.training import (
        FORMATS, MODELS, Text, Training, selected, write_vector_model, write_vectors,
    )
    from lasw.metrics.vectors.vectors import (
        Embedding, EmbeddingArrays, UnknownWords, described, embedding_of, inner, squared,
    )
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
