"""From a specification like ``PABC4:alpha=3`` to a metric. A new metric is one more line in `METRICS`.

``NAME[:key=value]*``: what stands under the name is called with the options, see `construct`. Where options hold
specifications, commands or paths it has a `from_text`, which gets all that is behind the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lasw.metrics.base import Metric
from lasw.metrics.registry.parameter import construct, options_of, parameters
from lasw.metrics.registry.registry import Registry

METRICS: Registry[Callable[..., Metric]] = Registry(
    "metric",
    {
        **dict.fromkeys(("PABC4", "PGBC4", "BLEU", "BLEU+1"), "lasw.metrics.ngram.simpbleu:SimpBleu"),
        "WER": "lasw.metrics.edit.edits:WordErrorRate",
        "PER": "lasw.metrics.edit.edits:PositionIndependentErrorRate",
        "CDER": "lasw.metrics.edit.edits:CoverDisjointErrorRate",
        "TER": "lasw.metrics.edit.ter:TranslationEditRate",
        "CHRF": "lasw.metrics.ngram.chrf:Chrf",
        "NIST": "lasw.metrics.ngram.nist:Nist",
        "METEOR": "lasw.metrics.edit.meteor:Meteor",
        "ROSE": "lasw.metrics.learned.rose.rose:from_file",
        "WMD": "lasw.metrics.embedding.wmd:Wmd",
        "WMDO": "lasw.metrics.embedding.wmd:Wmdo",
        "WE": "lasw.metrics.embedding.wewpi:We",
        "WEWPI": "lasw.metrics.embedding.wewpi:WeWpi",
        "SRBLEU": "lasw.metrics.embedding.semantic_bleu:SemanticBleu",
        "PAIRWISE": "lasw.metrics.learned.pairwise.pairwise:from_file",
        "COMBINATION": "lasw.metrics.learned.combination:from_file",
        "MIX": "lasw.metrics.composed.mixture:Mixture",
        "EXTERNAL": "lasw.metrics.composed.external:External",
        "SCORES": "lasw.metrics.composed.given_scores:GivenScores",
    },
)
_SIMPBLEU = re.compile("[PR][AG]B?C?[1-4]")  # 64 names, of which `METRICS` shows two


def metric(spec: str) -> Metric:
    """The metric that `spec` asks for.

    Raises:
        UserError: unknown name or option (with the nearest valid one), or a bad value.
        TypeError: `spec` is no string.
    """
    if not isinstance(spec, str):
        raise TypeError(f"metric {spec!r}; expected a string such as 'PABC4:alpha=3'")
    name, _, text = spec.partition(":")
    made: Any = METRICS.find("PABC4" if _SIMPBLEU.fullmatch(name) else name)
    if hasattr(made, "from_text"):
        nested: Metric = made.from_text(text)
        return nested
    options = options_of(f"metric {spec!r}", filter(None, text.split(":")))
    result: Metric = construct(made, options, name, given={"name": name} if "name" in parameters(made) else {})
    return result
