"""What weights learnt from lists are worth: their gain on sentences kept out, and each feature's part in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lasw.metrics import Metric
from lasw.tuning.loop.gains import gained, held_out
from lasw.tuning.pool import Pool
from lasw.tuning.weights import Weights


@dataclass(frozen=True)
class Assessment:
    """Gains in the loss, on its own scale, higher is better.

    Attributes:
        folds: of the cross-validation, 0 for none.
        gain, noise: on sentences kept out, and its standard error (paired bootstrap); None without folds.
        losses: for each dense feature what is lost without it, and the standard error of that: on the sentences kept
            out, where there are folds, else on the pool. Empty where it was not asked for.
    """

    folds: int = 0
    gain: float | None = None
    noise: float | None = None
    losses: tuple[tuple[str, float, float], ...] = ()

    def lines(self, scale: float) -> list[str]:
        """For a person, in units of `scale`."""
        digits = 2 if scale > 1 else 4
        found = []
        if self.gain is not None and self.noise is not None:
            shown = f"{scale * self.gain:+.{digits}f} ± {scale * self.noise:.{digits}f}"
            found.append(f"held out    {shown}  (gain in the loss on sentences kept out, {self.folds} folds)")
            if self.gain <= 0:
                found.append(
                    "            that is no gain: on sentences kept out the weights before are as good, or better"
                )
            elif self.gain <= self.noise:
                found.append("            that is within its noise: these weights may be no better than those before")
        for name, loss, noise in self.losses:
            found.append(f"without     {scale * -loss:+.{digits}f} ± {scale * noise:.{digits}f}  {name}")
        return found

    def as_json(self) -> dict[str, Any]:
        """For a program."""
        found: dict[str, Any] = {}
        if self.gain is not None:
            found["held_out"] = {"folds": self.folds, "gain": self.gain, "noise": self.noise}
        if self.losses:
            found["ablation"] = [{"feature": name, "lost": loss, "noise": noise} for name, loss, noise in self.losses]
        return found


def assessed(
    pool: Pool,
    loss: Metric,
    start: Weights,
    learn: Callable[[Pool], Weights],
    *,
    folds: int = 0,
    ablate: bool = False,
    seed: int = 0,
) -> Assessment:
    """Assess how weights are learnt.

    Args:
        pool: candidates.
        loss: of the gains.
        start: the weights before.
        learn: weights from the candidates of some sentences.
        folds: of the cross-validation; 0: none.
        ablate: whether features are left out, one at a time.
        seed: of the folds and the resampling.
    """
    gain = noise = None
    rows = held_out(pool, loss, start, learn, folds, seed) if folds else None
    if rows is not None:
        gain, noise = gained(loss, *rows, seed)
    losses: list[tuple[str, float, float]] = []
    full = learn(pool) if ablate and rows is None else None
    for name, _ in pool.names.groups if ablate and pool.names is not None else ():
        without = pool.without_feature(name)
        if rows is not None:
            _, new = held_out(without, loss, start, learn, folds, seed)
            losses.append((name, *gained(loss, new, rows[1], seed)))
        elif full is not None:
            mine = without.statistics_of(loss, without.best(learn(without)))
            best = pool.statistics_of(loss, pool.best(full))
            losses.append((name, *gained(loss, mine, best, seed)))
    return Assessment(folds, gain, noise, tuple(losses))
