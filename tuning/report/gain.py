"""What a finished run gained on its development set, with its interval: its first decoding against the one it chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lasw.metrics import Preprocessing, References, UserError, bootstrap_scores, confidence, metric, named_in
from lasw.tuning.formats import read_nbest
from lasw.tuning.pool import first_hypotheses, preprocessed
from lasw.tuning.provenance import fingerprint
from lasw.tuning.run_directory import Json

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Gain:
    """A difference of two scores in [0, 1], higher being better, over `sentences`.

    Attributes:
        before, after: the scores.
        low, high: ends of the 95 % interval of the difference, by paired bootstrap.
        sentences: how many there are.
    """

    before: float
    after: float
    low: float
    high: float
    sentences: int


def dev_metric_of(description: Json) -> str:
    """Of a run's development score: what ``lasw tune`` says, or ``lasw-mert-moses``, else BLEU."""
    settings = description.get("settings", {})
    return str(settings.get("run", {}).get("dev_metric") or settings.get("metric") or "BLEU")


def development_gain(folder: Path, description: Json, result: Json, records: Sequence[Json]) -> Gain | None:
    """From the start weights to those that a run chose; None if both are the same, or what it needs is not there.

    Args:
        folder: of the run.
        description: what its ``run.json`` says.
        result: what it chose.
        records: the lines of its log, at least one; scores that are not theirs are no gain of this run.
    """
    lists = [folder / "iterations" / f"{number:03d}" / "nbest.gz" for number in (1, int(result.get("chosen", 0)) + 1)]
    paths = list(description.get("files", {}).get("references", []))
    known = description.get("inputs", {}).get("references", {})
    if "run" not in description.get("settings", {}):  # one of lasw-mert-moses, which writes its settings in another way
        return None
    if lists[0] == lists[1] or not paths or not all(path.exists() for path in lists):
        return None
    try:
        if any(fingerprint(path) != known.get(str(k)) for k, path in enumerate(paths, 1)):
            return None
        found = _gain(folder, lists, paths, description)
    except (UserError, OSError):
        return None  # whoever asks for more of the lists is told
    pairs = ((found.before, records[0]["dev_score"]), (found.after, result.get("dev_score")))
    same = all(logged is not None and abs(score - logged) < _ROUNDING for score, logged in pairs)
    return found if same else None


def _gain(folder: Path, lists: list[Path], paths: list[str], description: Json) -> Gain:
    settings = description.get("settings", {})
    data = settings.get("data", settings)
    text = Preprocessing.of(data).function()
    references = References.read(paths, preprocess=text, encoding=str(data.get("encoding", "utf-8")))
    with named_in(folder / "run.json", files=True):
        of = metric(dev_metric_of(description))
    prepared, owner = of.prepare(references), np.arange(len(references), dtype=np.int32)
    scores, samples = [], []
    for path in lists:
        nbest = read_nbest(path, references.vocabulary)
        best = first_hypotheses(preprocessed(nbest, text) if text is not None else nbest, len(references))
        statistics = of.statistics(best, prepared, owner)
        scores.append(of.corpus_score(statistics.sum(axis=0)))
        samples.append(bootstrap_scores(of, statistics))
    interval = confidence(samples[1] - samples[0])
    return Gain(float(scores[0]), float(scores[1]), interval.low, interval.high, len(references))
