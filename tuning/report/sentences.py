"""Sentences that two systems translate differently: gains and losses with the translations side by side, as HTML."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

SHOWN = 25  # gains, and as many losses
METRIC = "BLEU+1"  # sentence scores


@dataclass(frozen=True)
class Sentences:
    """n sentences under two systems.

    Attributes:
        title: of the section.
        first: name of the one that is the baseline.
        second: name of the other.
        before: (n,) sentence scores of the first in [0, 1].
        after: (n,) of the second.
        texts: of the two, n each.
        references: R lists of n.
        source: n, None if it is not there any more.
        note: what is to be said about the scores.
    """

    title: str
    first: str
    second: str
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    texts: tuple[Sequence[str], Sequence[str]]
    references: Sequence[Sequence[str]]
    source: Sequence[str] | None = None
    note: str = ""


def sentences_html(found: Sentences, shown: int = SHOWN) -> str:
    """A section: how many got better and worse, and the largest gains and losses."""
    change = found.after - found.before
    differs = np.array([a != b for a, b in zip(*found.texts, strict=True)])
    counts = [int(np.count_nonzero(part & differs)) for part in (change > 0, change < 0, change == 0)]
    # By gain, then by loss, each in falling size; equal ones in the order of the text.
    order = np.argsort(-change, kind="stable")
    gains = [k for k in order.tolist() if change[k] > 0 and differs[k]][:shown]
    losses = [k for k in order.tolist()[::-1] if change[k] < 0 and differs[k]][:shown]
    said = (
        f"{int(differs.sum())} of {len(change)} translations differ: {counts[0]} score higher under "
        f"{found.second}, {counts[1]} lower, {counts[2]} the same. "
        f"The {len(gains)} largest gains and {len(losses)} largest losses:"
    )
    note = f"<p>{escape(found.note)}</p>" if found.note else ""
    body = "".join(_row(found, k, float(change[k])) for k in [*gains, *losses[::-1]])
    if not body:
        return f"<section><h3>{escape(found.title)}</h3><p>{escape(said.partition('. ')[0])}.</p>{note}</section>"
    header = ["line", "change", found.first, found.second, "translations"]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    return (
        f"<section><h3>{escape(found.title)}</h3><p>{escape(said)}</p>{note}"
        f'<table class="sentences sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></section>'
    )


def _row(found: Sentences, k: int, change: float) -> str:
    cells = [
        f'<data value="{k + 1}">{k + 1}</data>',
        f'<data value="{change!r}">{100 * change:+.1f}</data>',
        *(f'<data value="{float(score)!r}">{100 * score:.1f}</data>' for score in (found.before[k], found.after[k])),
    ]
    first, second = _marked(found.texts[0][k], found.texts[1][k])
    lines = [] if found.source is None else [("source", escape(found.source[k]))]
    lines += [("reference", escape(reference[k])) for reference in found.references]
    given = "".join(f"<p><small>{name}</small> {text}</p>" for name, text in lines)
    pair = "".join(
        f"<div><small>{escape(name)}</small> {text}</div>"
        for name, text in ((found.first, first), (found.second, second))
    )
    numbers = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr>{numbers}<td>{given}<div class="pair">{pair}</div></td></tr>'


def _marked(first: str, second: str) -> tuple[str, str]:
    """Both texts with the tokens marked that the other does not have there."""
    a, b = first.split(), second.split()
    shown: tuple[list[str], list[str]] = ([], [])
    for kind, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        for target, tokens in ((shown[0], a[i:j]), (shown[1], b[k:m])):
            if tokens:
                text = escape(" ".join(tokens))
                target.append(text if kind == "equal" else f"<mark>{text}</mark>")
    return " ".join(shown[0]), " ".join(shown[1])
