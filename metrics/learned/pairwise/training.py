"""Training of the pairwise network (Guzmán et al. 2015, sections 3.3, 4.4 and 6.4): Adagrad with early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lasw.metrics.agreement import Judgements, tau_of_counts
from lasw.metrics.errors import UserError
from lasw.metrics.learned.learning import by_system
from lasw.metrics.learned.pairwise.inputs import PairwiseInputs, PreparedInputs
from lasw.metrics.learned.pairwise.model import PairwiseModel, Scaling
from lasw.metrics.learned.pairwise.network import (
    KENDALL,
    LOGISTIC,
    Floats,
    Network,
    Shape,
    Triples,
    averaged,
    cost_and_gradient,
    initial,
    sigmoid,
)
from lasw.metrics.text import Corpus

LOSSES = (LOGISTIC, KENDALL, "both")
MOST_DECAY, MOST_NETWORKS = 1e3, 1000
_BATCH = 30
_RATE = 0.01
_TINY = 1e-8
_RANGES = {
    "held-out": "a number between 0 and 1",
    "decay": f"0 to {MOST_DECAY:g}",
    "networks": f"1 to {MOST_NETWORKS}",
}


@dataclass(frozen=True)
class Examples:
    """m preferences between translations, all that the network sees of them, not scaled.

    Attributes:
        vectors, skip: (n, d) and (n, k) of n translations.
        references: (s, d) of s segments.
        better, worse: (m,) translation that people preferred, and the other.
        segment: (m,) of each preference.
    """

    vectors: Floats
    skip: Floats
    references: Floats
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    segment: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.segment)

    def take(self, rows: NDArray[np.integer]) -> Examples:
        """Only the preferences `rows`."""
        return replace(self, better=self.better[rows], worse=self.worse[rows], segment=self.segment[rows])

    def judged(self) -> Examples:
        """The same preferences without the translations and segments that none is about."""
        rows, places = np.unique(np.stack([self.better, self.worse]), return_inverse=True)
        segments, segment = np.unique(self.segment, return_inverse=True)
        better, worse = places.reshape(2, -1)
        return Examples(self.vectors[rows], self.skip[rows], self.references[segments], better, worse, segment)


@dataclass(frozen=True)
class Settings:
    """How a network is trained; all defaults but epochs and patience are the paper's.

    Attributes:
        loss: ``logistic``, ``kendall``, or ``both``, first the one and then the other.
        hidden: nodes in each of the three groups.
        decay: of the squared weights.
        epochs: at most so many passes over the data, with each loss.
        patience: with each loss, the end comes after so many passes without a better tau.
        networks: how many are trained, from different first weights, and averaged (see `averaged`); the paper has 1.
        held_out: share of the segments that tau is measured on, where no other data is given for it.
        seed: of all that is drawn.
    """

    loss: str = LOGISTIC
    hidden: int = 4
    decay: float = 1e-4
    epochs: int = 200
    patience: int = 20
    networks: int = 1
    held_out: float = 0.1
    seed: int = 1

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise UserError(f"loss {self.loss!r}", expected=", ".join(LOSSES))
        for name, value, right in (
            ("hidden", self.hidden, self.hidden >= 0),
            ("decay", self.decay, 0 <= self.decay <= MOST_DECAY),
            ("epochs", self.epochs, self.epochs >= 1),
            ("patience", self.patience, self.patience >= 1),
            ("networks", self.networks, 1 <= self.networks <= MOST_NETWORKS),
            ("held-out", self.held_out, 0 < self.held_out < 1),
            ("seed", self.seed, self.seed >= 0),
        ):
            if not right:
                raise UserError(f"{name} {value}", expected=_RANGES.get(name, "more"))


def examples(data: Sequence[Judgements], inputs: PairwiseInputs) -> Examples:
    """What the network sees of people's preferences.

    Raises:
        UserError: a sentence has no vector, where they are from a file.
    """
    parts: list[Examples] = []
    translations = segments = 0
    for judgements in data:
        prepared = inputs.prepare(judgements.evaluation.references)

        def columns(hypotheses: Corpus, owner: NDArray[np.int32], prepared: PreparedInputs = prepared) -> Floats:
            return np.hstack(inputs.of(hypotheses, prepared, owner))

        table = by_system(judgements, columns)
        size, n = table.shape[0] * table.shape[1], table.shape[1]
        rows = table.reshape(size, -1)
        d = rows.shape[1] - inputs.width
        better, worse = (translations + side * n + judgements.segment for side in (judgements.better, judgements.worse))
        parts.append(Examples(rows[:, :d], rows[:, d:], prepared.vectors, better, worse, segments + judgements.segment))
        translations, segments = translations + size, segments + n
    arrays = zip(*(vars(part).values() for part in parts), strict=True)
    return Examples(*map(np.concatenate, arrays))


def check_hidden(inputs: PairwiseInputs, settings: Settings) -> None:
    """Vectors reach a decision through the hidden layer alone: without one they have no part in it.

    Raises:
        UserError: there are vectors, and no hidden node.
    """
    if inputs.files and not settings.hidden:
        raise UserError(
            "vectors for a network without hidden nodes, which does not see them",
            expected="hidden at least 1",
            remedy="or skip features alone, without vectors" if inputs.skip else None,
        )


def split(data: Examples, share: float, seed: int) -> tuple[Examples, Examples]:
    """Without and with a share of the segments, drawn at random.

    Raises:
        UserError: either has no preference.
    """
    segments = np.unique(data.segment)
    drawn = np.random.default_rng([seed, 1]).permutation(segments)[: max(1, round(share * len(segments)))]
    held = np.isin(data.segment, drawn)
    if held.all():
        raise UserError(
            f"preferences of {len(segments)} segments", expected="enough to train on some and test on others"
        )
    return data.take(np.flatnonzero(~held)), data.take(np.flatnonzero(held))


def train(data: Examples, held_out: Examples, settings: Settings) -> tuple[Network, Scaling, dict[str, float]]:
    """Train a network: of all passes that with the highest tau on `held_out`, the latest of equal ones.

    Returns:
        The network, how its inputs are scaled, and tau (WMT12), symmetry (see `symmetry`) and the number of passes.
    """
    from threadpoolctl import threadpool_limits

    data, held_out = data.judged(), held_out.judged()
    scaling = Scaling.of(data.vectors, data.references, data.skip)
    seen, unseen = scaled(data, scaling), scaled(held_out, scaling)
    d, k = seen.vectors.shape[1], seen.skip.shape[1]
    shape = Shape(d, k, settings.hidden if d else 0)
    networks, passes = [], 0
    for number in range(settings.networks):
        generator = np.random.default_rng([settings.seed, 2 * number])
        best = initial(shape, generator)
        with threadpool_limits(limits=1, user_api="blas"):  # whose last bits depend on the number of threads
            for loss in (LOGISTIC, KENDALL) if settings.loss == "both" else (settings.loss,):
                best, run = _descend(best, shape, seen, unseen, loss, settings, generator)
                passes += run
        networks.append(Network(best, shape))
    network = averaged(networks) if len(networks) > 1 else networks[0]
    return network, scaling, {"tau": tau(network, unseen), "passes": passes, **symmetry(network, unseen)}


def _descend(
    theta: Floats,
    shape: Shape,
    data: Examples,
    held_out: Examples,
    loss: str,
    settings: Settings,
    generator: np.random.Generator,
) -> tuple[Floats, int]:
    """Adagrad (Duchi et al. 2011) from `theta`; the best parameters, which may be these, and how many passes it was."""
    theta, best, best_tau, best_pass = theta.copy(), theta, tau(Network(theta, shape), held_out), 0
    squares = np.zeros_like(theta)
    for number in range(1, settings.epochs + 1):
        order = generator.permutation(len(data))
        for start in range(0, len(order), _BATCH):
            batch = _triples(data, order[start : start + _BATCH])
            _, gradient = cost_and_gradient(theta, shape, batch, loss, settings.decay)
            squares += gradient**2
            theta -= _RATE * gradient / (np.sqrt(squares) + _TINY)
        now = tau(Network(theta, shape), held_out)
        if now >= best_tau:
            best, best_tau, best_pass = theta.copy(), now, number
        elif number - best_pass >= settings.patience:
            break
    return best, number


def scaled(data: Examples, scaling: Scaling) -> Examples:
    """The data as the network sees them."""
    vectors, references = scaling.vectors(data.vectors), scaling.vectors(data.references)
    return replace(data, vectors=vectors, skip=scaling.skip(data.skip), references=references)


def _triples(data: Examples, rows: NDArray[np.int64]) -> Triples:
    better, worse = data.better[rows], data.worse[rows]
    return Triples(
        data.vectors[better],
        data.vectors[worse],
        data.references[data.segment[rows]],
        data.skip[better],
        data.skip[worse],
    )


def outputs(network: Network, data: Examples) -> tuple[Floats, Floats]:
    """(m,) probabilities that the better one is better, asked in this order, and that the worse one is, in the other.

    Args:
        data: scaled.
    """
    projected, skipped = network.projected(data.vectors), network.skipped(data.skip)
    references = network.projected_references(data.references)[data.segment]
    sides = [(projected[side], skipped[side]) for side in (data.better, data.worse)]
    (a, psi_a), (b, psi_b) = sides
    forward = network.logits(a, b, references, psi_a, psi_b)
    return sigmoid(forward), sigmoid(network.logits(b, a, references, psi_b, psi_a))


def tau(network: Network, data: Examples) -> float:
    """Kendall's tau as WMT12 had it of decisions on scaled data: which order has the higher probability."""
    forward, backward = outputs(network, data)
    orders = np.array([np.count_nonzero(forward > backward), np.count_nonzero(forward < backward), len(data)])
    return float(tau_of_counts(orders, 12))


