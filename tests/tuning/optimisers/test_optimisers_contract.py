"""What holds for every optimiser and every similarity of the registries, the next one included."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from build import NAMES, made_pool, start_of

from lasw.metrics import UserError, metric, parameters
from lasw.tuning import (
    OPTIMISERS,
    SIMILARITIES,
    Fit,
    Optimiser,
    Pool,
    Similarity,
    Weights,
    make_optimiser,
    make_similarity,
)

# Another value of a hyper-parameter that is a word; of each the first that its class takes.
WORDS = ("none", "mert,pro", "raw", "linear", "hybrid", "good=0..2", "good", "CHRF")
SOURCE = ["der rote Bus", "ein alter Bus faehrt langsam", "die neue Bruecke", "der rote Bus"]


def hyper_parameters(name: str) -> dict[str, object]:
    """The defaults of an optimiser's fields."""
    return {field.name: field.default for field in dataclasses.fields(OPTIMISERS.find(name))}  # type: ignore[arg-type]


def changed(name: str, key: str, value: object) -> Optimiser:
    """The optimiser with one hyper-parameter that is not its default."""
    made = OPTIMISERS.find(name)
    if isinstance(value, bool):
        return made(**{key: not value})
    if isinstance(value, int):
        return made(**{key: value - 1 if key == "variant" else value + 1})
    if isinstance(value, float):
        return made(**{key: value / 2 or 0.25})
    for word in WORDS:
        try:
            return made(**{key: word})
        except UserError:
            continue
    raise AssertionError(f"{name}: no other {key} found")


def fitted(name: str, *, sparse: bool) -> tuple[Pool, Weights, Fit]:
    pool = made_pool(sparse=sparse)
    start = Weights(NAMES, start_of(pool).dense, {"S_1": 0.05, "unseen": 0.25} if sparse else {})
    return pool, start, make_optimiser(name).fit(pool, start)


@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_an_optimiser_is_a_frozen_dataclass_with_defaults_and_help_for_each(name: str) -> None:
    made = OPTIMISERS.find(name)
    assert issubclass(made, Optimiser)
    assert made.name == name.upper()
    assert made() == make_optimiser(name)
    assert made.__dataclass_params__.frozen  # type: ignore[attr-defined]
    described = parameters(made)
    assert list(described) == list(hyper_parameters(name))
    assert [key for key, one in described.items() if not one.help] == []
    assert {"metric", "norm"} <= set(described)


@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_the_signature_tells_every_hyper_parameter(name: str) -> None:
    plain = str(make_optimiser(name).signature())
    assert plain.startswith(f"{name.upper()}|metric:")
    for key, value in hyper_parameters(name).items():
        assert str(changed(name, key, value).signature()) != plain, key


@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_hyper_parameters_out_of_range_are_refused_by_name(name: str) -> None:
    made = OPTIMISERS.find(name)
    for key, value in hyper_parameters(name).items():
        if isinstance(value, str) and key != "active":  # which needs the features
            with pytest.raises(UserError, match=r"no such thing|unknown"):
                made(**{key: "no such thing"})
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and key != "seed":
            for wrong in (-1.5, math.nan, math.inf) if isinstance(value, float) else (-1,):
                if (key, wrong) not in (("entropy", -1.5), ("reachable", -1.5), ("threshold", math.inf)):
                    with pytest.raises(ValueError, match=key.replace("_", ".")):
                        made(**{key: wrong})


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_a_fit_is_better_the_same_again_and_leaves_the_pool_alone(name: str, sparse: bool) -> None:
    pool, start, fit = fitted(name, sparse=sparse)
    again = fitted(name, sparse=sparse)[2]
    assert fit.weights.dense.tobytes() == again.weights.dense.tobytes()
    assert (fit.weights.sparse, fit.objective, fit.iterations) == (
        again.weights.sparse,
        again.objective,
        again.iterations,
    )
    bleu = metric("BLEU")
    assert pool.corpus_score(bleu, fit.weights) > pool.corpus_score(bleu, start) + 0.05
    assert np.isfinite([*fit.weights.dense, *fit.weights.sparse.values(), fit.objective]).all()
    assert fit.iterations > 0
    # `length` is the same in all candidates of a sentence, `unseen` in no list.
    assert fit.weights.dense[2] == start.dense[2]
    assert np.abs(fit.weights.dense[:2]).sum() == pytest.approx(1)
    assert fit.weights.sparse.get("unseen") == (0.25 if sparse else None)
    assert not sparse or fit.weights.sparse["S_0"] < 0
    untouched = made_pool(sparse=sparse)
    assert pool.dense.tobytes() == untouched.dense.tobytes()
    assert pool.statistics(bleu).tobytes() == untouched.statistics(bleu).tobytes()
    assert start.dense.tolist() == start_of(pool).dense.tolist()


