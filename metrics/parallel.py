"""Files whose lines belong together: do they have the same number of lines, and if not, what is wrong."""

from __future__ import annotations

from lasw.metrics.errors import UserError
from lasw.metrics.text import Corpus


def check_parallel(first: Corpus, other: Corpus) -> None:
    """Line k of `other` must belong to line k of `first`.

    Raises:
        UserError: their numbers of lines differ; says so exactly if one blank last line is all that is too much.
    """
    if len(other) == len(first):
        return
    longer, shorter = (first, other) if len(first) > len(other) else (other, first)
    blank = len(longer) == len(shorter) + 1 and longer.lengths[-1] == 0
    raise UserError(
        f"{len(other)} lines" + (", the last of them blank" if blank and longer is other else ""),
        path=other.path,
        expected=f"{len(first)}, as many as {first.path or 'the first'} has"
        + (", whose last one is blank" if blank and longer is first else ""),
        remedy=f"delete the blank last line of {longer.path or 'the longer one'}" if blank else None,
    )
