"""From a specification like ``PABC4:alpha=3`` to a metric. A new metric is one more line in `_FAMILIES`.

``NAME[:key=value]*``: names are matched by each family's pattern, in order; keys are that family's own. A MIX holds
specifications: ``MIX:SPEC=WEIGHT:SPEC=WEIGHT``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import cast

from lasw.metrics.base import Metric
from lasw.metrics.errors import UserError, unknown

Options = dict[str, str]

# pattern of the name, module, function(name, options) -> Metric, names to show a person
_FAMILIES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        r"[PR][AG]B?C?[1-4]|BLEU|BLEU\+1",
        "lasw.metrics.ngram.simpbleu",
        "from_spec",
        ("PABC4", "PGBC4", "BLEU", "BLEU+1"),
    ),
    ("WER|PER|CDER", "lasw.metrics.edit.edits", "from_spec", ("WER", "PER", "CDER")),
    ("TER", "lasw.metrics.edit.ter", "from_spec", ("TER",)),
    ("CHRF", "lasw.metrics.ngram.chrf", "from_spec", ("CHRF",)),
    ("NIST", "lasw.metrics.ngram.nist", "from_spec", ("NIST",)),
    ("METEOR", "lasw.metrics.edit.meteor", "from_spec", ("METEOR",)),
    ("ROSE", "lasw.metrics.learned.rose.rose", "from_spec", ("ROSE",)),
    ("WMDO?", "lasw.metrics.embedding.wmd", "from_spec", ("WMD", "WMDO")),
    ("WE(WPI)?", "lasw.metrics.embedding.wewpi", "from_spec", ("WE", "WEWPI")),
    ("SRBLEU", "lasw.metrics.embedding.semantic_bleu", "from_spec", ("SRBLEU",)),
    ("PAIRWISE", "lasw.metrics.learned.pairwise.pairwise", "from_spec", ("PAIRWISE",)),
    ("COMBINATION", "lasw.metrics.learned.combination", "from_spec", ("COMBINATION",)),
)

# the same for those whose options hold specifications, commands or paths: their function gets all behind the name
_NESTING: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("MIX", "lasw.metrics.composed.mixture", "from_terms", ("MIX",)),
    ("EXTERNAL", "lasw.metrics.composed.external", "from_text", ("EXTERNAL",)),
    ("SCORES", "lasw.metrics.composed.given_scores", "from_text", ("SCORES",)),
)


def metric(spec: str) -> Metric:
    """The metric that `spec` asks for.

    Raises:
        UserError: unknown name or option (with the nearest valid one), or a bad value.
        TypeError: `spec` is no string.
    """
    if not isinstance(spec, str):
        raise TypeError(f"metric {spec!r}; expected a string such as 'PABC4:alpha=3'")
    name, _, rest = spec.partition(":")
    for pattern, module, function, _names in _NESTING:
        if re.fullmatch(pattern, name):
            nested = cast(Callable[[str], Metric], getattr(importlib.import_module(module), function))
            return nested(rest)
    options: Options = {}
    for part in filter(None, rest.split(":")):
        key, equals, value = part.partition("=")
        if not equals:
            raise UserError(f"metric {spec!r}: {part!r}", expected="key=value")
        if key in options:
            raise UserError(f"metric {spec!r}: {key!r} is given twice")
        options[key] = value
    for pattern, module, function, _names in _FAMILIES:
        if re.fullmatch(pattern, name):
            factory = cast(Callable[[str, Options], Metric], getattr(importlib.import_module(module), function))
            return factory(name, options)
    raise unknown("metric", name, [known for *_, names in _FAMILIES + _NESTING for known in names])
