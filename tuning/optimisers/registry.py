"""Optimisers by name. A new one is one line here and one module: a dataclass of its hyper-parameters."""

from __future__ import annotations

from collections.abc import Mapping

from lasw.metrics import Metric, Registry, UserError, construct, parameters, unknown
from lasw.tuning.optimisers.base import Optimiser

OPTIMISERS: Registry[type[Optimiser]] = Registry(
    "optimiser",
    {
        "average": "lasw.tuning.optimisers.average:Average",
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
# For who asks for none: measured in docs/results/steps.md.
DEFAULT_OPTIMISER = "average"

Option = str | float | bool


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
    own = parameters(made)
    options = dict(options or {})
    given = {"metric": metric, "seed": seed if "seed" in own else None}
    given = {key: value for key, value in given.items() if value is not None}
    for key in options:
        if key not in own:
            raise unknown(f"option of {name}", key, sorted(own))
        if key in given:
            raise UserError(f"{key} is given twice, as an option of {name} and by itself", remedy="drop one")
    try:
        return construct(made, options, name, given=given, shown="{name}: {key} is {value!r}")
    except ValueError as error:
        raise UserError(f"optimiser {name}: {error}") from None
