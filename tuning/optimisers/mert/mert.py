"""MERT, minimum error rate training (Och 2003): exact line searches from many starting points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lasw.metrics import Metric, Signature
from lasw.tuning.optimisers.base import DEFAULT_SEED, Fit, Optimiser, at_least
from lasw.tuning.optimisers.mert.ascent import GAIN, Ascent
from lasw.tuning.optimisers.mert.line_search import LineSearch
from lasw.tuning.optimisers.mert.space import Ranges, Space
from lasw.tuning.pool import Columns, Floats
from lasw.tuning.weights import Weights

if TYPE_CHECKING:
    from lasw.tuning.pool import Pool

RESTARTS = 20  # as mert-moses.pl
RANDOM_DIRECTIONS = 5
RESTARTS_OF_FOLDS = (
    4  # beside the start itself: on sentences kept out BLEU .4041 and .4036, with 20 .4028 and .4031, ± .005
)
NOTHING_GAINED = "no weights score higher on the candidates so far than the previous ones: they stay"


@dataclass(frozen=True)
class MERT(Optimiser):
    """Maximises the corpus score of the pool's best-scoring candidates itself, which no other optimiser here does.

    From the start weights, from other weights that `fit` is given (earlier iterations') and from random points, every
    climb goes along the coordinates and some random directions until none leads higher; the highest of all wins. It
    is for some twenty dense features. Up to 50 sparse features that vary are tuned with them; more keep their start
    weights, as a fixed part of the score, and a warning says so. Features that do not vary keep theirs too.

    Args:
        metric: the loss, any metric whose statistics add up, as corpus score.
        restarts: random starting points.
        random_directions: drawn for each start, in units of the features' scales; searched besides the coordinates.
        range: of the random starting points, not of the weights found: ``LM0=0..1,TM0=-1..1``, or with colons as
            mert-moses.pl has it; groups or components, 0..1 where nothing is said. Without any, points are drawn so
            that all features have as much to say, whatever their units (`Space.units`).
        active: features to tune, groups or components with commas between; empty: all. The others, and sparse
            features then, keep their weights in relation to each other.
        norm: ``l1``: the dense weights that vary have absolute sum 1, as Moses' tuning leaves them, sparse ones are
            divided by the same number; ``none``: as the search leaves them.
        seed: of starting points and directions.

    `Fit.objective` is the corpus score reached on the pool, `Fit.iterations` the number of line searches.

    Raises:
        ValueError: a hyper-parameter out of its range.
        UserError: an unknown metric or norm, a malformed range; in `fit`, a `range` or an `active` feature that does
            not exist.
    """

    metric: Metric | str = "BLEU"
    restarts: int = RESTARTS
    random_directions: int = RANDOM_DIRECTIONS
    range: str = ""
    active: str = ""
    norm: str = "l1"
    seed: int = DEFAULT_SEED

    name = "MERT"
    takes_others = True
    counts_if = {"range": ("restarts", bool)}  # noqa: RUF012 - of the base class

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("restarts", "random_directions", "seed"):
            at_least(name, getattr(self, name), 0)
        Ranges.parse(self.range)

    def _shown(self, name: str, value: object) -> list[tuple[str, str]]:
        return super()._shown(name, value or {"range": "0..1", "active": "all"}.get(name, value))

    def for_folds(self) -> MERT:
        """With few random starting points."""
        return replace(self, restarts=min(self.restarts, RESTARTS_OF_FOLDS))

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights] = ()) -> Fit:
        """The best weights of all climbs; the start weights if none gains anything."""
        metric = self.measure
        columns = Columns.of(pool)
        space = Space.of(columns, start, active=self.active, norm=self.norm)
        starts = self.starting_points(space, others)
        best = space.weights(space.point(start))
        objective = began = pool.corpus_score(metric, best)
        searches = 0
        if len(space.tuned):
            lines = LineSearch(columns.starts, pool.statistics(metric)[columns.order], metric)
            ascent = Ascent(lines, space.features(), space.fixed())
            for point, generator in starts:
                directions = generator.normal(size=(self.random_directions, len(point))) / space.scale
                summit = ascent.climb(point, directions)
                searches += summit.searches
                weights = space.weights(summit.point)
                score = pool.corpus_score(metric, weights)
                if score > objective + GAIN:
                    best, objective = weights, score
        gained = () if objective > began else (NOTHING_GAINED,)
        return Fit(best, objective, searches, space.warnings + gained)

    def starting_points(self, space: Space, others: Sequence[Weights] = ()) -> list[tuple[Floats, np.random.Generator]]:
        """The start, others, and random ones, each with random numbers of its own.

        Raises:
            UserError: `range` names a feature that does not exist.
        """
        points = []
        for k, weights in enumerate((space.start, *others)):
            points.append((space.point(weights), np.random.default_rng([self.seed, 0, k])))
        low, high = Ranges.parse(self.range).bounds(space.start.names)
        if not self.range:
            low, high = low * space.units, high * space.units
        for k in range(self.restarts):
            generator = np.random.default_rng([self.seed, 1, k])
            points.append((space.between(low, high, generator), generator))
        return points


class ProThenMert(Optimiser):
    """MERT that starts from PRO's weights besides the previous ones.

    Args:
        pro: what is run first.
        mert: what is run then.
    """

    name = "PRO+MERT"
    takes_others = True

    def __init__(self, pro: Optimiser, mert: MERT) -> None:
        self._pro = pro
        self._mert = mert

    def signature(self) -> Signature:
        """MERT's, and PRO's beside it."""
        pro = self._pro.signature()
        return self._mert.signature().with_settings({f"pro.{key}": value for key, value in pro.settings})

    def learn(self, pool: Pool, start: Weights, others: Sequence[Weights]) -> Fit:
        """As MERT does, with one more starting point."""
        first = self._pro.fit(pool, start)
        fit = self._mert.fit(pool, start, others=(first.weights, *others))
        return replace(fit, warnings=(*first.warnings, *fit.warnings))
