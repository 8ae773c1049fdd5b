"""A tuning run as settings: TOML files in four sections, every key checked, the defaults in the classes themselves.

    [run]        how the loop runs (`RunSettings`)
    [data]       the development set (`DataSettings`)
    [decoder]    name = "..." and the arguments of that decoder's class
    [optimiser]  name = "..." and the arguments of that optimiser's class

Relative paths in a file are meant from the folder of the file, those on the command line from where one is.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from lasw.metrics import Parameter, UserError, parameters, read_lines
from lasw.tuning.decoders import DECODERS
from lasw.tuning.loop.interpolation import FIRST_ROUND, Interpolation
from lasw.tuning.loop.rounds import Rounds
from lasw.tuning.loop.stopping import NOISE, Stopping
from lasw.tuning.optimisers import DEFAULT_SEED, OPTIMISERS
from lasw.tuning.settings import line_of, parse

Sections = dict[str, dict[str, Any]]
_FILE_END = ".toml"
SECTIONS = ("run", "data", "decoder", "optimiser")


@dataclass(frozen=True)
class RunSettings:
    """How the loop runs.

    Args:
        directory: the run's folder, made if need be.
        seed: of everything that is drawn.
        iterations: at most so many; 0: no limit.
        nbest: hypotheses asked for per sentence.
        tolerance: the weights have settled if no dense one moved more than this.
        keep: ``best``: the weights with the best development score; ``last``: those of the last iteration.
        dev_metric: of the development score.
        start: a file of weights to start from; by default the decoder's own.
        noise: the run ends when, from the second round on, the new weights score higher than the ones before on the
            pool of all candidates, by dev_metric, by at most so many times the bootstrap standard error of that
            difference; 0: not looked at.
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
        interpolation: share of the new weights, the rest is those of the round before; 1: the new ones alone.
        interpolation_from: number of the first round that interpolates.
        earlier_starts: the optimiser starts from the weights of earlier rounds too (optimisers with starting points).
        min_count: sparse features that fewer sentences of the pool have are left out of a round's optimisation.
    """

    directory: Path
    seed: int = DEFAULT_SEED
    iterations: int = 15
    nbest: int = 100
    tolerance: float = 1e-5
    keep: Literal["best", "last"] = "best"
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
    interpolation: float = 1.0
    interpolation_from: int = FIRST_ROUND
    earlier_starts: bool = False
    min_count: int = 1

    def __post_init__(self) -> None:
        if self.keep not in ("best", "last"):
            raise ValueError(f"keep is {self.keep!r}, expected 'best' or 'last'")
        if self.iterations < 0:
            raise ValueError(f"{self.iterations} iterations, expected at least 1, or 0 for no limit")
        if self.nbest < 1:
            raise ValueError(f"{self.nbest} hypotheses, expected at least 1")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}, expected 0 or more")
        if not self.tolerance >= 0:
            raise ValueError(f"tolerance is {self.tolerance}, expected 0 or more")
        if self.aggregate < 0:
            raise ValueError(f"aggregate is {self.aggregate}, expected 0 or more")
        if self.min_count < 0:
            raise ValueError(f"min_count is {self.min_count}, expected 0 or more")
        self.rounds(), self.stopping(), self.interpolated()

    def rounds(self) -> Rounds:
        """What else a round decodes with."""
        return Rounds(
            self.first_nbest,
            self.nbest_growth,
            self.perturbed,
            self.perturbation,
            self.perturbed_rounds,
            self.decode_best,
        )

    def stopping(self) -> Stopping:
        """When the run ends."""
        return Stopping(self.noise, self.patience)

    def interpolated(self) -> Interpolation:
        """How far the weights of a round go."""
        return Interpolation(self.interpolation, self.interpolation_from)


@dataclass(frozen=True)
class DataSettings:
    """The development set.

    Args:
        source: what is decoded, a sentence a line.
        references: one file or several, each with a line per source sentence.
        encoding: of these files.
        tokenize: one of sacreBLEU's tokenisers for the references; by default tokens are split on space and tab.
        lowercase: lower-case the references first.
    """

    source: Path
    references: tuple[Path, ...]
    encoding: str = "utf-8"
    tokenize: str | None = None
    lowercase: bool = False


@dataclass(frozen=True)
class Configuration:
    """Checked settings of a run; decoder and optimiser as name and arguments.

    Attributes:
        sections: all of it as plain values, defaults included.
    """

    run: RunSettings
    data: DataSettings
    decoder: tuple[str, dict[str, Any]]
    optimiser: tuple[str, dict[str, Any]]
    sections: Sections = field(repr=False)


def configuration_names() -> list[str]:
    """The configurations that come with the package."""
    entries = resources.files("lasw.configs").iterdir()
    return sorted(e.name.removesuffix(_FILE_END) for e in entries if e.name.endswith(_FILE_END))


def read_configuration(name: str) -> Sections:
    """The settings in a TOML file, or of one of the configurations that come with the package.

    Raises:
        UserError: no such file or name, not TOML, an unknown section or key, or a value of the wrong kind.
    """
    if not os.path.exists(name) and not name.endswith(_FILE_END) and "/" not in name:
        if name not in configuration_names():
            near = difflib.get_close_matches(name, configuration_names(), n=1)
            raise UserError(
                f"no file and no configuration {name!r}",
                expected=f"a TOML file or one of {', '.join(configuration_names())}",
                remedy=f"did you mean {near[0]!r}?" if near else None,
            )
        text = (resources.files("lasw.configs") / (name + _FILE_END)).read_text(encoding="utf-8")
        return _checked(parse(text, name), text, name, Path.cwd())
    text = "\n".join(read_lines(name)) + "\n"
    return _checked(parse(text, name), text, name, Path(name).parent)


def override(sections: Sections, changes: Mapping[str, Mapping[str, Any]]) -> Sections:
    """`sections` with other values; another decoder or optimiser by name drops the settings of the one before."""
    result = {section: dict(values) for section, values in sections.items()}
    for section, values in changes.items():
        old = result.get(section, {})
        if "name" in values and old.get("name") not in (None, values["name"]):
            old = {}
        result[section] = {**old, **values}
    return result


def configuration(sections: Sections) -> Configuration:
    """The checked whole.

    Raises:
        UserError: a key that must be there is not, one that this decoder or optimiser does not have, or a value out
            of its range.
    """
    run = _made(RunSettings, "run", sections.get("run", {}))
    data = _made(DataSettings, "data", sections.get("data", {}))
    decoder = _named("decoder", sections.get("decoder", {}))
    optimiser = _named("optimiser", sections.get("optimiser", {}))
    # What can be wrong with an optimiser's settings is better said before anything is decoded.
    _made(OPTIMISERS.find(optimiser[0]), "optimiser", optimiser[1])
    return Configuration(run, data, decoder, optimiser, _full(run, data, decoder, optimiser))


def keys_of(section: str, name: str | None = None) -> dict[str, Parameter]:
    """What may stand in a section, by key; without a name the keys of all decoders or optimisers."""
    if section == "run":
        return parameters(RunSettings)
    if section == "data":
        return parameters(DataSettings)
    found = {"name": Parameter("name", str, None, True, "one of " + ", ".join(names_of(section)))}
    for one in names_of(section) if name is None else [name]:
        own = parameters(_class_of(section, one))
        found.update((key, value) for key, value in own.items() if key not in found)
    if section == "optimiser":
        found.pop("seed", None)  # it is the run's, drawn anew for every iteration
    return found


def names_of(section: str) -> tuple[str, ...]:
    """The names that a decoder or an optimiser can have."""
    return tuple(DECODERS if section == "decoder" else OPTIMISERS if section == "optimiser" else ())


def _checked(content: dict[str, Any], text: str, path: str, folder: Path) -> Sections:
    sections: Sections = {}
    for section, values in content.items():
        if section not in SECTIONS:
            raise _misplaced(section, None, text, path)
        if not isinstance(values, dict):
            line = line_of(text, None, section)
            raise UserError(f"{section} is no section", path=path, line=line, expected=f"[{section}], its keys below")
        own = keys_of(section, _known_name(section, values))
        sections[section] = {}
        for key, value in values.items():
            if key not in own:
                raise _misplaced(key, section, text, path)
            line = line_of(text, section, key)
            sections[section][key] = own[key].checked(value, folder, f"{section}.{key}", path=path, line=line)
    return sections


def _known_name(section: str, values: Mapping[str, Any]) -> str | None:
    name = values.get("name")
    return name if name in names_of(section) else None


def _class_of(section: str, name: str) -> type:
    return DECODERS.find(name) if section == "decoder" else OPTIMISERS.find(name)


def _misplaced(key: str, section: str | None, text: str, path: str) -> UserError:
    """The error for a key that is not known where it stands, with the nearest that is, or where it belongs."""
    where = f"in [{section}]" if section else "outside all sections"
    home = [other for other in SECTIONS if other != section and key in keys_of(other)]
    valid = list(keys_of(section)) if section else list(SECTIONS)
    if section and key in keys_of(section):
        remedy = "another " + section + " has it, this one does not"
    elif home:
        remedy = "it belongs in " + " or ".join(f"[{other}]" for other in home)
    else:
        everywhere = {other: one for one in SECTIONS for other in keys_of(one)}
        near = difflib.get_close_matches(key, valid, n=1) or difflib.get_close_matches(key, everywhere, n=1)
        there = f" in [{everywhere[near[0]]}]" if near and near[0] not in valid else ""
        remedy = f"did you mean {near[0]!r}{there}?" if near else f"valid are {', '.join(valid)}"
    kind = "section or key" if section is None else "key"
    return UserError(f"unknown {kind} {key!r} {where}", path=path, line=line_of(text, section, key), remedy=remedy)


def _named(section: str, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    name = values.get("name")
    if name is None:
        raise UserError(f"no {section}", expected=f"one of {', '.join(names_of(section))}", remedy=f"give --{section}")
    own = keys_of(section, name)
    for key in values:
        if key not in own:
            near = difflib.get_close_matches(key, own, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(own)}"
            raise UserError(f"{section} {name} has no {key!r}", remedy=hint)
    arguments = {key: value for key, value in values.items() if key != "name"}
    _refuse_missing(section, own, values)
    return name, arguments


def _refuse_missing(section: str, own: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
    for key, parameter in own.items():
        if parameter.required and key not in values:
            option = {"directory": "run", "name": section}.get(key, key.replace("_", "-"))
            raise UserError(f"no {section}.{key}", expected=parameter.help.rstrip("."), remedy=f"give --{option}")


def _made(kind: type[Any], section: str, values: Mapping[str, Any]) -> Any:
    _refuse_missing(section, parameters(kind), values)
    try:
        return kind(**values)
    except ValueError as error:
        raise UserError(f"[{section}] {error}") from None


def _full(
    run: RunSettings, data: DataSettings, decoder: tuple[str, dict[str, Any]], optimiser: tuple[str, dict[str, Any]]
) -> Sections:
    full: Sections = {"run": _plain(vars(run)), "data": _plain(vars(data))}
    for section, (name, arguments) in (("decoder", decoder), ("optimiser", optimiser)):
        defaults = {key: p.default for key, p in keys_of(section, name).items() if not p.required}
        full[section] = _plain({"name": name, **defaults, **arguments})
    return full


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [plain(one) for one in value]
        return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)

    return {key: plain(value) for key, value in values.items()}
