"""What `lasw select` tells: progress, the development set, the profile of a pool, the fate of one pair."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from lasw.metrics import UserError, tokens, write_text
from lasw.scripts.command_line import note, print_json, warn
from lasw.selection import (
    BIN,
    LENGTH,
    REASONS,
    Bitext,
    LocalSets,
    Profile,
    Scorer,
    Selection,
    profile_rows,
    report_html,
    write_selection,
)

_EVERY = 5_000_000


@contextlib.contextmanager
def watched(quiet: bool) -> Iterator[Callable[[int], object] | None]:
    """A count of the pairs read: a bar on a terminal, a line for every few million elsewhere."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        yield _Log().update
        return
    from tqdm import tqdm

    with tqdm(unit=" pairs", unit_scale=True, leave=False, file=sys.stderr) as bar:
        yield bar.update


class _Log:
    """Tells how many pairs were read."""

    def __init__(self) -> None:
        self._pairs = 0

    def update(self, pairs: int) -> None:
        """So many more."""
        before, self._pairs = self._pairs, self._pairs + pairs
        if before // _EVERY < self._pairs // _EVERY:
            note(False, f"{self._pairs:,} pairs read")


def write(
    selection: Selection,
    prefix: str,
    names: tuple[str, str],
    words: int,
    *,
    quiet: bool,
    as_json: bool,
    settings: Mapping[str, object],
    pool: Sequence[str],
) -> None:
    """Write the files of a selection and say in a line what it is.

    Args:
        selection: of the pool.
        prefix, names: of the files, see `write_selection`.
        words: that were wanted.
        quiet: no word of pairs left out.
        as_json: say it as JSON.
        settings: how it was made, for the report.
        pool: names of its files.
    """
    written = [*write_selection(prefix, selection, names), f"{prefix}.html"]
    title, files = f"Selection {os.path.basename(prefix)}", [os.path.basename(path) for path in written[:2]]
    page = report_html(selection, title, settings=settings, pool=list(map(os.path.basename, pool)), files=files)
    write_text(written[-1], page)
    profile = selection.profile
    reasons = dict(sorted(selection.reasons.items()))
    different = len({word for text in selection.chosen.source.texts() for word in tokens(text)})
    _warn_of_faults(profile.verdicts, quiet)
    if as_json:
        facts = {
            "pairs": len(selection),
            "words": selection.words,
            "different_words": different,
            "pool": profile.pairs,
            "candidates": profile.candidates,
            "faulty": profile.faults,
            "looked_at": selection.reached,
            "rejected": reasons,
            "files": written,
        }
        print_json(facts)
    elif not len(selection):
        print(f"nothing selected: {_emptiness(profile)}")
    else:
        rejected = ", ".join(f"{n} {reason}" for reason, n in reasons.items()) or "none"
        print(
            f"{len(selection)} pairs, {selection.words} source words ({different} different) of {words} wanted, from "
            f"{profile.candidates} candidates in {profile.pairs} pairs; rejected on the way: {rejected}"
        )


def _emptiness(profile: Profile) -> str:
    if profile.candidates:
        return f"the filters rejected all {profile.candidates} candidates"
    return f"none of {profile.pairs} pairs has a source sentence of the right length and no fault"


def print_profile(profile: Profile, names: tuple[str, ...], *, aligned: bool, as_json: bool) -> None:
    """Print what is in a pool.

    Args:
        profile: of the pool.
        names: of the features.
        aligned: whether it has a word alignment.
        as_json: print it as JSON.
    """
    means = dict(zip(names, profile.means(), strict=False))
    if as_json:
        histogram = {f"{place * BIN:.2f}": n for place, n in sorted(profile.histogram.items())}
        print_json({"counts": dict(profile_rows(profile)), "means": means, "histogram": histogram})
        return
    for name, n in profile_rows(profile):
        print(f"{n:>14,}  {name}")
    if not aligned:
        print(f"{'none':>14}  word alignment")
    for name, mean in means.items():
        print(f"{mean:>14.4f}  mean {name}")
    tenths: dict[int, int] = {}
    for place, n in profile.histogram.items():
        tenths[place // 10] = tenths.get(place // 10, 0) + n
    for place, n in sorted(tenths.items()):
        print(f"{n:>14,}  score {place * 10 * BIN:.1f} to {(place + 1) * 10 * BIN:.1f}")


def explain(bitext: Bitext, scorer: Scorer, selection: Selection, line: int, *, as_json: bool) -> None:
    """Print what the pair of line `line` is and what becomes of it."""
    block = next((b for b in bitext.blocks() if b.first_line <= line < b.first_line + len(b)), None)
    if block is None:
        raise UserError(f"--explain {line}: the pool has {selection.profile.pairs} pairs")
    pair = block[line - block.first_line : line - block.first_line + 1]
    scored = scorer.score(pair)
    score, verdict = float(scored.score[0]), int(scored.verdicts[0])
    fate = _fate(selection, line, verdict)
    features = {} if verdict else dict(zip(scorer.feature_names, scored.features[0].tolist(), strict=True))
    if as_json:
        print_json({"line": line, "score": None if verdict else score, "features": features, "fate": fate})
        return
    for name, text in (("source", pair.source.text(0)), ("target", pair.target.text(0))):
        print(f"{name}: {text}")
    for name, value in features.items():
        print(f"{value:>10.4f}  {name}")
    if not verdict:
        print(f"{score:>10.4f}  score")
    print(fate)


def _fate(selection: Selection, line: int, verdict: int) -> str:
    if verdict:
        return f"no candidate: {REASONS[verdict]}"
    chosen = selection.chosen.line.tolist()
    if line in chosen:
        return f"selected as number {chosen.index(line) + 1} of {len(chosen)}"
    if selection.followed is not None:
        other = f" to line {selection.followed.other}" if selection.followed.other else ""
        return f"rejected: {selection.followed.reason} (similarity {selection.followed.similarity:.3f}{other})"
    last = float(selection.chosen.score[-1]) if chosen else 0.0
    return f"not reached: there were enough words before it, with scores down to {last:.4f}"


def write_local(path: str, sets: LocalSets, *, quiet: bool, as_json: bool) -> None:
    """Write the most similar pairs of every test sentence, and say so in a line."""
    rows = ["test_line\trank\tline\tsimilarity\n"]
    for test, pairs in enumerate(zip(sets.lines.tolist(), sets.similarities.tolist(), strict=True), start=1):
        for rank, (line, value) in enumerate(zip(*pairs, strict=True), start=1):
            rows.append(f"{test}\t{rank}\t{line}\t{value!r}\n")
    write_text(path, "".join(rows))
    _warn_of_faults(sets.verdicts, quiet)
    sentences, each = sets.lines.shape
    if as_json:
        print_json({"test_sentences": sentences, "pairs_each": each, "files": [path]})
    else:
        print(f"{each} pairs for each of {sentences} test sentences: {path}")


def _warn_of_faults(verdicts: Mapping[int, int], quiet: bool) -> None:
    """Say how many pairs were left out for which fault."""
    counts = sorted(verdicts.items())
    warn("select", (f"{n} pairs left out: {REASONS[verdict]}" for verdict, n in counts if verdict > LENGTH), quiet)
