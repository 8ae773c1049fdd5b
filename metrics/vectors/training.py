"""Training word vectors from plain text with gensim, and writing them.

Training runs in one thread, because with several the result depends on which is faster.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.errors import UserError, unknown
from lasw.metrics.text import Blocks, ScratchFolder, atomic_write, tokens
from lasw.metrics.vectors.base import VectorFile
from lasw.metrics.vectors.packed import write_packed

MODELS = ("skip-gram", "cbow", "fasttext")
FORMATS = ("packed", "text", "binary", "fasttext")
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Training:
    """How word vectors are trained; gensim's defaults are the last three's.

    Args:
        model: ``skip-gram``, ``cbow`` (Mikolov et al. 2013), or ``fasttext``, skip-gram over character n-grams
            (Bojanowski et al. 2017).
        size: of a vector.
        window: words on each side that count as context.
        min_count: rarer words get no vector.
        epochs: passes over the text.
        negative: noise words drawn per word.
        seed: of what is drawn.
    """

    model: str = "skip-gram"
    size: int = 100
    window: int = 5
    min_count: int = 5
    epochs: int = 5
    negative: int = 5
    seed: int = 1

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise unknown("model", self.model, list(MODELS))

    def run(self, text: Text) -> Any:
        """Train; gensim's model.

        Raises:
            UserError: the text cannot be read, or has no word often enough.
        """
        from gensim.models import FastText, Word2Vec

        family = FastText if self.model == "fasttext" else Word2Vec
        model: Any = family(
            vector_size=self.size,
            window=self.window,
            min_count=self.min_count,
            sg=int(self.model != "cbow"),
            negative=self.negative,
            seed=self.seed,
            workers=1,
        )
        model.build_vocab(text)
        if not len(model.wv):
            found = f"no word stands there {self.min_count} times" if self.min_count > 1 else "no word"
            remedy = "lower --min-count" if self.min_count > 1 else None
            raise UserError(found, path=text.paths[0], remedy=remedy)
        model.train(text, total_examples=model.corpus_count, epochs=self.epochs)
        return model


@dataclass(frozen=True)
class Text:
    """Sentences as lists of tokens, read from files anew every time they are gone through."""

    paths: tuple[str, ...]
    preprocess: Callable[[str], str] | None = None
    encoding: str = "utf-8"

    def __iter__(self) -> Iterator[list[str]]:
        for path in self.paths:
            for block in Blocks(path, self.encoding):
                for line in block.text().split("\n")[:-1]:
                    yield tokens(self.preprocess(line) if self.preprocess else line)


def write_vector_model(path: str | os.PathLike[str], model: Any, layout: str) -> None:
    """Write what was trained; ``fasttext`` keeps the character n-grams, so that unknown words have vectors.

    Raises:
        UserError: `layout` is none of `FORMATS`, or ``fasttext`` is asked for of a model without n-grams.
    """
    if layout != "fasttext":
        write_vectors(path, [word.encode() for word in model.wv.index_to_key], model.wv.vectors, layout)
        return
    if not hasattr(model.wv, "vectors_ngrams"):
        raise UserError("format fasttext is of models with n-grams", remedy="train with --model fasttext")
    from gensim.models.fasttext import save_facebook_model

    with ScratchFolder("lasw-vectors-") as scratch:
        whole = os.path.join(scratch, "model.bin")
        save_facebook_model(model, whole)
        with open(whole, "rb") as source, atomic_write(path) as stream:
            shutil.copyfileobj(source, stream)


def write_vectors(
    path: str | os.PathLike[str], words: Sequence[bytes], vectors: NDArray[np.float32], layout: str
) -> None:
    """Write n words and their vectors (n, d): ``packed``, or word2vec ``text`` or ``binary`` (``.gz``: compressed).

    Raises:
        UserError: `layout` is none of these, or the file cannot be written.
    """
    if layout == "packed":
        if os.fspath(path).endswith(".gz"):
            raise UserError("a packed file is read in place", path=path, remedy="give a name that ends otherwise")
        write_packed(path, words, vectors)
        return
    if layout not in ("text", "binary"):
        raise unknown("format", layout, ["packed", "text", "binary"])
    with atomic_write(path) as stream:
        stream.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors, strict=True):
            if layout == "binary":
                stream.write(word + b" " + vector.astype("<f4").tobytes() + b"\n")
            else:
                # The shortest digits that read as the same single-precision number.
                stream.write(word + b" " + b" ".join(str(x).encode() for x in vector.astype(np.float32)) + b"\n")


def selected(file: VectorFile, wanted: Sequence[str] | None) -> tuple[list[bytes], NDArray[np.float32]]:
    """Words of a file and their vectors: those of `wanted` that it has, or all, each once.

    Raises:
        UserError: a vector is not all numbers, or nothing of what is wanted is there.
    """
    rows = np.arange(len(file), dtype=np.int64) if wanted is None else file.find(wanted)
    rows = np.unique(rows[rows >= 0])
    words = [file.word(row).encode() for row in rows.tolist()]
    kept = [k for k, word in enumerate(words) if word]  # a word that was repeated has no name there
    if not kept:
        raise UserError("none of the words has a vector", path=file.path)
    vectors = np.empty((len(kept), file.size), dtype=np.float32)
    for k in range(0, len(kept), _ROWS_AT_ONCE):
        vectors[k : k + _ROWS_AT_ONCE] = file.rows(rows[kept[k : k + _ROWS_AT_ONCE]])
    return [words[k] for k in kept], vectors