@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_nothing_to_learn_one_warning_or_two_and_the_start_weights(name: str) -> None:
    pool = made_pool(candidates=1)
    fit = make_optimiser(name).fit(pool, start_of(pool))
    assert fit.weights.dense.tolist() == start_of(pool).dense.tolist()
    assert 1 <= len(fit.warnings) <= 2
    with pytest.raises(ValueError, match="an empty pool"):
        make_optimiser(name).fit(Pool(pool.references), start_of(pool))
    with pytest.raises(ValueError, match="other features"):
        make_optimiser(name).fit(pool, Weights.from_groups({"other": [1.0]}))
    with pytest.raises(ValueError, match="other features"):
        make_optimiser(name).fit(pool, start_of(pool), others=[Weights.from_groups({"other": [1.0]})])


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "some.vec"
    draw = np.random.default_rng(1)
    words = sorted({word for line in SOURCE for word in line.split()})
    lines = [f"{word} {' '.join(f'{x:.3f}' for x in draw.normal(size=4))}" for word in words]
    path.write_text(f"{len(words)} 4\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", list(SIMILARITIES))
def test_a_similarity_is_1_to_itself_0_to_the_unknown_and_the_same_alone_and_among_others(
    name: str, vectors: Path
) -> None:
    similarity = make_similarity(name, SOURCE, vectors=vectors)
    assert isinstance(similarity, Similarity)
    assert type(similarity).__doc__
    lines = [*SOURCE, "der Bus", "xyz yxz", "", "  \t "]
    matrix = similarity.matrix(lines)
    assert matrix.shape == (len(lines), len(SOURCE))
    assert ((matrix >= 0) & (matrix <= 1)).all()
    assert np.diag(matrix) == pytest.approx(np.ones(4))
    assert matrix[0, 3] == matrix[0, 0]
    assert matrix[4, 0] > matrix[4, 2]
    for k, line in enumerate(lines):
        assert similarity.to(line).tobytes() == matrix[k].tobytes()
    again = make_similarity(name, SOURCE, vectors=vectors)
    assert again.matrix(lines).tobytes() == matrix.tobytes()
    assert again.fingerprint() == similarity.fingerprint()
    if name != "bleu":  # whose counts are smoothed
        assert not matrix[5:].any()
    assert similarity.matrix([]).shape == (0, 0)


@pytest.mark.parametrize("name", list(OPTIMISERS))
def test_units_of_features_do_not_matter_where_no_start_is_given(name: str) -> None:
    # One feature a million times as large beside the other: start, random starts, steps and penalties are alike.
    pools = [made_pool(seed=4, sentences=30, units=units) for units in (1.0, 1000.0)]
    choices = [pool.best(make_optimiser(name).fit(pool).weights) for pool in pools]
    assert np.mean(choices[0] == choices[1]) > 0.9
    bleu = [pools[0].statistics(metric("BLEU"))[rows].sum(axis=0) for rows in choices]
    assert metric("BLEU").corpus_score(bleu[0]) == pytest.approx(metric("BLEU").corpus_score(bleu[1]), abs=0.01)
