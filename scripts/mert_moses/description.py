"""What the run directory says of a run of lasw-mert-moses, and what must not change while it goes on."""

from __future__ import annotations

import re

from lasw.metrics import Preprocessing, UserError
from lasw.metrics import metric as metric_of
from lasw.scripts.mert_moses.settings import Settings
from lasw.tuning import Json, Optimiser, RunDirectory, Weights, as_json, fingerprint, versions


def description(
    settings: Settings, start: Weights, optimiser: Optimiser, text: Preprocessing, command: str, imported: int
) -> Json:
    """What `run.json` says. What does not change the weights of an iteration is no setting."""
    said = {"nrefs": str(len(settings.references)), **text.settings()}
    own = optimiser.signature()
    inputs: Json = {"source": fingerprint(settings.source), "config": fingerprint(settings.config)}
    inputs["references"] = {str(k): fingerprint(path) for k, path in enumerate(settings.references, 1)}
    inputs["start_weights"] = as_json(start)
    names = ("nbest", "aggregate", "interpolation", "earlier_starts", "inputtype", "transform", "lowercase", "seed")
    return {
        "command": command,
        "signature": str(own.with_settings(said)),
        "dev_signature": str(metric_of(settings.metric).signature().with_settings(said)),
        "seed": settings.seed,
        "settings": {
            "optimiser": "|".join([own.name, *(f"{key}:{value}" for key, value in own.settings)]),
            "metric": settings.metric,
            "decoder_flags": _without_threads(settings.flags),
            **{name: getattr(settings, name) for name in names},
        },
        "inputs": inputs,
        "files": {
            "source": str(settings.source),
            "references": [str(path) for path in settings.references],
            "decoder": [settings.decoder, str(settings.config)],
        },
        "versions": versions(),
        "imported": imported,
    }


def _without_threads(flags: str) -> str:
    return " ".join(re.sub(r"(^|\s)--?(threads|th)\s+\S+", " ", flags).split())


def describe(directory: RunDirectory, description: Json) -> None:
    """Write or compare `run.json`, in the words of this program."""
    try:
        directory.describe(description)
    except UserError as error:
        raise UserError(
            error.found,
            path=error.path,
            expected=error.expected,
            remedy="leave out --continue to start over, or give another --working-dir",
        ) from None
