"""The sentences on top of the report of a run: what was done, what was gained, what to do next."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from lasw.metrics import Display
from lasw.tuning.report.run_data import RunData


def done(run: RunData) -> str:
    """What was done, with which data."""
    settings: dict[str, Any] = run.description.get("settings", {})
    files: dict[str, Any] = run.description.get("files", {})
    decoder, optimiser = (_section(settings, name).get("name", "") for name in ("decoder", "optimiser"))
    count = len(run.records) if run.result is None else int(run.result["iterations"])
    data = f"{run.gain.sentences} sentences of " if run.gain else ""
    source = _names([files["source"]] if files.get("source") else [])
    many = len(files.get("references", [])) or 1
    given = f" with {_counted(many, 'reference')}"
    on = f" on {data}{source}{given}" if source else ""
    loss = _section(settings, "optimiser").get("metric")
    by = f" by {optimiser}{f' (loss {loss})' if loss else ''}" if optimiser else ""
    head = f"{f'Decoder {decoder}' if decoder else 'A decoder'} was tuned{by}{on}"
    if run.result is None:
        return f"{head}; under way: {_counted(count, 'iteration')} so far."
    return f"{head} in {_counted(count, 'iteration')}; it ended with: {run.result['reason']}."


def _section(settings: dict[str, Any], name: str) -> dict[str, Any]:
    """Of a run of lasw-mert-moses it is a signature, ``MERT|restarts:20``, of which the name is taken."""
    found = settings.get(name, {})
    return found if isinstance(found, dict) else {"name": str(found).partition("|")[0]}


def gained(run: RunData) -> str:
    """What came of it, with its interval if the lists and references are where they were."""
    if run.result is None or not run.records:
        return ""
    name, display = development_name(run), run.display
    start = display.score(run.records[0]["dev_score"])
    if not run.result["chosen"]:
        return f"No weights were better than the start weights, whose {name} is {start:.2f}."
    score = run.result["dev_score"]
    which = f"those of iteration {run.result['chosen']}"
    if score is None:
        return f"The final weights are {which}, untried; the start weights had a {name} of {start:.2f}."
    change = f"{display.difference(score - run.records[0]['dev_score']):+.2f}"
    told = f"{change}{interval(run, display)}"
    return f"{_sentence(name)} went from {start:.2f} to {display.score(score):.2f} with {which}: {told}."


def interval(run: RunData, display: Display) -> str:
    """Behind a gain, in brackets."""
    if run.gain is None:
        return ""
    low, high = sorted((display.difference(run.gain.low), display.difference(run.gain.high)))
    return f" (95 % interval {low:+.2f} to {high:+.2f})"


def after(run: RunData) -> str:
    """What to do next."""
    if run.result is None:
        return "wait, or give the same command again if it was interrupted."
    if not run.result["chosen"]:
        return "look at the warnings and at the oracle below: what the lists do not hold no weights can find."
    return (
        "translate a test set with weights.json and with the start weights and compare both (lasw score --paired-bs). "
        "The gain above is that of sentences that were tuned on; others gain less."
    )


def development_name(run: RunData) -> str:
    """What the development score is called; error rates are named as such."""
    if run.display.lower:
        return f"development {run.dev_metric} (an error rate, lower is better)"
    return f"development {run.dev_metric}"


def _names(paths: Sequence[str]) -> str:
    return " and ".join(os.path.basename(path) for path in paths)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
