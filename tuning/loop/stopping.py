"""When a tuning run is over.

The pool's gain of a round is the score of its new weights on the pool minus that of the weights before it: what the
next decoding is promised to bring. Its noise is the standard deviation of that difference over corpora drawn from the
same sentences (paired bootstrap, Koehn 2004). A gain within the noise would not be told from none by the development
set, so further decodings are not worth their time. The first round is not looked at: a run decodes with new weights
at least once. Nor are rounds whose step was held short, for behind it there is more to be had: not by a step that had
its turn to grow and is shorter than the first one, though. There the decoder refuses to go on. And while a decoding
gains more than twice the noise the run goes on, for then the decoder finds what the lists cannot promise.

The held-out gain of a round is that of its step on sentences that it was not learnt from. Where these lose more than
chance explains, what is left to learn is what the sentences have by heart: the run ends too, however long the step is,
unless the last decoding gained so much, five times the noise, that its lists are new ground. Runs that do not ask how
far to go (`--step whole`, `growing`) go on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lasw.tuning.loop.settings import TRUST, RunSettings
from lasw.tuning.loop.steps import SHARES
from lasw.tuning.run_directory import Json

NO_NEW_CANDIDATES = "no new candidates"
SETTLED = "the weights have settled"
WITHIN_NOISE = "the pool's gain is within its noise"
BY_HEART = "what is learnt does not hold on sentences kept out"
MAXIMUM = "the maximum of iterations is reached"
RISE = 2.0  # standard errors of a decoding's gain; with one, Moses goes on for two rounds that bring nothing
FAR = 5.0  # of one that is no chance at all


def reason_to_stop(settings: RunSettings, records: Sequence[Json]) -> str | None:
    """Why the run is over after these iterations; None if it is not."""
    if not records:
        return None
    if records[-1]["new_candidates"] == 0 and not goes_on(records[:-1]):
        return NO_NEW_CANDIDATES
    if records[-1]["moved"] <= settings.tolerance:
        return SETTLED
    enough = len(records) >= max(settings.patience, 2)
    last = range(len(records) - settings.patience, len(records))
    if settings.noise and enough and all(_within_noise(settings, records, k) for k in last):
        return WITHIN_NOISE
    if settings.noise and settings.step == TRUST and enough and all(_by_heart(records, k) for k in last):
        return BY_HEART
    return MAXIMUM if settings.iterations and len(records) >= settings.iterations else None


def goes_on(records: Sequence[Json]) -> bool:
    """Whether a round without new candidates optimises again: behind a short step there is more to be had, once."""
    return bool(records) and held(records, len(records) - 1) and records[-1]["new_candidates"] > 0


def held(records: Sequence[Json], k: int) -> bool:
    """Whether the step of round k (from 0) was held shorter than the optimiser wanted, and may still grow."""
    share = records[k].get("step", {}).get("share", 1.0)
    return bool(share < 1.0 and (k + 1 < len(SHARES) or share >= SHARES[0]))


def _within_noise(settings: RunSettings, records: Sequence[Json], k: int) -> bool:
    gain = records[k].get("gain")
    if gain is None or held(records, k) or _rises(records, k, RISE):
        return False
    return bool(gain <= settings.noise * records[k]["gain_noise"])


def _by_heart(records: Sequence[Json], k: int) -> bool:
    gain = records[k].get("held_out_gain")
    loses = gain is not None and gain < -records[k].get("held_out_noise", math.inf)
    return loses and not _rises(records, k, FAR)


def _rises(records: Sequence[Json], k: int, errors: float) -> bool:
    """Whether the decoding of round k gained more than so many standard errors over the best one before."""
    scores = [record["dev_score"] for record in records[: k + 1]]
    return bool(k and scores[k] - max(scores[:k]) > errors * records[k]["gain_noise"])
