"""A whole page, its first screen, its tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lasw.metrics.text.pages.style import SORT_SCRIPT, STYLE


def document(title: str, body: Sequence[str]) -> str:
    """A whole HTML file of sections."""
    content = "\n".join(body)
    script = f"\n<script>{SORT_SCRIPT}</script>" if 'sortable">' in content else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # Browsers ask for an icon otherwise.
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{content}\n</main>{script}\n</body>\n</html>\n"
    )


def first_screen(title: str, done: str, gained: str, next_step: str = "") -> str:
    """What who is forwarded a report reads first.

    Args:
        title: of the page.
        done: a sentence: what was done, with which data.
        gained: a sentence: what came of it, with its interval.
        next_step: a sentence: what to do now; nothing while there is nothing to do.
    """
    parts = [f"<h1>{escape(title)}</h1>", f'<p class="lead">{escape(" ".join(filter(None, (done, gained))))}</p>']
    if next_step:
        parts.append(f'<p class="next"><strong>Next:</strong> {escape(next_step)}</p>')
    return f"<header>{''.join(parts)}</header>"


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "", label: str = "") -> str:
    """A table of cells that are HTML already; it scrolls by itself where the screen is too narrow.

    Args:
        header: of the columns.
        rows: a cell a column.
        kind: a class of the style: ``sortable``.
        label: what is in it, for who cannot see it; by default the names of its first columns.
    """
    marked = f' class="{kind}"' if kind else ""
    head = "".join(f'<th scope="col">{name}</th>' for name in header)
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table{marked}><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return scrolling(table, label or f"table: {', '.join(header[:3])}")


def facts_table(rows: Sequence[tuple[str, str]], label: str = "settings") -> str:
    """Names and what they stand for, both HTML already."""
    lines = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in rows)
    return scrolling(f'<table class="facts"><tbody>{lines}</tbody></table>', label)


def scrolling(content: str, label: str) -> str:
    """A table or picture that scrolls by itself where the screen is too narrow; `label` says what it is."""
    # Who has no mouse scrolls what has the focus.
    return f'<div class="wide" tabindex="0" role="group" aria-label="{label}">{content}</div>'


def number_html(value: float | None, form: str = ".6f", scale: float = 1) -> str:
    """A number as it is shown (times `scale`), with its full value for programs; nothing for None."""
    return "" if value is None else f'<data value="{value!r}">{scale * value:{form}}</data>'
