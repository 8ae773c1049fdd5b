"""One HTML file about a selection: what was taken and why, scores, features, examples, and how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from lasw.metrics import document, facts_table, first_screen, histogram, html_table, number_html
from lasw.selection.choice import BIN, Profile, Selection, score_bins
from lasw.selection.pool import REASONS
from lasw.selection.rankings import MEANINGS, NAMES

_MOST_BARS = 40
_EXAMPLES = 5  # of the pairs taken, and of each reason of the rejected
_MEANING = dict(zip(NAMES, MEANINGS, strict=True))


def profile_rows(profile: Profile) -> list[tuple[str, int]]:
    """Counts that describe a pool: a name and a number each."""
    rows = [("pairs", profile.pairs), ("source words", profile.words), ("candidates", profile.candidates)]
    rows += [(f"no candidate: {REASONS[verdict]}", n) for verdict, n in sorted(profile.verdicts.items()) if verdict]
    return rows


def report_html(
    selection: Selection,
    title: str,
    *,
    settings: Mapping[str, object] | None = None,
    pool: Sequence[str] = (),
    files: Sequence[str] = (),
) -> str:
    """The whole file; the same selection gives the same bytes.

    Args:
        selection: what it is about.
        title: of the page.
        settings: how it was made, by name: the command, the method, ...
        pool: names of its files.
        files: names of the development set's source and target.
    """
    parts = [
        _first(selection, title, dict(settings or {}), pool, files),
        f"<section><h2>Scores</h2>{_histogram(selection)}</section>",
        f"<section><h2>Features</h2>{_means(selection)}</section>",
        f"<section><h2>Examples</h2>{_accepted(selection)}{_rejected(selection)}</section>",
        f"<section><h2>Counts</h2>{_counts(selection)}</section>",
    ]
    if settings:
        rows = [(escape(name), f"<code>{escape(str(value))}</code>") for name, value in settings.items()]
        parts.append(f"<section><h2>How it was made</h2>{facts_table(rows, 'command and settings')}</section>")
    return document(title, parts)


def _first(
    selection: Selection, title: str, settings: dict[str, object], pool: Sequence[str], files: Sequence[str]
) -> str:
    profile, chosen = selection.profile, selection.chosen
    by = f" by method {settings['method']}" if "method" in settings else ""
    of = f" ({' and '.join(pool)})" if pool else ""
    done = (
        f"{len(selection):,} pairs with {selection.words:,} source words were selected{by} from {profile.candidates:,} "
        f"candidates in a pool of {profile.pairs:,} pairs{of}."
    )
    if not len(selection):
        return first_screen(title, done, "", "look at the counts below for what kept pairs from being candidates.")
    every = sum(place * n for place, n in profile.histogram.items()) / max(sum(profile.histogram.values()), 1)
    gained = (
        f"Their mean score is {float(chosen.score.mean()):.2f} ({float(chosen.score.min()):.2f} to "
        f"{float(chosen.score.max()):.2f}), that of all candidates {(every + 0.5) * BIN:.2f}."
    )
    names = f"lasw tune --source {files[0]} --references {files[1]} ..." if len(files) > 1 else "lasw tune"
    return first_screen(title, done, gained, f"read the examples below, then tune on the selected pairs ({names}).")


def _counts(selection: Selection) -> str:
    counts = [*profile_rows(selection.profile), ("selected pairs", len(selection))]
    counts += [("selected source words", selection.words), ("candidates looked at", selection.reached)]
    counts += [(f"rejected: {reason}", n) for reason, n in sorted(selection.reasons.items())]
    return facts_table([(escape(name), f"{n:,}") for name, n in counts], "counts")


def _means(selection: Selection) -> str:
    pool = selection.profile.means()
    chosen = selection.chosen.features.mean(axis=0).tolist() if len(selection) else []
    rows = []
    for k, name in enumerate(selection.feature_names):
        cells = [number_html(values[k], ".4f") if values else "" for values in (pool, chosen)]
        rows.append([escape(name), *cells, escape(_MEANING.get(name, ""))])
    return html_table(["feature", "mean of candidates", "mean of selected", "meaning"], rows)


def _accepted(selection: Selection) -> str:
    """The first pairs taken, and the last."""
    chosen = selection.chosen
    places = list(range(len(selection)))
    shown = places if len(places) <= 2 * _EXAMPLES else places[:_EXAMPLES] + places[-_EXAMPLES:]
    rows = [
        [
            *(str(k + 1), str(int(chosen.line[k])), number_html(float(chosen.score[k]), ".3f")),
            *(escape(side.text(k)) for side in (chosen.source, chosen.target)),
        ]
        for k in shown
    ]
    if not rows:
        return "<h3>Accepted</h3><p>No pair was selected.</p>"
    table = html_table(["rank", "line", "score", "source", "target"], rows, label="accepted pairs")
    return f"<h3>Accepted: the first and the last</h3>{table}"


def _rejected(selection: Selection) -> str:
    """The best candidates that a filter rejected, for each filter."""
    rows = []
    for reason in sorted(selection.reasons):
        for one in [one for one in selection.rejections if one.reason == reason][:_EXAMPLES]:
            why = f"{reason}, similarity {one.similarity:.2f}" + (f" to line {one.other}" if one.other else "")
            rows.append([str(one.line), number_html(one.score, ".3f"), escape(why), *map(escape, one.texts)])
    if not rows:
        return "<h3>Rejected</h3><p>The filters rejected no candidate.</p>"
    table = html_table(["line", "score", "why", "source", "target"], rows, label="rejected pairs")
    return f"<h3>Rejected by a filter: the best of each</h3>{table}"


def _histogram(selection: Selection) -> str:
    """Both as shares, since the selection is a small part of the pool."""
    pool = selection.profile.histogram
    if not pool:
        return "<p>There is no candidate.</p>"
    low, high = min(pool), max(pool) + 1
    step = -(-(high - low) // _MOST_BARS)
    slots = -(-(high - low) // step)
    layers = []
    chosen = Counter(score_bins(selection.chosen.score).tolist())
    for name, counts in (("all candidates", pool), ("selected pairs", chosen)):
        shares: dict[int, float] = {}
        for place, n in counts.items():
            slot = (place - low) // step
            shares[slot] = shares.get(slot, 0.0) + n / counts.total()
        if shares:
            layers.append((name, shares))
    edges = low * BIN, (low + slots * step) * BIN
    label = "scores of candidates and of selected pairs"
    return histogram(label, edges, layers, slots, "score of a pair (no unit, higher is better)")
