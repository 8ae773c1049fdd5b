"""Which candidates of a sentence are its oracles, of the choices that need no forced decoding (Song 2015, 2.3).

    local      the best by the metric (`maxBLEU oracle`; local updating of Liang et al. 2006)
    reference  those that are a reference word for word; none where the list has none (bold updating)
    hybrid     the reference where the list has it, else local (hybrid updating of Liang et al. 2006)
    mixed      argmax of metric(e) - mu (metric(e) - model(e))  (eq. 2.20, Chiang et al. 2008; hope with mu = 0.5)

The ramp loss has a hope of its own, argmax of model(e) + alpha metric(e) (`Hope`).

Equation 2.20 adds a metric in [0, 1] to a model score of any unit. Here both are divided by their spread first (root
mean square of the differences from the sentence's mean), so that mu means the same for all weights and metrics.

Several candidates may be equally good; who needs a single one takes that with the best model score, of equal ones the
earliest (`single`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, borrowing, unknown
from lasw.tuning.pool import centred

if TYPE_CHECKING:
    from lasw.tuning.optimisers.base import Task
    from lasw.tuning.pool import Floats, Pool

CHOICES = ("local", "reference", "hybrid", "mixed")
MU = 0.5  # Chiang et al. 2008


@dataclass(frozen=True)
class Candidates:
    """What oracles are chosen from: n candidates, sentence by sentence.

    Attributes:
        starts: (S + 1,) where each sentence's candidates begin; every sentence has one.
        metric: (n,) sentence scores, higher is better.
        reference: (n,) bool, the candidate is a reference (see `are_references`); None: nobody asks.
    """

    starts: NDArray[np.int64]
    metric: Floats
    reference: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, task: Task, oracle: Oracle) -> Candidates:
        """Those of a task, as far as the oracle looks at them.

        Raises:
            UserError: it needs text in a pool without.
        """
        order = task.features.columns.order
        reference = are_references(task.pool)[order] if oracle.needs_text else None
        return cls(task.features.starts, task.pool.sentence_scores(task.metric)[order], reference)

    @cached_property
    def units(self) -> Floats:
        """(n,) the metric in units of its spread."""
        return in_units(self.starts, self.metric)

    @property
    def differ(self) -> bool:
        """Whether the metric tells two candidates of a sentence apart."""
        return not highest(self.starts, self.metric).all()


class Oracle(Protocol):
    """Chooses the candidates of every sentence that shall win: several if they are equally good, or none."""

    @property
    def needs_text(self) -> bool:
        """Whether it looks at the words of the candidates."""

    def __call__(self, candidates: Candidates, model: Floats) -> NDArray[np.bool_]:
        """(n,) the oracles under model scores (n,)."""


def is_mixed(oracle: str) -> bool:
    """Whether the model has a say in which candidates are oracles."""
    return oracle == "mixed"


@dataclass(frozen=True)
class OracleChoice:
    """The oracle by its name.

    Args:
        name: one of `CHOICES`.
        mu: share of the model score in ``mixed``: 0 looks at the metric alone, 1 at the model alone.

    Raises:
        UserError: there is no such choice.
        ValueError: mu outside [0, 1].
    """

    name: str = "local"
    mu: float = MU

    def __post_init__(self) -> None:
        if self.name not in CHOICES:
            raise unknown("oracle", self.name, list(CHOICES))
        if not 0 <= self.mu <= 1:
            raise ValueError(f"mu is {self.mu}, expected 0 to 1")

    @property
    def needs_text(self) -> bool:
        """See `Oracle`."""
        return self.name in ("reference", "hybrid")

    @property
    def needs_model(self) -> bool:
        """Whether other weights choose other oracles."""
        return is_mixed(self.name)

    def __call__(self, candidates: Candidates, model: Floats) -> NDArray[np.bool_]:
        """See `Oracle`; ``reference`` finds none in a list without it.

        Raises:
            ValueError: a choice that needs `Candidates.reference` without it.
        """
        starts = candidates.starts
        if self.needs_model:
            return highest(starts, (1 - self.mu) * candidates.units + self.mu * in_units(starts, model))
        if not self.needs_text:
            return highest(starts, candidates.metric)
        reference = candidates.reference
        if reference is None:
            raise ValueError(f"{self.name} oracles need to know which candidates are references")
        if self.name == "reference":
            return reference
        there = np.repeat(np.logical_or.reduceat(reference, starts[:-1]), np.diff(starts))
        return np.where(there, reference, highest(starts, candidates.metric))


@dataclass(frozen=True)
class Hope:
    """The highest by model + weight * metric, the metric in units of its spread; with weight 0 the model's best.

    Args:
        weight: as said.
    """

    weight: float
    needs_text: bool = False

    def __call__(self, candidates: Candidates, model: Floats) -> NDArray[np.bool_]:
        """See `Oracle`."""
        return highest(candidates.starts, model + self.weight * candidates.units)


def highest(starts: NDArray[np.int64], values: Floats) -> NDArray[np.bool_]:
    """(n,) bool: no candidate of the sentence has a higher value."""
    return np.asarray(values == np.repeat(np.maximum.reduceat(values, starts[:-1]), np.diff(starts)))


def in_units(starts: NDArray[np.int64], values: Floats) -> Floats:
    """Values (n,) less their sentence's mean, divided by the root mean square of that; 0 if all are equal."""
    differences = centred(starts, values)
    largest = float(np.abs(differences).max(initial=0.0))
    if largest == 0.0:
        return differences
    differences = differences / largest  # no square overflows
    return np.asarray(differences / np.sqrt(np.mean(differences**2)))


def single(starts: NDArray[np.int64], chosen: NDArray[np.bool_], model: Floats) -> NDArray[np.int64]:
    """(S,) place of one chosen candidate a sentence: best model score, of equal ones the earliest; -1 if none is."""
    place = np.empty(len(starts) - 1, dtype=np.int64)
    _single(starts, chosen, model, place)
    return place


def are_references(pool: Pool) -> NDArray[np.bool_]:
    """(n,) bool, in the pool's order of rows: the candidate is one of its references, token for token.

    Raises:
        UserError: the pool is without text.
    """
    if not pool.compared:
        raise UserError(
            "lists without text or without references do not show which candidates are references",
            remedy="give the N-best lists and their references, or choose local or mixed oracles",
        )
    references = pool.references
    hypotheses, owner = pool.hypotheses, pool.owner
    found = np.zeros(len(pool), dtype=np.bool_)
    for corpus in references.corpora:
        _mark_equal(hypotheses.ids, hypotheses.offsets, owner, corpus.ids, corpus.offsets, found)
    return found


@borrowing
def _single(starts, chosen, model, place):  # type: ignore[no-untyped-def]
    for s in range(starts.shape[0] - 1):
        place[s] = -1
        for i in range(starts[s], starts[s + 1]):
            if chosen[i] and (place[s] < 0 or model[i] > model[place[s]]):
                place[s] = i


@borrowing
def _mark_equal(ids, offsets, owner, reference_ids, reference_offsets, found):  # type: ignore[no-untyped-def]
    for i in range(owner.shape[0]):
        first, other = offsets[i], reference_offsets[owner[i]]
        size = offsets[i + 1] - first
        equal = reference_offsets[owner[i] + 1] - other == size
        k = 0
        while equal and k < size:
            equal = ids[first + k] == reference_ids[other + k]
            k += 1
        found[i] = found[i] or equal
