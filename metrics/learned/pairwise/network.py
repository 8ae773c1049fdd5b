"""The pairwise network (Guzmán et al. 2015, section 3): which of two translations is better, given the reference.

f(t1, t2, r) = sig(v [h12, h1r, h2r] + u1 psi(t1, r) + u2 psi(t2, r) + c), the three groups h of H tanh nodes each, on
the vectors of (t1, t2), (t1, r) and (t2, r); psi are numbers that skip the hidden layer. Without vectors the groups are
left out, and it is logistic regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LOGISTIC, KENDALL = "logistic", "kendall"
GAMMA = BETA = 100.0  # section 6.4


class Shape(NamedTuple):
    """Sizes: of sentence vectors `d`, of skip features `k`, of each hidden group `H`."""

    d: int
    k: int
    H: int

    @property
    def parameters(self) -> int:
        """How many numbers the network has."""
        return 3 * self.H * (2 * self.d + 2) + 2 * self.k + 1


class Parts(NamedTuple):
    """The parameters as arrays, groups in the order (t1, t2), (t1, r), (t2, r).

    `weights` (3, 2d, H) and `biases` (3, H) of the hidden layer; `output` (3, H), `skip` (2, k), `bias` (1,).
    """

    weights: Floats
    biases: Floats
    output: Floats
    skip: Floats
    bias: Floats


class Triples(NamedTuple):
    """m inputs: `first`, `second`, `reference` (m, d); `first_skip`, `second_skip` (m, k); all scaled."""

    first: Floats
    second: Floats
    reference: Floats
    first_skip: Floats
    second_skip: Floats

    def swapped(self) -> Triples:
        """The two translations the other way round."""
        return Triples(self.second, self.first, self.reference, self.second_skip, self.first_skip)


def parts(theta: Floats, shape: Shape) -> Parts:
    """Views of the flat parameters (P,)."""
    d, k, H = shape
    sizes = (3 * 2 * d * H, 3 * H, 3 * H, 2 * k, 1)
    w, b, v, u, c = np.split(theta, np.cumsum(sizes)[:-1])
    return Parts(w.reshape(3, 2 * d, H), b.reshape(3, H), v.reshape(3, H), u.reshape(2, k), c)


def initial(shape: Shape, generator: np.random.Generator) -> Floats:
    """(P,) first parameters.

    Weights from and to the hidden layer are uniform within sqrt(6 / (inputs + outputs)) of 0 (Glorot & Bengio 2010).
    Skip features, which no symmetry holds together, begin at 0, as biases do: with Adagrad's small steps a weight that
    begins with the wrong sign keeps it for long.
    """
    theta = np.zeros(shape.parameters)
    p = parts(theta, shape)
    for array, ends in ((p.weights, 2 * shape.d + shape.H), (p.output, 3 * shape.H + 2 * shape.k + 1)):
        reach = np.sqrt(6 / ends) if array.size else 0.0
        array[...] = generator.uniform(-reach, reach, array.shape)
    return theta


def logits_and_hidden(theta: Floats, shape: Shape, x: Triples) -> tuple[Floats, Floats, Floats]:
    """(m,) what the sigmoid gets, (3, m, H) the hidden layer, and its inputs (3, m, 2d)."""
    p = parts(theta, shape)
    pairs = ((x.first, x.second), (x.first, x.reference), (x.second, x.reference))
    inputs = np.stack([np.concatenate(pair, axis=1) for pair in pairs])
    hidden = np.tanh(inputs @ p.weights + p.biases[:, None])
    logits = np.einsum("gmh,gh->m", hidden, p.output) + x.first_skip @ p.skip[0] + x.second_skip @ p.skip[1] + p.bias
    return logits, hidden, inputs


def cost_and_gradient(theta: Floats, shape: Shape, x: Triples, loss: str, decay: float) -> tuple[float, Floats]:
    """The mean cost of preferences, of which `first` is always the better one, and its gradient (P,).

    Every preference is looked at in both orders, so that none is the better one for where it stands. logistic: the mean
    of both orders' negative log likelihood (eq. 4). kendall: sig(-gamma D) + exp(-beta D^2 / 2), where D is the
    difference of the two orders' outputs (section 6.4; without eq. 6's minus in front, with which disagreement would
    pay). To it comes decay / 2 times the squared weights, without biases.
    """
    p, m = parts(theta, shape), len(x.first_skip)
    both = Triples(*(np.concatenate(pair) for pair in zip(x, x.swapped(), strict=True)))
    logits, hidden, inputs = logits_and_hidden(theta, shape, both)
    cost, slope = _logistic(logits) if loss == LOGISTIC else _kendall(logits)
    slope /= m
    gradient = np.zeros_like(theta)
    g = parts(gradient, shape)
    back = slope[:, None] * p.output[:, None] * (1 - hidden**2)
    g.weights[...] = inputs.transpose(0, 2, 1) @ back
    g.biases[...] = back.sum(axis=1)
    g.output[...] = np.einsum("gmh,m->gh", hidden, slope)
    g.skip[0], g.skip[1] = slope @ both.first_skip, slope @ both.second_skip
    g.bias[...] = slope.sum()
    total = float(cost) / m
    for array, its_gradient in ((p.weights, g.weights), (p.output, g.output), (p.skip, g.skip)):
        total += decay / 2 * float(np.sum(array**2))
        its_gradient += decay * array
    return total, gradient


def _logistic(logits: Floats) -> tuple[Floats, Floats]:
    """Summed cost of 2m logits, of which the first m should be high and the rest low, and its derivatives (2m,)."""
    m = len(logits) // 2
    sign = np.concatenate([np.full(m, -1.0), np.ones(m)])
    cost = 0.5 * np.logaddexp(0.0, sign * logits).sum()
    return cost, 0.5 * sign * sigmoid(sign * logits)


def _kendall(logits: Floats) -> tuple[Floats, Floats]:
    outputs = sigmoid(logits)
    m = len(logits) // 2
    difference = outputs[:m] - outputs[m:]
    wrong = sigmoid(-GAMMA * difference)
    tie = np.exp(-BETA * difference**2 / 2)
    slope = -GAMMA * wrong * (1 - wrong) - BETA * difference * tie
    return (wrong + tie).sum(), np.concatenate([slope, -slope]) * outputs * (1 - outputs)


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), also where exp(-x) is too large for a number."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x))


@dataclass(frozen=True)
class Network:
    """A trained network.

    Args:
        theta: (P,) parameters, see `parts`.
        shape: sizes.

    A translation and a reference meet the hidden layer as sums of products with one vector each, so these are computed
    once a sentence (`projected`, `projected_references`) and a decision costs a few additions.
    """

    theta: Floats
    shape: Shape

    def projected(self, vectors: Floats) -> Floats:
        """(n, 4H): translations' part in the groups as t1 of (t1, t2), as t2 of it, in (t1, r), in (t2, r)."""
        w, d = parts(self.theta, self.shape).weights, self.shape.d
        return _product(vectors, np.hstack([w[0, :d], w[0, d:], w[1, :d], w[2, :d]]))

    def projected_references(self, vectors: Floats) -> Floats:
        """(n, 2H): references' part in the groups (t1, r) and (t2, r), biases included."""
        p, d = parts(self.theta, self.shape), self.shape.d
        return _product(vectors, np.hstack([p.weights[1, d:], p.weights[2, d:]])) + p.biases[1:].ravel()

    def skipped(self, skip: Floats) -> Floats:
        """(n, 2): what skip features (n, k) add to a decision, as the first translation and as the second."""
        return _product(skip, parts(self.theta, self.shape).skip.T)

    def logits(
        self, first: Floats, second: Floats, references: Floats, first_skip: Floats, second_skip: Floats
    ) -> Floats:
        """(m,) log odds that the first translation is better; arguments, row by row, from the methods above."""
        H, p = self.shape.H, parts(self.theta, self.shape)
        columns = (
            first[:, :H] + second[:, H : 2 * H] + p.biases[0],
            first[:, 2 * H : 3 * H] + references[:, :H],
            second[:, 3 * H :] + references[:, H:],
        )
        total = p.bias[0] + first_skip[:, 0] + second_skip[:, 1]
        for group, weights in zip(columns, p.output, strict=True):
            hidden = np.tanh(group)
            for node, weight in enumerate(weights):
                total = total + weight * hidden[:, node]
        return np.asarray(total)


def averaged(networks: Sequence[Network]) -> Network:
    """One network whose log odds are the mean of those of several of one shape: all their hidden nodes side by side."""
    shape = networks[0].shape
    members = [parts(network.theta, shape) for network in networks]
    whole = Shape(shape.d, shape.k, len(networks) * shape.H)
    theta = np.zeros(whole.parameters)
    p = parts(theta, whole)
    p.weights[...] = np.concatenate([x.weights for x in members], axis=2)
    p.biases[...] = np.concatenate([x.biases for x in members], axis=1)
    p.output[...] = np.concatenate([x.output for x in members], axis=1) / len(networks)
    p.skip[...] = np.mean([x.skip for x in members], axis=0)
    p.bias[...] = np.mean([x.bias for x in members], axis=0)
    return Network(theta, whole)


def _product(rows: Floats, matrix: Floats) -> Floats:
    """(n, c) `rows` (n, d) times `matrix` (d, c), row by row the same bits however many rows there are."""
    out = np.zeros((len(rows), matrix.shape[1]))
    for column, weights in zip(rows.T, matrix, strict=True):
        out += column[:, None] * weights
    return out
