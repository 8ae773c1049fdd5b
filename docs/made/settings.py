"""Metrics, optimisers, decoders, methods and sections of configurations: their settings, from their own classes."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lasw.metrics import METRICS, Parameter, parameters
from lasw.selection import ALIGNERS, METHODS
from lasw.selection.rankings import MEANINGS, NAMES
from lasw.tuning import COMPARISON, CONFIGURATION, DECODERS, OPTIMISERS
from made.tables import code, default, sentence, table

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
_KINDS = {int: "whole number", float: "number", bool: "true, false", str: "text", Path: "path"}
# Where the specification has other words than the class, see the docstrings of their modules.
_IN_TEXT = {
    "MIX": [("SPEC", "metric", "–", "a metric and, behind `=`, its weight; any number of them")],
    "SCORES": [("file", "path", "needed", "a table with the columns hyp, score and if need be ref")],
    "EXTERNAL": [("cmd", "text", "needed", "the command; `@FILE` is a file that holds it; stands last")],
}


def metric(name: str) -> str:
    """The options of a metric."""
    made: Any = METRICS.find(name)
    rows = list(_IN_TEXT.get(name, []))
    if name not in ("MIX", "SCORES"):
        own = {key: one for key, one in parameters(made).items() if key not in ("name", "command")}
        rows += list(_rows(own.values()))
    if not rows:
        return "No options.\n"
    return table(["option", "kind", "default", ""], [(code(first), *rest) for first, *rest in rows])


def about(module: str) -> str:
    """What a module says of itself: formulas, sources, decisions."""
    return _plain(importlib.import_module(module).__doc__ or "")


def _purpose(made: type) -> str:
    """The docstring of a class up to its arguments."""
    return _plain(inspect.getdoc(made) or "").partition("\nArgs:")[0].rstrip() + "\n\n"


def _plain(text: str) -> str:
    """A docstring as Markdown."""
    return re.sub(r"`lasw[\w.]*\.(\w+)`", r"`\1`", text.replace("``", "`")).strip() + "\n"


def optimiser(name: str) -> str:
    """What an optimiser says of itself, and its hyper-parameters."""
    made = OPTIMISERS.find(name)
    return _purpose(made) + _settings(parameters(made).values(), options=True)


def decoder(name: str) -> str:
    """What a decoder says of itself, and its settings."""
    made = DECODERS.find(name)
    return _purpose(made) + _settings(parameters(made).values(), options=True)


def section(name: str) -> str:
    """The keys of a section of `lasw tune`'s configuration that has a class of its own."""
    return _settings(CONFIGURATION.keys(name).values(), options=True)


def grid(name: str) -> str:
    """The keys of a section of a comparison's grid; those of an optimiser stand elsewhere."""
    keys = COMPARISON.sections[name].keys({"optimiser": "none"})
    return _settings(keys.values(), options=False)


def method(name: str) -> str:
    """What a method of selection needs, in words."""
    made = METHODS.find(name)
    facts = [f"Ranks by {sentence(made.meaning)}."]
    facts.append("The pool must be aligned." if made.aligned else "No alignment is needed.")
    if made.filtered:
        facts.append("Near duplicates and untranslated pairs are left out.")
    if made.takes():
        facts.append(f"Takes: {', '.join(made.takes())}.")
    return " ".join(facts) + "\n"


def methods() -> str:
    """All methods in a table."""
    rows = []
    for name in METHODS:
        made = METHODS.find(name)
        truth = ["yes" if one else "no" for one in (made.aligned, made.filtered)]
        rows.append((code(name), sentence(made.meaning), *truth, ", ".join(made.takes()) or "–"))
    return table(["`--method`", "ranks by", "aligned pool", "filters", "needs"], rows)


def la_features() -> str:
    """What LA selection sees of a pair."""
    return table(["column", ""], [(code(name), sentence(text)) for name, text in zip(NAMES, MEANINGS, strict=True)])


def aligners() -> str:
    """All aligners in a table."""
    rows = [(code(name), default(parameters(ALIGNERS.find(name))["iterations"].default)) for name in ALIGNERS]
    return table(["`--model`", "iterations"], rows)


def configurations() -> str:
    """The files of settings that come with the package, with the first line that says what each is."""
    rows = []
    for path in sorted(CONFIGS.rglob("*.toml")):
        text = path.read_text(encoding="utf-8")
        known = tomllib.loads(text)
        command = "compare" if "system" in known else "tune"
        rows.append(
            (code(path.relative_to(CONFIGS).with_suffix("").as_posix()), code(f"lasw {command}"), _opening(text))
        )
    return table(["name", "for", "what it is"], rows)


def _opening(text: str) -> str:
    """The first sentence of the comment on top."""
    words: list[str] = []
    for line in text.splitlines():
        if not line.startswith("# "):
            break
        words.append(line[2:])
    return sentence(" ".join(words).split(". ")[0])


def _settings(found: Iterable[Parameter], *, options: bool) -> str:
    heads = ["key" if not options else "setting", "kind", "default", ""]
    return table(heads, [(code(first), *rest) for first, *rest in _rows(found)]) or "No settings.\n"


def _rows(found: Iterable[Parameter]) -> Iterable[tuple[str, str, str, str]]:
    for one in found:
        kind = _kind(one)
        yield one.name, kind, "needed" if one.required else default(one.default), sentence(one.help)


def _kind(one: Parameter) -> str:
    words = ", ".join(map(code, one.choices)) if one.choices else _KINDS[one.kind]
    if one.limits and one.limits.expected:
        words = one.limits.expected
    return f"several: {words}" if one.several else words
