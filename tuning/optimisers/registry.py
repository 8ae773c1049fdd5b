"""Optimisers by name. A new one is one line here and one module: a dataclass of its hyper-parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from lasw.metrics import Metric, Registry, UserError, unknown
from lasw.tuning.optimisers.base import Optimiser

OPTIMISERS: Registry[type[Optimiser]] = Registry(
    "optimiser",
    {
        "expected": "lasw.tuning.optimisers.expected:Expected",
        "mert": "lasw.tuning.optimisers.mert:MERT",
        "mira": "lasw.tuning.optimisers.mira:MIRA",
        "mle": "lasw.tuning.optimisers.likelihood:MaximumLikelihood",
        "perceptron": "lasw.tuning.optimisers.perceptron:Perceptron",
        "pro": "lasw.tuning.optimisers.pairs:PRO",
        "ramp": "lasw.tuning.optimisers.ramp:Ramp",
        "wro": "lasw.tuning.optimisers.pairs:WRO",
    },
)

Option = str | float | bool
_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def make_optimiser(
    name: str,
    options: Mapping[str, Option] | None = None,
    *,
    metric: Metric | str | None = None,
    seed: int | None = None,
) -> Optimiser:
    """The optimiser `name` with these hyper-parameters.

    Args:
        name: one of `OPTIMISERS`.
        options: hyper-parameters by the names of the constructor, as values or as text (``psi`` -> ``0.1``).
        metric: the loss; None: the optimiser's default.
        seed: of all that is random; None: the default. An optimiser that draws nothing does without.

    Raises:
        UserError: unknown name or option (with the nearest valid one), or a value that does not fit.
    """
    made = OPTIMISERS.find(name)
    fields = {field.name: field for field in dataclasses.fields(made)}  # type: ignore[arg-type]
    options = dict(options or {})
    given: dict[str, object] = {"metric": metric, "seed": seed if "seed" in fields else None}
    values: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    for key, value in options.items():
        if key not in fields:
            raise unknown(f"option of {name}", key, sorted(fields))
        if key in values:
            raise UserError(f"{key} is given twice, as an option of {name} and by itself", remedy="drop one")
        values[key] = _converted(name, key, value, fields[key].default)
    try:
        return made(**values)
    except ValueError as error:
        raise UserError(f"optimiser {name}: {error}") from None


def _converted(name: str, key: str, value: Option, default: object) -> object:
    """`value` as the type of the option's default."""
    kind = type(default)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        if kind is bool:
            return _TRUTH[text.lower()]
        if kind is int and not isinstance(value, bool):
            return int(text)
        if kind is float and not isinstance(value, bool):
            return float(text)
        if kind is str and isinstance(value, str):
            return value
    except (KeyError, ValueError):
        pass
    wanted = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[kind]
    raise UserError(f"{name}: {key} is {value!r}", expected=wanted)
