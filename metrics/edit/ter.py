"""TER, the translation edit rate (Snover et al. 2006): words inserted, deleted, substituted, and blocks shifted.

The edits are those that sacreBLEU counts (its `TER(case_sensitive=True)` on text that is tokenised already), with
Tercom's greedy search for shifts and its limits: blocks of up to 10 words, moved by up to 50, a beam of 25 cells around
the diagonal, 1000 shifts looked at.

Rows are words of the hypothesis, columns words of the reference. A row holds the cells from `low` to `high` around the
diagonal (the beam), W cells apart from the next row; a cell outside counts as infinite. A shifted hypothesis has the
rows of the current one up to its first changed word, so only the rest is computed, and only as long as some cell can
still lead to a smaller distance than the best shift so far; a shift that gains nothing is never made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.edit.edits import EditRate
from lasw.metrics.kernels import borrowing, nested
from lasw.metrics.ngram import Pairs

# Limits of sacreBLEU, the first three Tercom's.
MAX_SHIFT_SIZE = 10
MAX_SHIFT_DISTANCE = 50
BEAM = 25
MAX_CANDIDATES = 1000

_FAR = 1 << 29


class TranslationEditRate(EditRate):
    """TER; settings, statistics and what is shown are those of every `EditRate`."""

    name = "TER"

    def count(self, pairs: Pairs, out: NDArray[np.int32]) -> None:
        """Shifts and edits."""
        rows = pairs.rows
        if not len(rows):
            return
        sizes, lengths = pairs.hypotheses.lengths[rows], pairs.references.lengths[pairs.owner[rows]].max(axis=1)
        tokens = int(max(sizes.max(), lengths.max())) + 1
        # The beam is wider where a reference is more than 50 times as long as the hypothesis.
        widths = 2 * (np.ceil(lengths / np.maximum(sizes, 1) / 2).astype(np.int64) + BEAM) + 2
        _shift_edits(
            *pairs.arrays,
            np.empty(int(((sizes + 2) * widths).max()), dtype=np.int32),
            np.empty((2, tokens + int(widths.max())), dtype=np.int32),
            np.empty((3, tokens), dtype=np.int32),
            np.zeros((3, tokens + 1), dtype=np.int32),
            np.zeros((2, tokens + 1), dtype=np.int32),
            out,
        )


@nested
def _beams(size, length, beams):  # type: ignore[no-untyped-def]
    """Fill `beams`: where each row begins and ends, row 0 in full; the cells from one row to the next."""
    ratio = length / size
    beam = int(np.ceil(ratio / 2 + BEAM)) if ratio / 2 > BEAM else BEAM
    for i in range(1, size + 1):
        diagonal = int(np.floor(i * ratio))
        beams[0, i] = max(0, diagonal - beam)
        beams[1, i] = min(length + 1, diagonal + beam)
    beams[0, 0] = 0
    beams[1, 0] = beams[1, size] = length + 1
    return 2 * beam + 2


@borrowing
def _shift_edits(ids, offsets, owner, rows, reference_ids, reference_offsets, cells, lines, words, places, beams, out):  # type: ignore[no-untyped-def]
    """out[k, r]: shifts and edits between hypothesis rows[k] and its reference r.

    Scratch: `cells`, the rows of one pair; `lines` (2, W); `words` (3, tokens); `places` (3, tokens + 1); `beams`
    (2, tokens + 1); tokens being those of the longest text.
    """
    for k in range(rows.shape[0]):
        start = offsets[rows[k]]
        size = offsets[rows[k] + 1] - start
        s = owner[rows[k]]
        for r in range(reference_offsets.shape[0]):
            first = reference_offsets[r, s]
            length = reference_offsets[r, s + 1] - first
            if length == 0 or size == 0:
                out[k, r] = max(length, size)
                continue
            for i in range(size):
                words[0, i] = ids[start + i]
            for j in range(length):
                words[2, j] = reference_ids[first + j]
            out[k, r] = _edits(words, size, length, cells, lines, places, beams)


@nested
def _edits(words, size, length, cells, lines, places, beams):  # type: ignore[no-untyped-def]
    """Shifts until none reduces the distance, and the distance then left."""
    width = _beams(size, length, beams)
    shifts = np.int64(0)
    candidates = np.int64(0)
    changed = np.int64(0)
    while True:
        distance = _fill(words, size, length, beams, width, cells, changed)
        if distance == 0:
            return shifts
        _align(words, size, length, beams, width, cells, places)
        gain, start, moved, target, candidates = _best_shift(
            words, size, length, beams, width, cells, lines, places, distance, candidates
        )
        if candidates >= MAX_CANDIDATES or gain <= 0:
            return shifts + distance
        shifts += 1
        changed, end = _shifted(words, size, start, moved, target)
        for i in range(changed, end):
            words[0, i] = words[1, i]


@nested
def _fill(words, size, length, beams, width, cells, changed):  # type: ignore[no-untyped-def]
    """Rows `changed` + 1 and on; the distance. Row 0 is not stored."""
    for i in range(changed + 1, size + 1):
        word = words[0, i - 1]
        low, high = np.int64(beams[0, i]), np.int64(beams[1, i])
        before_low, before_high = np.int64(beams[0, i - 1]), np.int64(beams[1, i - 1])
        row = i * width - low
        above = (i - 1) * width - before_low
        left = np.int64(_FAR)
        diagonal = np.int64(_FAR)
        if low > before_low and low - 1 < before_high:
            diagonal = np.int64(cells[above + low - 1]) if i > 1 else np.int64(low - 1)
        for j in range(low, high):
            up = np.int64(_FAR)
            if j < before_high:
                up = np.int64(cells[above + j]) if i > 1 else np.int64(j)
            best = min(up, left) + 1
            if j > 0:
                best = min(best, diagonal + (word != words[2, j - 1]))
            cells[row + j] = best
            left = best
            diagonal = up
    return np.int64(cells[size * width - beams[0, size] + length])


@nested
def _cell(i, j, beams, width, cells):  # type: ignore[no-untyped-def]
    if i == 0:
        return np.int64(j)
    if j < beams[0, i] or j >= beams[1, i]:
        return np.int64(_FAR)
    return np.int64(cells[i * width - beams[0, i] + j])


@nested
def _align(words, size, length, beams, width, cells, places):  # type: ignore[no-untyped-def]
    """Fill `places`: 0, per reference word the hypothesis word it is aligned to, or before it, -1 before the first;
    1 and 2, errors among the first words of the reference and of the hypothesis.

    Of equally good edits a substitution or none goes first, then what the hypothesis has too much, then what it lacks.
    """
    i, j = size, length
    while i > 0 or j > 0:
        here = _cell(i, j, beams, width, cells)
        if i > 0 and j > 0:
            wrong = np.int64(words[0, i - 1] != words[2, j - 1])
            if _cell(i - 1, j - 1, beams, width, cells) + wrong == here:
                i -= 1
                j -= 1
                places[0, j] = i
                places[1, j + 1] = wrong
                places[2, i + 1] = wrong
                continue
        if i > 0 and _cell(i - 1, j, beams, width, cells) + 1 == here:
            i -= 1
            places[2, i + 1] = 1
        else:
            j -= 1
            places[0, j] = i - 1
            places[1, j + 1] = 1
    places[1, 0] = places[2, 0] = 0
    for j in range(length):
        places[1, j + 1] += places[1, j]
    for i in range(size):
        places[2, i + 1] += places[2, i]


@nested
def _best_shift(words, size, length, beams, width, cells, lines, places, distance, candidates):  # type: ignore[no-untyped-def]
    """The shift that gains most; of equal ones the longest, the earliest, the one with the earliest target.

    Returns:
        Its gain (0: there is none), first word, number of words and target, and the shifts looked at so far.
    """
    best, best_start, best_size, best_target = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for start in range(size):
        for there in range(max(0, start - MAX_SHIFT_DISTANCE), min(length, start + MAX_SHIFT_DISTANCE + 1)):
            moved = np.int64(0)
            while (
                moved < MAX_SHIFT_SIZE
                and start + moved < size
                and there + moved < length
                and words[0, start + moved] == words[2, there + moved]
            ):
                moved += 1
                if places[2, start + moved] == places[2, start] or places[1, there + moved] == places[1, there]:
                    continue
                if start <= places[0, there] < start + moved:
                    continue
                before = np.int64(-1)
                for j in range(there - 1, there + moved):
                    target = np.int64(0) if j < 0 else np.int64(places[0, j]) + 1
                    if target == before:
                        continue
                    before = target
                    candidates += 1
                    wanted = best + 1
                    if best > 0 and (
                        moved > best_size
                        or (
                            moved == best_size
                            and (start < best_start or (start == best_start and target < best_target))
                        )
                    ):
                        wanted = best
                    changed, end = _shifted(words, size, start, moved, target)
                    reached = _distance(
                        words, size, length, beams, width, cells, lines, changed, end, distance - wanted
                    )
                    if distance - reached >= wanted:
                        best, best_start, best_size, best_target = distance - reached, np.int64(start), moved, target
                if candidates >= MAX_CANDIDATES:
                    return best, best_start, best_size, best_target, candidates
    return best, best_start, best_size, best_target, candidates


@nested
def _shifted(words, size, start, moved, target):  # type: ignore[no-untyped-def]
    """Write to words[1] those words that a shift changes; the first of them, and the one behind the last."""
    if target < start:
        first, end = target, start + moved
        for i in range(moved):
            words[1, target + i] = words[0, start + i]
        for i in range(target, start):
            words[1, i + moved] = words[0, i]
        return first, end
    # Behind where it was, or by `target - start` words further if the target lies inside of what is moved.
    end = min(size, target if target > start + moved else target + moved)
    gap = end - start - moved
    for i in range(gap):
        words[1, start + i] = words[0, start + moved + i]
    for i in range(moved):
        words[1, start + gap + i] = words[0, start + i]
    return start, end


@nested
def _distance(words, size, length, beams, width, cells, lines, changed, end, limit):  # type: ignore[no-untyped-def]
    """Distance of the hypothesis with words `changed` to `end` as words[1] has them; far if it is above `limit`."""
    flip = 0
    for i in range(changed + 1, size + 1):
        word = words[1, i - 1] if i <= end else words[0, i - 1]
        low, high = np.int64(beams[0, i]), np.int64(beams[1, i])
        before_low, before_high = np.int64(beams[0, i - 1]), np.int64(beams[1, i - 1])
        if i == changed + 1:
            for j in range(before_low, before_high):
                lines[flip, j - before_low] = cells[(i - 1) * width + j - before_low] if i > 1 else j
        left = np.int64(_FAR)
        diagonal = np.int64(_FAR)
        if low > before_low and low - 1 < before_high:
            diagonal = np.int64(lines[flip, low - 1 - before_low])
        least = np.int64(_FAR)
        behind = length - size + i  # the column from which the rest can be matched word by word
        for j in range(low, high):
            up = np.int64(lines[flip, j - before_low]) if j < before_high else np.int64(_FAR)
            best = min(up, left) + 1
            if j > 0:
                best = min(best, diagonal + (word != words[2, j - 1]))
            lines[1 - flip, j - low] = best
            left = best
            diagonal = up
            least = min(least, best + abs(behind - j))
        if least > limit:
            return np.int64(_FAR)
        flip = 1 - flip
    return np.int64(lines[flip, length - beams[0, size]])