def symmetry(network: Network, data: Examples) -> dict[str, float]:
    """How far p(t1, t2) + p(t2, t1) is from 1, mean and largest; the share of pairs where both orders say the same."""
    forward, backward = outputs(network, data)
    gap = np.abs(forward + backward - 1)
    consistent = (forward > 0.5) != (backward > 0.5)
    return {"gap": float(gap.mean()), "largest-gap": float(gap.max()), "consistent": float(consistent.mean())}


def train_pairwise(
    inputs: PairwiseInputs, data: Examples, held_out: Examples | None = None, settings: Settings | None = None
) -> PairwiseModel:
    """Train on people's preferences.

    Args:
        inputs: what the network sees; `data` and `held_out` come from `examples` with the same.
        held_out: for early stopping; by default a share of the segments of `data`.
        settings: by default the paper's.

    Raises:
        UserError: too little data, or vectors that the network would not see.
    """
    settings = settings or Settings()
    check_hidden(inputs, settings)
    if held_out is None:
        data, held_out = split(data, settings.held_out, settings.seed)
    network, scaling, quality = train(data, held_out, settings)
    opponent = scaling.skip(data.judged().skip).mean(axis=0)
    training = {**vars(settings), "preferences": len(data), "held-out-preferences": len(held_out), **quality}
    return PairwiseModel(inputs, network, scaling, opponent, training=training)
