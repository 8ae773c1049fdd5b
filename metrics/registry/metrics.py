"""From a specification like ``PABC4:alpha=3`` to a metric. A new metric is one more line in `METRICS`.

``NAME[:key=value]*``: what stands under the name is called with the options, see `construct`. Where options hold
specifications, commands or paths it has a `from_text`, which gets all that is behind the name.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from lasw.metrics.base import Display, Metric
from lasw.metrics.errors import UserError
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

# As other tools call them.
_ALSO = {"CHRF2": "CHRF", "CHRF++": "CHRF:words=2", "CHRF2++": "CHRF:words=2"}

# What a file may name (`named_in`): metrics that look at the texts alone, and those that open files of their own.
OF_TEXTS = ("PABC4", "PGBC4", "BLEU", "BLEU+1", "WER", "PER", "CDER", "TER", "CHRF", "NIST", "METEOR", "MIX")
OF_FILES = ("ROSE", "WMD", "WMDO", "WE", "WEWPI", "SRBLEU", "PAIRWISE", "COMBINATION", "SCORES")


@dataclass(frozen=True)
class _Namer:
    """The files whose specifications are read, each named by the one before it, and whether they may open others."""

    paths: tuple[str, ...]
    files: bool

    def check(self, name: str) -> None:
        path = self.paths[-1]
        if _SIMPBLEU.fullmatch(name) or name in OF_TEXTS or (self.files and name in OF_FILES):
            return
        if name in OF_FILES:
            remedy = "if you trust it, let it: NAME:model=FILE:files=yes"
            raise UserError(
                f"it names {name}, which opens files", path=path, expected=", ".join(OF_TEXTS), remedy=remedy
            )
        if name in METRICS:
            remedy = "name it yourself, on the command line or in a configuration"
            raise UserError(f"it names {name}, which runs a program", path=path, remedy=remedy)


_namer: ContextVar[_Namer | None] = ContextVar("_namer", default=None)


@contextlib.contextmanager
def named_in(path: str | os.PathLike[str], *, files: bool = False) -> Iterator[None]:
    """Inside, specifications are not what a person typed but what stands in a file, which is data: it runs nothing.

    Args:
        path: of the file.
        files: it may name metrics that open files (models, vectors, scores), never one that runs a program.

    Raises:
        UserError: the file is being read already: it names itself.
    """
    before, place = _namer.get(), os.path.realpath(path)
    paths = before.paths if before else ()
    if place in map(os.path.realpath, paths):
        raise UserError("a model that names itself", path=path)
    token = _namer.set(_Namer((*paths, os.fspath(path)), files))
    try:
        yield
    finally:
        _namer.reset(token)


def spelt(spec: str) -> str:
    """A specification with its name as it stands here: ``bleu`` is BLEU, ``chrF++`` is CHRF:words=2."""
    name, colon, options = spec.partition(":")
    capitals = name.upper()
    if _SIMPBLEU.fullmatch(capitals):
        return f"{capitals}{colon}{options}"
    return f"{METRICS.spelt(_ALSO.get(capitals, name))}{colon}{options}"


def is_metric(spec: str) -> bool:
    """Whether its name is that of a metric."""
    name = spelt(spec).partition(":")[0]
    return name in METRICS or _SIMPBLEU.fullmatch(name) is not None


def metric(spec: str) -> Metric:
    """The metric that `spec` asks for, its name in capitals or not.

    Raises:
        UserError: unknown name or option (with the nearest valid one), or a bad value; within `named_in`, a name
            that no file may give.
        TypeError: `spec` is no string.
    """
    if not isinstance(spec, str):
        raise TypeError(f"metric {spec!r}; expected a string such as 'PABC4:alpha=3'")
    name, _, text = spelt(spec).partition(":")
    namer = _namer.get()
    if namer is not None:
        namer.check(name)
    made: Any = METRICS.find("PABC4" if _SIMPBLEU.fullmatch(name) else name)
    if hasattr(made, "from_text"):
        nested: Metric = made.from_text(text)
        return nested
    options = options_of(f"metric {spec!r}", filter(None, text.split(":")))
    result: Metric = construct(made, options, name, given={"name": name} if "name" in parameters(made) else {})
    return result


def display_of(spec: str) -> Display:
    """How people read the scores of a metric, of which no file is opened; of a trained one's 100 times as much."""
    name = spelt(spec).partition(":")[0]
    made: Any = METRICS.find("PABC4" if _SIMPBLEU.fullmatch(name) else name)
    scale = getattr(made, "display_scale", None)
    return Display(scale, made.error_rate) if isinstance(scale, float) else Display()
