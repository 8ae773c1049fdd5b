"""How far a round goes from the best weights so far towards those that its optimiser proposes.

What an optimiser promises holds for the candidates that it knows. The decoder searches beyond these, and a whole step
taken from lists of one point of the weight space can lose most of the score that was there: a feature that few
candidates have gets a weight that none of the lists contradicts. So the first steps are short and grow as the lists
that vouch for them do, and the decoder is the judge, as in trust region methods (Conn, Gould and Toint 2000):

- Where a longer step gains clearly on sentences that it was not learnt from, the lists vouch for it, and it is tried.
- A short step that loses on the lists themselves, by more than chance explains, is halved before anything is decoded:
  between the weights where it begins and those proposed there may be worse ones than both.
- Before the whole development set is decoded, a sample of it is, and a larger one where the first leaves open whether
  the step loses. Weights that lose there more than chance explains are not taken: the step is halved, in this round.
  Candidates that are new may show the next one what was wrong.
- Weights whose development score falls behind the best one so far by more than chance explains are left again: the
  next step begins at the best ones, and is half as long as the one that failed.

A step of share s is the mixture of s parts of the proposal and 1 - s parts of the weights that it begins with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lasw.tuning.loop.fitting import Proposal
from lasw.tuning.loop.settings import GROWING, TRUST, RunSettings
from lasw.tuning.run_directory import Json
from lasw.tuning.weights import Weights

# Shares of the steps, one after the other; from the last on they are whole. Measured on Moses and Thot beside constant
# shares and other schedules.
SHARES = (0.3, 0.5, 0.7, 1.0)
SHORTER = 0.5  # a step that failed, the next time
LONGER = 2.0  # at most, so that a step that was cut short grows again as it shrank
PROBES = 3  # in a round, at most; behind the last the step is halved once more and taken
CHANCE = 1.5  # standard errors: so far behind the sample may be by chance
BY_LISTS = 1.0  # standard errors: so far behind the lists may be
VOUCHED = 3.0  # standard errors: sentences kept out that gain more than so many vouch for a longer step
_NOTHING: tuple[Json, ...] = ()
# A sample is too small if less one standard error its gain is this many of the pool's gain's standard errors behind.
OPEN = 2.0
# Sentences of a probe: a twentieth of the development set, but not too few; where these are too few after all, five
# times as many, a quarter of the set at most.
PROBED_SHARE, FEWEST_PROBED = 20, 20
MORE_PROBED, MOST_PROBED_SHARE = 5, 4


def share_of(rounds: int) -> float:
    """The longest step that the lists of so many rounds vouch for, without a decoder to ask."""
    return SHARES[min(rounds, len(SHARES)) - 1]


@dataclass(frozen=True)
class Plan:
    """Where the step of a round begins and how far it may go.

    Attributes:
        centre: the iteration that made the weights where it begins, 0 for the start weights.
        share: of the proposal.
        may_grow: sentences kept out may ask for more; not where the decoder refused the step before.
    """

    centre: int
    share: float
    may_grow: bool = False


Judged: TypeAlias = Callable[[float], tuple[float, float]]  # a share's gain, and its standard error


def vouched(plan: Plan, kept_out: Judged) -> float:
    """The longest step that sentences which it was not learnt from vouch for; the planned one where none does."""
    if plan.may_grow:
        for share in reversed(SHARES):
            if share <= plan.share:
                break
            gain, noise = kept_out(share)
            if gain > VOUCHED * noise:
                return share
    return plan.share


def planned(settings: RunSettings, records: Sequence[Json], scores: Sequence[float]) -> Plan:
    """The plan of the next round.

    Args:
        settings: of the run.
        records: of the rounds before.
        scores: development scores of what iterations 0, 1, ... made; the last one is the current weights'.
    """
    latest = len(scores) - 1
    if settings.interpolation < 1:
        return Plan(latest, settings.interpolation if latest + 1 >= settings.interpolation_from else 1.0)
    if settings.step == GROWING:
        return Plan(latest, share_of(latest + 1))
    if settings.step != TRUST:
        return Plan(latest, 1.0)
    if not records:
        return Plan(0, SHARES[0], may_grow=True)
    step = records[-1].get("step", {"planned": 1.0, "share": 1.0})
    best = int(np.argmax(scores))
    if scores[best] - scores[latest] > records[-1].get("gain_noise", 0.0):
        return Plan(best, SHORTER * step["share"])
    planned = step["planned"]
    share = min(LONGER * planned, next((longer for longer in SHARES if longer > planned), 1.0))
    return Plan(latest, share, may_grow=True)


@dataclass(frozen=True)
class Step:
    """A step that is taken.

    Attributes:
        weights: at its end.
        share: of the proposal in them.
        planned: the share that it was to have before lists and decoder were asked.
        lists: of shares that the lists were asked for, one after the other: share, gain and noise.
        probes: of shares that were tried, one after the other: share, gain and noise of the sample's score.
    """

    weights: Weights
    share: float
    planned: float
    lists: tuple[Json, ...] = ()
    probes: tuple[Json, ...] = ()


def taken(
    proposal: Proposal,
    plan: Plan,
    probed: Judged | None,
    promised: Judged | None = None,
    kept_out: Judged | None = None,
) -> Step:
    """The longest step that the plan allows and neither the lists nor the decoder refuse.

    Args:
        proposal: of the optimiser.
        plan: of this round.
        probed: decodes the sample with the weights behind a share of the proposal: the gain of its score over that of
            the weights where the step begins, and the standard error of that gain; None: every step is taken.
        promised: the same of the lists' best candidates. Whole steps are not asked for it: there is nothing behind
            them, and a run whose lists promise nothing is over.
        kept_out: the same of the sentences kept out, see `vouched`.
    """
    if probed is None or not proposal.moves:
        return Step(proposal.at(plan.share), plan.share, plan.share)
    longest = plan.share if kept_out is None else vouched(plan, kept_out)
    share, lists = longest, _NOTHING
    if promised is not None and longest < 1:
        share, lists = _shortened(share, promised, BY_LISTS)
    share, probes = _shortened(share, probed, CHANCE)
    return Step(proposal.at(share), share, longest, lists, probes)


def _shortened(share: float, judged: Judged, chance: float) -> tuple[float, tuple[Json, ...]]:
    """The share, halved where it loses more than so many standard errors, and what was tried."""
    tried = []
    for _ in range(PROBES):
        gain, noise = judged(share)
        tried.append({"share": share, "gain": gain, "noise": noise})
        if gain >= -chance * noise:
            break
        share *= SHORTER
    return share, tuple(tried)


def samples(sentences: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the sentences that a probe decodes, ascending (all of a small set), and of those that it adds."""
    few = min(sentences, max(FEWEST_PROBED, -(-sentences // PROBED_SHARE)))
    many = max(few, min(MORE_PROBED * few, sentences // MOST_PROBED_SHARE))
    order = np.random.default_rng(np.random.SeedSequence([seed, 2])).permutation(sentences)
    return np.sort(order[:few]), np.sort(order[few:many])
