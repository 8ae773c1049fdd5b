"""When a tuning run is over.

The pool's gain of a round is the score of its new weights on the pool minus that of the weights before it: what the
next decoding is promised to bring. Its noise is the standard deviation of that difference over corpora drawn from the
same sentences (paired bootstrap, Koehn 2004). A gain within the noise would not be told from none by the development
set, so further decodings are not worth their time. The first round is not looked at: a run decodes with new weights
at least once.
"""

from __future__ import annotations

from collections.abc import Sequence

from lasw.tuning.loop.settings import RunSettings
from lasw.tuning.run_directory import Json

NO_NEW_CANDIDATES = "no new candidates"
SETTLED = "the weights have settled"
WITHIN_NOISE = "the pool's gain is within its noise"
MAXIMUM = "the maximum of iterations is reached"


def reason_to_stop(settings: RunSettings, records: Sequence[Json]) -> str | None:
    """Why the run is over after these iterations; None if it is not."""
    if not records:
        return None
    if records[-1]["new_candidates"] == 0 and not goes_on(records[:-1]):
        return NO_NEW_CANDIDATES
    if records[-1]["moved"] <= settings.tolerance:
        return SETTLED
    enough = len(records) >= max(settings.patience, 2)
    if settings.noise and enough and all(_within_noise(settings, record) for record in records[-settings.patience :]):
        return WITHIN_NOISE
    return MAXIMUM if settings.iterations and len(records) >= settings.iterations else None


def goes_on(records: Sequence[Json]) -> bool:
    """Whether a round without new candidates optimises again: behind a short step there is more to be had, once."""
    return bool(records) and held(records[-1]) and records[-1]["new_candidates"] > 0


def held(record: Json) -> bool:
    """Whether the step of a round was held shorter than the optimiser wanted."""
    return bool(record.get("step", {}).get("share", 1.0) < 1.0)


def _within_noise(settings: RunSettings, record: Json) -> bool:
    gain = record.get("gain")
    return not held(record) and gain is not None and gain <= settings.noise * record["gain_noise"]
