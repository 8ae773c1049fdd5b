"""Word vectors: files of many programs, training, nearest neighbours.

>>> import tempfile
>>> from pathlib import Path
>>> import numpy as np
>>> from lasw.metrics import nearest, open_vectors
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "vectors.txt")
...     _ = path.write_text("dog 1 0\\nhound 0.9 0.1\\ntree 0 1\\n")
...     rows, cosines = nearest(open_vectors(path), np.array([0]), 2)
>>> rows.tolist(), cosines.round(3).tolist()
([[1, 2]], [[0.994, 0.0]])
"""

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
