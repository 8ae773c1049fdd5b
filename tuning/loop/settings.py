"""A tuning run as settings: TOML files in four sections, every key checked, the defaults in the classes themselves.

    [run]        how the loop runs (`RunSettings`)
    [data]       the development set (`DataSettings`)
    [decoder]    name = "..." and the arguments of that decoder's class
    [optimiser]  name = "..." and the arguments of that optimiser's class; without it the default optimiser

Relative paths in a file are meant from the folder of the file, those on the command line from where one is.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from lasw.metrics import UserError
from lasw.tuning.decoders import DECODERS
from lasw.tuning.optimisers import DEFAULT_OPTIMISER, DEFAULT_SEED, OPTIMISERS, CountsIf, Optimiser, make_optimiser
from lasw.tuning.settings import (
    Document,
    Section,
    Sections,
    did_you_mean,
    made,
    name_and_arguments,
)

# Of the pool's gain, in standard errors. 1 kept less than 99.5 % of the plain loop's development score for some seeds,
# 1/4 was no better than 1/2 (tests/benchmarks/bench_rounds.py).
NOISE = 0.5
FIRST_INTERPOLATED = 4  # of mert-moses.pl's --historic-interpolation
Keep: TypeAlias = Literal["best", "held-out", "last"]
# How far a round goes, see `lasw.tuning.loop.steps`.
Steps: TypeAlias = Literal["trust", "growing", "whole"]
STEPS: tuple[Steps, ...] = typing.get_args(Steps)
TRUST, GROWING, WHOLE = STEPS
MOST_PERTURBED = 1e6  # nothing is left of the centre, and scores stay finite


@dataclass(frozen=True)
class RunSettings:
    """How the loop runs.

    `lasw.tuning.loop.rounds` says what a round decodes with beside the current weights, `lasw.tuning.loop.stopping`
    when the run ends.

    Args:
        directory: the run's folder, made if need be.
        seed: of everything that is drawn.
        iterations: at most so many; 0: no limit.
        nbest: hypotheses asked for per sentence.
        tolerance: the weights have settled if no dense one moved more than this.
        keep: ``best``: the weights with the best development score; ``held-out``: those with the best one less what the
            sentences are good for by heart (the gain of the iteration minus that found by cross-validation); ``last``:
            those of the last iteration, or of the one before it where the run ended because sentences kept out lose.
        dev_metric: of the development score.
        start: a file of weights to start from; by default the decoder's own.
        noise: the run ends when, from the second round on, the new weights score higher than the ones before on the
            pool of all candidates, by dev_metric, by at most so many times the bootstrap standard error of that
            difference, and the last decoding gained no more than two; or when, with folds and step ``trust``, sentences
            kept out lose more than a standard error; 0: not looked at.
        patience: in so many rounds one after the other.
        first_nbest: hypotheses asked for in the first round; 0: nbest.
        nbest_growth: every round asks for so many times as many hypotheses as the one before.
        perturbed: so many weight vectors drawn around the current ones are decoded with as well.
        perturbation: their standard deviation, as a share of the root mean square of the weights, each times the scale
            of its feature.
        perturbed_rounds: only in the first so many rounds; 0: in all.
        decode_best: the weights with the best development score so far are decoded with as well, unless the pool has
            their list already.
        aggregate: the optimiser sees the lists of so many last rounds; 0: of all.
        step: how far a round goes towards the weights that the optimiser proposes. ``trust``: short steps first, which
            grow while the decoder confirms them on a sample of the sentences and on all; ``growing``: the same
            without asking; ``whole``: all the way.
        folds: every round's gain is found by cross-validation too, learning without one part after the other of so many
            parts of the sentences; 0: it is not.
        interpolation: below 1: steps of this share of the new weights instead, the rest is those of the round before.
        interpolation_from: number of the first round that interpolates.
        earlier_starts: the optimiser starts from the weights of earlier rounds too (optimisers with starting points).
        min_count: sparse features that fewer sentences of the pool have are left out of a round's optimisation.

    Raises:
        ValueError: a setting out of its range.
    """

    counts_if: ClassVar[CountsIf] = {
        "perturbation": ("perturbed", bool),
        "perturbed_rounds": ("perturbed", bool),
        "interpolation_from": ("interpolation", lambda share: share < 1),
        "step": ("interpolation", lambda share: share == 1),
        "patience": ("noise", bool),
    }

    directory: Path
    seed: int = DEFAULT_SEED
    iterations: int = 15
    nbest: int = 100
    tolerance: float = 1e-5
    keep: Keep = "best"
    dev_metric: str = "BLEU"
    start: Path | None = None
    noise: float = NOISE
    patience: int = 1
    first_nbest: int = 0
    nbest_growth: float = 1.0
    perturbed: int = 0
    perturbation: float = 0.3
    perturbed_rounds: int = 0
    decode_best: bool = False
    aggregate: int = 0
    step: Steps = "trust"
    folds: int = 3
    interpolation: float = 1.0
    interpolation_from: int = FIRST_INTERPOLATED
    earlier_starts: bool = False
    min_count: int = 1

    def __post_init__(self) -> None:
        self._refuse("keep", self.keep in typing.get_args(Keep), ", ".join(typing.get_args(Keep)))
        self._refuse("step", self.step in STEPS, ", ".join(STEPS))
        if self.iterations < 0:
            raise ValueError(f"{self.iterations} iterations, expected at least 1, or 0 for no limit")
        if self.nbest < 1:
            raise ValueError(f"{self.nbest} hypotheses, expected at least 1")
        for name in ("seed", "tolerance", "aggregate", "min_count"):
            self._refuse(name, getattr(self, name) >= 0, "0 or more")
        if min(self.first_nbest, self.perturbed, self.perturbed_rounds) < 0:
            raise ValueError("first_nbest, perturbed and perturbed_rounds must be at least 0")
        if self.keep == "held-out" and not self.folds:
            raise ValueError("keep is held-out, folds is 0, expected 2 or more")
        self._refuse("folds", self.folds == 0 or self.folds >= 2, "0, or 2 or more")
        self._refuse("nbest_growth", 0 < self.nbest_growth < math.inf, "above 0")
        most = f"above 0 and at most {MOST_PERTURBED:g}"
        self._refuse("perturbation", 0 < self.perturbation <= MOST_PERTURBED, most)
        self._refuse("noise", 0 <= self.noise < math.inf, "0 or more")
        self._refuse("patience", self.patience >= 1, "at least 1")
        self._refuse("interpolation", 0 < self.interpolation <= 1, "above 0 and at most 1")
        self._refuse("interpolation_from", self.interpolation_from >= 1, "at least 1")

    def _refuse(self, name: str, fits: bool, expected: str) -> None:
        if not fits:
            raise ValueError(f"{name} is {getattr(self, name)}, expected {expected}")


@dataclass(frozen=True)
class DataSettings:
    """The development set.

    Args:
        source: what is decoded, a sentence a line.
        references: one file or several, each with a line per source sentence.
        encoding: of these files.
        tokenize: one of sacreBLEU's tokenisers for the references; by default tokens are split on space and tab.
        lowercase: lower-case the references first.
        strip_marks: take phrase marks (|0-2|) and factors (word|NN) of Moses away first.
        join: put sub-words together first, bpe or sentencepiece.
        unescape: turn what Moses' tokeniser escapes (&quot; &apos; ...) back first.
        force: go on with lists whose text is surely not what it seems.
    """

    source: Path
    references: tuple[Path, ...]
    encoding: str = "utf-8"
    tokenize: str | None = None
    lowercase: bool = False
    strip_marks: bool = False
    join: str | None = None
    unescape: bool = False
    force: bool = False


CONFIGURATION = Document(
    "configuration",
    {
        "run": Section.of_class(RunSettings),
        "data": Section.of_class(DataSettings),
        "decoder": Section.of_registry(DECODERS),
        # The seed is the run's, drawn anew for every iteration.
        "optimiser": Section.of_registry(OPTIMISERS, without=["seed"], default=DEFAULT_OPTIMISER),
    },
    folders=("",),
    outside=True,
)


@dataclass(frozen=True)
class Configuration:
    """Checked settings of a run; decoder and optimiser as their sections: a name and the arguments that are given.

    Attributes:
        sections: all of it as plain values, defaults included.
    """

    run: RunSettings
    data: DataSettings
    decoder: dict[str, Any]
    optimiser: dict[str, Any]
    sections: Sections = field(repr=False)

    @classmethod
    def of(cls, sections: Sections) -> Configuration:
        """The checked whole of what was read.

        Raises:
            UserError: a key that must be there is not, one that this decoder or optimiser does not have, or a value
                out of its range.
        """
        run = made(RunSettings, "run", _complete("run", sections))
        data = made(DataSettings, "data", _complete("data", sections))
        decoder, optimiser = _complete("decoder", sections), _complete("optimiser", sections)
        # What can be wrong with an optimiser's settings is better said before anything is decoded.
        name, arguments = name_and_arguments(optimiser)
        made(OPTIMISERS.find(name), "optimiser", arguments)
        full = {"run": vars(run), "data": vars(data)}
        for section, values in (("decoder", decoder), ("optimiser", optimiser)):
            keys = CONFIGURATION.sections[section].keys(values)
            defaults = {key: parameter.default for key, parameter in keys.items() if not parameter.required}
            full[section] = {"name": values["name"], **defaults, **values}
        return cls(run, data, decoder, optimiser, {section: _plain(values) for section, values in full.items()})

    def make_optimiser(self, seed: int) -> Optimiser:
        """The optimiser of one iteration."""
        name, arguments = name_and_arguments(self.optimiser)
        return make_optimiser(name, arguments, seed=seed)


def _complete(section: str, sections: Sections) -> dict[str, Any]:
    """The values of a section, all that must be there among them."""
    values = sections.get(section, {})
    keys, registry = CONFIGURATION.sections[section].keys(values), CONFIGURATION.sections[section].registry
    if registry is not None:
        if not keys["name"].required:
            values = {"name": keys["name"].default, **values}
            keys = CONFIGURATION.sections[section].keys(values)
        if "name" not in values:
            raise UserError(f"no {section}", expected=keys["name"].help, remedy=f"give --{section}")
        registry.find(values["name"])
        for key in values:
            if key not in keys:
                hint = did_you_mean(key, list(keys)) or f"it has {', '.join(keys)}"
                raise UserError(f"{section} {values['name']} has no {key!r}", remedy=hint)
    for key, parameter in keys.items():
        if parameter.required and key not in values:
            option = "run" if key == "directory" else key.replace("_", "-")
            raise UserError(f"no {section}.{key}", expected=parameter.help.rstrip("."), remedy=f"give --{option}")
    return values


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [plain(one) for one in value]
        return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)

    return {key: plain(value) for key, value in values.items()}
