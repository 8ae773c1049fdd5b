"""WRO-local: weights for one sentence from development sentences like it (Song 2015, section 5.2, algorithm 5.2).

For a sentence t every development sentence s gets the instance weight (equation 5.4)

    k_s = (alpha1 global_s + alpha2 f(SIMI(s, t))) / (alpha1 + alpha2),     f(v) = v^p  or  exp(beta v)

and the local weights minimise, in the units of the global training with its solution b0,

    F_t(b) = sum_s k_s L_s(b) + l2 / 2 |r b|^2 + lambda / 2 |b - b0|^2

r, one a column, is the root mean square of its differences under the weights k (1 under the global ones): the first two
terms are what the optimiser itself minimises when it is given these sentence weights. The last term, a Gaussian prior
around the global weights, is not in the thesis; lambda is given as a multiple of the mean curvature of the global loss,
so that it means the same for any number of sentences. A column that does not differ where k is above 0 keeps its global
weight.

Fast form: one Newton step from b0 with the stored gradients and Hessians (see `lasw.tuning.local.samples`),

    u = -(sum_s k_s H_s + l2 diag(r)^2 + lambda I)^-1 (sum_s k_s g_s + l2 diag(r)^2 b0)

whose cost does not depend on the number of pairs. Its error is about |u| / |b| times a third or less of the root mean
square of x u, the change of the pairs' scores; where that product is not small, as for a sentence with a near copy in
the development set, Newton's method goes on with the pairs. Exact form: Newton's method on all pairs to the end.
Norm, interpolation and features that were not learnt are as in the global training.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from threadpoolctl import ThreadpoolController

from lasw.metrics import UserError, unknown
from lasw.tuning.local.samples import LocalSamples
from lasw.tuning.local.similarities import SIMILARITIES
from lasw.tuning.optimisers import LOSSES, MAX_STEPS, MIRROR_IMAGES, STEP_LENGTHS, summed_squares, to_size
from lasw.tuning.pool import Floats, with_values
from lasw.tuning.weights import Weights

GLOBAL = "global"
_MOST_BETA = 25.0  # e^25 times a few hundred pairs still leaves the penalty some digits
_ROUNDING = 1e-12  # a gain below this share of the loss is not worth looking for
# One step is taken for good where the product that bounds its relative error is below this; measured on a real run, the
# error was between 1/20 and 1/2 of it. And once a step with the pairs is below `_SMALL`, the next would be its square.
_TRUSTED = 0.018
_SMALL = 0.03


@dataclass(frozen=True)
class Setting:
    """How local the weights are.

    Args:
        similarity: one of `lasw.tuning.local.similarities.SIMILARITIES`.
        power: p of f(v) = v^p, above 0; None with `beta`.
        beta: of f(v) = exp(beta v), from 0 to 25.
        prior: strength of the pull to the global weights, a multiple of the global loss's mean curvature.
        alpha1: of equation 5.4.
        alpha2: of equation 5.4.

    As text: ``bleu:power=1:prior=0.1:alphas=1,10``; what is left out has its default (power 1, no prior, 1 and 10).

    Raises:
        UserError: a value out of its range, an unknown similarity.
    """

    similarity: str = "bleu"
    power: float | None = 1.0
    beta: float | None = None
    prior: float = 0.0
    alpha1: float = 1.0
    alpha2: float = 10.0

    def __post_init__(self) -> None:
        if self.similarity not in SIMILARITIES:
            raise unknown("similarity", self.similarity, list(SIMILARITIES))
        if (self.power is None) == (self.beta is None):
            raise UserError("a local setting has power or beta, one of the two")
        _check("power", self.power, low=1e-3, high=100.0)
        _check("beta", self.beta, low=0.0, high=_MOST_BETA)
        _check("prior", self.prior, low=0.0, high=1e9)
        _check("alphas", self.alpha1, low=0.0, high=1e9)
        _check("alphas", self.alpha2, low=0.0, high=1e9)
        if self.alpha1 + self.alpha2 <= 0:
            raise UserError("both alphas are 0", expected="one of them above 0")

    @classmethod
    def parse(cls, text: str) -> Setting:
        """The setting that `str` writes.

        Raises:
            UserError: an unknown key, no number where one belongs, or as the class.
        """
        name, *parts = text.split(":")
        values: dict[str, float | None] = {}
        for part in parts:
            key, equals, value = part.partition("=")
            if not equals or key not in ("power", "beta", "prior", "alphas"):
                raise UserError(f"{part!r} in local setting {text!r}", expected="power=, beta=, prior= or alphas=A,B")
            numbers = [_number(one, text) for one in value.split(",")]
            if len(numbers) != (2 if key == "alphas" else 1):
                raise UserError(f"{part!r} in local setting {text!r}", expected="one number, two for alphas")
            if key in values or (key == "alphas" and "alpha1" in values):
                raise UserError(f"{key} is given twice in local setting {text!r}")
            values.update({"alpha1": numbers[0], "alpha2": numbers[1]} if key == "alphas" else {key: numbers[0]})
        if "beta" in values:
            values.setdefault("power", None)
        return cls(name, **values)  # type: ignore[arg-type]

    def __str__(self) -> str:
        sharpness = f"power={self.power:g}" if self.power is not None else f"beta={self.beta:g}"
        return f"{self.similarity}:{sharpness}:prior={self.prior:g}:alphas={self.alpha1:g},{self.alpha2:g}"

    def sharpened(self, similarities: Floats) -> Floats:
        """f of similarities in [0, 1], any shape."""
        if self.beta is not None:
            return np.exp(self.beta * similarities)
        assert self.power is not None
        return similarities if self.power == 1 else similarities**self.power

    def instance_weights(self, similarities: Floats, instance: Floats) -> Floats:
        """k, equation 5.4.

        Args:
            similarities: (..., S).
            instance: (S,) global instance weights.
        """
        total = self.alpha1 + self.alpha2
        return np.asarray((self.alpha1 / total) * instance + (self.alpha2 / total) * self.sharpened(similarities))


class LocalWeigher:
    """Weights for sentences under one setting.

    Args:
        samples: of a global training.
        setting: None: the global weights for every sentence.
    """

    def __init__(self, samples: LocalSamples, setting: Setting | None) -> None:
        self.samples, self.setting = samples, setting
        self._q = len(samples.columns)
        self._upper = np.triu_indices(self._q)
        # Side by side: one product with the instance weights gives all sums.
        triangle = samples.hessian[:, *self._upper]
        self._terms = np.concatenate([samples.squares, samples.counts, samples.gradient, triangle], axis=1)
        self._curvature = self._curvatures()

    @cached_property
    def global_weights(self) -> Weights:
        """Those of the global training."""
        return self._sized(self.samples.solution)

    @cached_property
    def pull(self) -> float:
        """lambda."""
        prior = 0.0 if self.setting is None else self.setting.prior
        mean = float(np.einsum("s,sii->", self.samples.instance, self.samples.hessian)) / self._q
        return prior * mean

    def weights(self, similarities: Floats, *, exact: bool = False) -> Weights:
        """The weights of one sentence.

        Args:
            similarities: (S,) of the development sentences to it.
            exact: the optimum, by iterating on all pairs.
        """
        if self.setting is None:
            return self.global_weights
        k = self.setting.instance_weights(similarities, self.samples.instance)
        # One sentence at a time and not by BLAS: the same bits alone and among others, on any number of cores.
        summed = np.einsum("s,sk->k", k, self._terms)
        b = self._steps(summed[None])[0]
        if exact or self._doubt(k, summed, b) > _TRUSTED:
            with _controller().limit(limits=1, user_api="blas"):
                b = self.optimum(k, b, enough=0.0 if exact else _SMALL)
        return self._sized(b)

    def steps(self, k: Floats, centre: Floats | None = None) -> Floats:
        """(T, q) weights after the Newton step, in the units of the columns.

        Args:
            k: (T, S) instance weights.
            centre: (T, q) of the prior; by default the global solution.
        """
        return self._steps(k @ self._terms, centre)

    def _steps(self, summed: Floats, centre: Floats | None = None) -> Floats:
        s, q = self.samples, self._q
        penalty, zero = self._penalty(summed[:, : 2 * q])
        gradient = summed[:, 2 * q : 3 * q] + penalty * (s.solution - zero)
        if centre is not None:
            gradient = gradient + self.pull * (s.solution - centre)
        hessian = np.empty((len(summed), q, q))
        hessian[:, self._upper[0], self._upper[1]] = summed[:, 3 * q :]
        hessian[:, self._upper[1], self._upper[0]] = summed[:, 3 * q :]
        hessian[:, np.arange(q), np.arange(q)] += penalty + self.pull
        return np.asarray(s.solution - np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0])

    def _penalty(self, summed: Floats) -> tuple[Floats, Floats]:
        """(T, q) l2 r^2, and where it pulls to: 0, or b0 for columns that do not differ.

        Args:
            summed: (T, 2 q) sums of squares, then of counts.
        """
        s, q = self.samples, self._q
        squares, counts = summed[:, :q], summed[:, q:]
        mean = np.divide(squares, counts, out=np.zeros_like(squares), where=counts > 0)
        still = mean <= s.noise**2
        return s.l2 * np.where(still, 1.0, mean), np.where(still, s.solution, 0.0)

    def _curvatures(self) -> Floats:
        """(S,) second derivatives of each sentence's pairs at b0, summed."""
        s = self.samples
        z = s.x @ s.solution + s.offset
        curvature = MIRROR_IMAGES * LOSSES[s.loss]().curvature(z, s.labels)
        return np.asarray(np.bincount(s.sentence, curvature, len(s.instance)), dtype=np.float64)

    def _doubt(self, k: Floats, summed: Floats, b: Floats) -> float:
        """What bounds the relative error of one step to (q,) `b`; `summed` are the terms under the weights k (S,)."""
        if self.samples.loss == "linear":
            return 0.0  # its Hessian is the same everywhere
        u = b - self.samples.solution
        products = np.outer(u, u)[self._upper] * np.where(self._upper[0] == self._upper[1], 1.0, 2.0)
        change = float(summed[3 * self._q :] @ products) / max(float((k * self._curvature).sum()), 1e-300)
        size = np.abs(b / self.samples.scale).sum()
        relative = np.abs(u / self.samples.scale).sum() / size if size > 0 else np.inf
        return float(np.sqrt(max(change, 0.0)) * relative)

    def optimum(self, k: Floats, b: Floats, *, enough: float = 0.0) -> Floats:
        """(q,) the minimum of F_t for instance weights (S,), from `b` on, by Newton's method.

        Args:
            k: as said.
            b: as said.
            enough: behind a step of at most this size, relative to b, it ends; 0: nothing is left to gain.
        """
        s = self.samples
        of = LOSSES[s.loss]()
        c = MIRROR_IMAGES * k[s.sentence]
        there = c > 0
        x, offset, y = s.x, s.offset, s.labels
        if not there.all():
            x, offset, y, c = x[there], offset[there], y[there], c[there]
        penalty, zero = (found[0] for found in self._penalty((k @ self._terms[:, : 2 * self._q])[None]))

        def value(z: Floats, b: Floats) -> float:
            pulls = penalty @ (b - zero) ** 2 + self.pull * ((b - s.solution) ** 2).sum()
            return float(c @ of.value(z, y) + 0.5 * pulls)

        z = x @ b + offset
        at = None
        for _ in range(MAX_STEPS):
            gradient = (c * of.slope(z, y)) @ x + penalty * (b - zero) + self.pull * (b - s.solution)
            hessian = summed_squares(x, c * of.curvature(z, y), penalty + self.pull)
            direction = np.linalg.solve(hessian, gradient)
            if np.abs(direction / s.scale).sum() <= enough * np.abs(b / s.scale).sum():
                return np.asarray(b - direction)
            at = value(z, b) if at is None else at
            if gradient @ direction <= _ROUNDING * at:  # what is left to gain drowns in rounding
                return np.asarray(b - direction)
            for length in STEP_LENGTHS:
                tried = b - length * direction
                scores = x @ tried + offset
                lower = value(scores, tried)
                if lower <= at:
                    break
            else:
                return b
            b, z, at = tried, scores, lower
        return b

    def vector(self, b: Floats) -> Floats:
        """(d + p,) weights of all features, brought to size, of (q,) weights in the columns' units."""
        s = self.samples
        vector = s.regression.copy()
        vector[s.columns] = b / s.scale
        vector += s.lengthening
        norm, psi = str(s.header["norm"]), float(s.header["psi"])
        return to_size(vector, s.moved, s.previous, len(s.names), norm=norm, psi=psi)

    def _sized(self, b: Floats) -> Weights:
        s, vector = self.samples, self.vector(b)
        d = len(s.names)
        return Weights(s.names, vector[:d], with_values({}, s.sparse_names, vector[d:]))


@cache
def _controller() -> ThreadpoolController:
    """Of NumPy's libraries: to look for them takes a millisecond, a fifth of an optimum."""
    return ThreadpoolController()


def fast_form_error(weigher: LocalWeigher, similarities: Floats) -> float:
    """The largest |fast - exact|_1 / |exact|_1 of the dense weights of sentences with `similarities` (T, S)."""
    worst = 0.0
    for row in similarities:
        fast, exact = weigher.weights(row).dense, weigher.weights(row, exact=True).dense
        worst = max(worst, float(np.abs(fast - exact).sum() / np.abs(exact).sum()))
    return worst


def _check(name: str, value: float | None, *, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise UserError(f"{name} of a local setting is {value:g}", expected=f"{low:g} to {high:g}")


def _number(text: str, setting: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{text!r} in local setting {setting!r}", expected="a number") from None
