"""Which candidates of a sentence are its oracles, of the choices that need no forced decoding (Song 2015, 2.3).

    local      the best by the metric (`maxBLEU oracle`; local updating of Liang et al. 2006)
    reference  those that are a reference word for word; none where the list has none (bold updating)
    hybrid     the reference where the list has it, else local (hybrid updating of Liang et al. 2006)
    mixed      argmax of metric(e) - mu (metric(e) - model(e))  (eq. 2.20, Chiang et al. 2008; hope with mu = 0.5)

The opposite end, `worst`, is the least by the metric (mu = 0) or the least of metric(e) - mu (metric(e) + model(e)):
what the model likes and the metric does not (fear, Chiang 2012).

Equation 2.20 adds a metric in [0, 1] to a model score of any unit. Here both are divided by their spread first (root
mean square of the differences from the sentence's mean), so that mu means the same for all weights and metrics.

Several candidates may be equally good; who needs a single one takes that with the best model score, of equal ones the
earliest (`single`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import UserError, borrowing, unknown

if TYPE_CHECKING:
    from lasw.tuning.pool import Floats, Pool

CHOICES = ("local", "reference", "hybrid", "mixed")
MU = 0.5  # Chiang et al. 2008


@dataclass(frozen=True)
class OracleChoice:
    """A way to choose oracles.

    Args:
        name: one of `CHOICES`.
        mu: share of the model score in ``mixed`` and in `worst`: 0 looks at the metric alone, 1 at the model alone.

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
        """Whether it looks at the words of the candidates."""
        return self.name in ("reference", "hybrid")

    @property
    def needs_model(self) -> bool:
        """Whether other weights choose other oracles."""
        return self.name == "mixed"

    def oracles(
        self, starts: NDArray[np.int64], metric: Floats, model: Floats, reference: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """The oracles of every sentence: several if they are equally good, none where ``reference`` finds none.

        Args:
            starts: (S + 1,) where each sentence's candidates begin; every sentence has one.
            metric: (n,) sentence scores, higher is better.
            model: (n,) model scores.
            reference: (n,) the candidate is a reference (see `are_references`); for the choices that need text.

        Returns:
            (n,) bool.

        Raises:
            ValueError: a choice that needs `reference` without it.
        """
        if self.needs_text:
            if reference is None:
                raise ValueError(f"{self.name} oracles need to know which candidates are references")
            if self.name == "reference":
                return reference
            sizes = np.diff(starts)
            has = np.repeat(np.logical_or.reduceat(reference, starts[:-1]), sizes)
            return np.where(has, reference, highest(starts, metric))
        if not self.needs_model:
            return highest(starts, metric)
        return highest(starts, (1 - self.mu) * in_units(starts, metric) + self.mu * in_units(starts, model))

    def worst(self, starts: NDArray[np.int64], metric: Floats, model: Floats) -> NDArray[np.bool_]:
        """The opposite of the oracles, (n,) bool: least by the metric, or fear if the choice is ``mixed``."""
        if not self.needs_model:
            return highest(starts, -metric)
        return highest(starts, self.mu * in_units(starts, model) - (1 - self.mu) * in_units(starts, metric))


def highest(starts: NDArray[np.int64], values: Floats) -> NDArray[np.bool_]:
    """(n,) bool: no candidate of the sentence has a higher value."""
    return np.asarray(values == np.repeat(np.maximum.reduceat(values, starts[:-1]), np.diff(starts)))


def in_units(starts: NDArray[np.int64], values: Floats) -> Floats:
    """Values (n,) less their sentence's mean, divided by the root mean square of that; 0 if all are equal."""
    sizes = np.diff(starts)
    centred = values - np.repeat(np.add.reduceat(values, starts[:-1]) / sizes, sizes)
    largest = float(np.abs(centred).max(initial=0.0))
    if largest == 0.0:
        return centred
    centred = centred / largest  # no square overflows
    return np.asarray(centred / np.sqrt(np.mean(centred**2)))


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
    try:
        references = pool.references
    except ValueError:
        raise UserError(
            "lists without text do not show which candidates are references",
            remedy="give the N-best lists, or choose local or mixed oracles",
        ) from None
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
