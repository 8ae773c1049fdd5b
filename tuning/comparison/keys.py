"""The sections of a comparison's configuration and the keys that each of them can have."""

from __future__ import annotations

from typing import Any

from lasw.metrics import Parameter, parameters
from lasw.tuning.comparison.settings import (
    NO_TUNING,
    ComparisonSettings,
    DevelopmentSet,
    SystemSettings,
    TestSet,
)
from lasw.tuning.loop import keys_of, names_of

PLAIN = ("comparison", "run", "decoder")
NAMED = ("development", "test", "system")  # any number of each, by name
SECTIONS = (*PLAIN, *NAMED)


def comparison_keys_of(section: str, values: dict[str, Any] | None = None) -> dict[str, Parameter]:
    """What may stand in a section, with the values that are there (a decoder's or optimiser's name decides)."""
    if section == "comparison":
        return parameters(ComparisonSettings)
    if section == "run":
        return {key: one for key, one in keys_of("run").items() if key not in ("directory", "seed", "start")}
    if section == "decoder":
        name = (values or {}).get("name")
        return keys_of("decoder", name if name in names_of("decoder") else None)
    if section != "system":
        return parameters(DevelopmentSet if section == "development" else TestSet)
    own = parameters(SystemSettings)
    name = (values or {}).get("optimiser")
    if name == NO_TUNING:
        return own
    of_optimiser = keys_of("optimiser", name if name in names_of("optimiser") else None)
    return {**own, **{key: one for key, one in of_optimiser.items() if key not in ("name", "metric", *own)}}
