"""The phrase table of a Thot system, and the part of it that a text needs.

Thot reads a line ``target ||| source ||| COUNT(target) COUNT(target, source)`` a phrase pair and adds up the rest. Its
memory and loading time grow with the table, and a text to translate needs only the pairs whose source phrase it holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import Blocks, Corpus, UserError, atomic_write
from lasw.tuning.decoders.thot.phrase_extraction import PhrasePairs, extract, phrase_texts, spans

SEPARATOR = "|||"


def write_phrase_table(
    path: str | os.PathLike[str],
    source: Corpus,
    target: Corpus,
    points: NDArray[np.int32],
    offsets: NDArray[np.int64],
    *,
    longest: int,
    best: int,
) -> int:
    """Extract the phrase pairs of aligned text and write them; the number of lines.

    Args:
        path: the file to write.
        source, target: n sentences each.
        points, offsets: their alignment, see `lasw.tuning.decoders.thot.phrase_extraction.extract`.
        longest: tokens a phrase may have.
        best: translations kept of each source phrase, the most frequent ones.
    """
    sides = (source, spans(source, longest)), (target, spans(target, longest))
    pairs = extract(*sides, points, offsets)
    kept = _most_frequent(pairs, best)
    columns = (
        phrase_texts(*sides[1], pairs.target[kept]),
        phrase_texts(*sides[0], pairs.source[kept]),
        pairs.target_count[kept].tolist(),
        pairs.count[kept].tolist(),
    )
    with atomic_write(path) as stream:
        stream.writelines(
            f"{into} {SEPARATOR} {words} {SEPARATOR} {total} {count}\n".encode()
            for into, words, total, count in zip(*columns, strict=True)
        )
    return len(kept)


def filter_phrase_table(
    path: str | os.PathLike[str], sentences: Iterable[Sequence[str]], filtered: str | os.PathLike[str], longest: int
) -> int:
    """Write the lines of a phrase table whose source phrase is in `sentences`; their number.

    Raises:
        UserError: the table cannot be read, or is cut off or damaged.
    """
    wanted = {
        " ".join(sentence[start : start + n])
        for sentence in sentences
        for n in range(1, longest + 1)
        for start in range(len(sentence) - n + 1)
    }
    kept = 0
    between = f" {SEPARATOR} "
    blocks = Blocks(os.fspath(path))
    with atomic_write(filtered) as stream:
        for block in blocks:
            every = block.text().split("\n")[:-1]
            try:
                lines = [line for line in every if line.split(between, 2)[1] in wanted]
            except IndexError:
                wrong = next(k for k, line in enumerate(every) if between not in line)
                raise _damaged(path, block.first_line + wrong) from None
            kept += len(lines)
            stream.write("".join(line + "\n" for line in lines).encode())
        if not blocks.final_newline:
            raise _damaged(path, blocks.lines)
    return kept


def _damaged(path: str | os.PathLike[str], line: int) -> UserError:
    return UserError("this phrase table is damaged or cut off here", path=path, line=line, remedy="train again")


def _most_frequent(pairs: PhrasePairs, best: int) -> NDArray[np.int64]:
    """Rows of the `best` pairs of each source phrase: by count, then those whose target phrase is rarer."""
    order = np.lexsort((pairs.target, pairs.target_count, -pairs.count, pairs.source))
    _, first = np.unique(pairs.source[order], return_index=True)
    group = np.diff(np.append(first, len(order)))
    rank = np.arange(len(order)) - np.repeat(first, group)
    return np.asarray(order[rank < best], dtype=np.int64)
