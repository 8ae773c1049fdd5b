"""The sections of a comparison's configuration and the keys that each of them can have."""

from __future__ import annotations

from typing import Any

from lasw.tuning import configuration as tuning
from lasw.tuning.comparison.settings import (
    NO_TUNING,
    ComparisonSettings,
    DevelopmentSet,
    SystemSettings,
    TestSet,
)
from lasw.tuning.parameters import Parameter, parameters

PLAIN = ("comparison", "run", "decoder")
NAMED = ("development", "test", "system")  # any number of each, by name
SECTIONS = (*PLAIN, *NAMED)


def keys_of(section: str, values: dict[str, Any] | None = None) -> dict[str, Parameter]:
    """What may stand in a section, with the values that are there (a decoder's or optimiser's name decides)."""
    if section == "comparison":
        return parameters(ComparisonSettings)
    if section == "run":
        return {key: one for key, one in tuning.keys("run").items() if key not in ("directory", "seed", "start")}
    if section == "decoder":
        name = (values or {}).get("name")
        return tuning.keys("decoder", name if name in tuning.known("decoder") else None)
    if section != "system":
        return parameters(DevelopmentSet if section == "development" else TestSet)
    own = parameters(SystemSettings)
    name = (values or {}).get("optimiser")
    if name == NO_TUNING:
        return own
    of_optimiser = tuning.keys("optimiser", name if name in tuning.known("optimiser") else None)
    return {**own, **{key: one for key, one in of_optimiser.items() if key not in ("name", "metric", *own)}}
