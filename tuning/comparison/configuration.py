"""A comparison as settings: one TOML file, every key checked.

    [comparison]        seeds, losses and measures of all systems (`ComparisonSettings`)
    [run]               how each tuning runs: the keys of lasw tune's [run] but `directory` and `seed`
    [decoder]           name = "..." and its arguments; without it lists on disk are the pool, and nothing is decoded
    [development.NAME]  a development set (`DevelopmentSet`), any number of them
    [test.NAME]         a test set (`TestSet`), any number; without one the development sets are what is measured
    [system.NAME]       optimiser = "..." and its arguments, and what the system changes in the grid (`SystemSettings`)

Sections of one kind stay in the order of the file; the first system is the baseline. Relative paths in a file are meant
from its folder, those of changes from where one is.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from lasw.metrics import UserError, metric, parameters, read_lines
from lasw.tuning.comparison.changes import parsed_changes
from lasw.tuning.comparison.keys import NAMED, PLAIN, SECTIONS, comparison_keys_of
from lasw.tuning.comparison.settings import (
    AUTO,
    BEST,
    DEFAULT_LOSS,
    NO_TUNING,
    NOT_LOCAL,
    WITHOUT_DECODER,
    Comparison,
    ComparisonSettings,
    DevelopmentSet,
    System,
    SystemSettings,
    TestSet,
    local_setting,
)
from lasw.tuning.loop import names_of
from lasw.tuning.settings import line_of, parse

_FILE_END = ".toml"
_FOLDERS = ("compare", "thesis")  # of the comparisons that come with the package


def read_comparison(name: str, changes: Sequence[str] = ()) -> Comparison:
    """The comparison in a TOML file, or one that comes with the package, with other values for some keys.

    Args:
        name: a file, or a name such as ``thesis/table-5.2``.
        changes: ``SECTION.KEY=VALUE`` or ``SECTION.NAME.KEY=VALUE``; a key that takes several may come repeatedly.

    Raises:
        UserError: no such file, not TOML, an unknown section, name or key (with the nearest valid one), a value of
            the wrong kind or out of its range, or something that must be there is not.
    """
    text, folder = _text(name)
    content = parse(text, name)
    checked = _Checked(text, name, folder, content)
    sections = checked.sections()
    of_run: list[str] = []
    for section, key, values in parsed_changes(changes, sections):
        target = sections[section[0]] if len(section) == 1 else sections[section[0]].setdefault(section[1], {})
        target[key] = values
        if section == ("run",) and key not in WITHOUT_DECODER:
            of_run.append(key)
    if of_run and "decoder" not in sections:
        raise UserError(
            f"--set run.{of_run[0]} without a [decoder]", expected="no such setting: the lists on disk are the pool"
        )
    return _comparison(sections, name)


def comparison_names() -> list[str]:
    """The comparisons that come with the package."""
    found = []
    for folder in _FOLDERS:
        place = resources.files("lasw.configs").joinpath(folder)
        if place.is_dir():
            found += [f"{folder}/{entry.name.removesuffix(_FILE_END)}" for entry in place.iterdir()]
    return sorted(found)


def _text(name: str) -> tuple[str, Path]:
    if not os.path.exists(name) and name in comparison_names():
        resource = resources.files("lasw.configs").joinpath(*(name + _FILE_END).split("/"))
        return resource.read_text(encoding="utf-8"), Path.cwd()
    if not os.path.exists(name) and not name.endswith(_FILE_END):
        near = difflib.get_close_matches(name, comparison_names(), n=1)
        raise UserError(
            f"no file and no comparison {name!r}",
            expected=f"a TOML file or one of {', '.join(comparison_names())}",
            remedy=f"did you mean {near[0]!r}?" if near else None,
        )
    return "\n".join(read_lines(name)) + "\n", Path(name).parent


@dataclass
class _Checked:
    """A TOML file's content, checked key by key."""

    text: str
    path: str
    folder: Path
    content: dict[str, Any]

    def sections(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
        for section, values in self.content.items():
            if section not in SECTIONS:
                raise self._wrong(f"unknown section or key {section!r}", section, None, list(SECTIONS))
            if section in PLAIN:
                found[section] = self._values(section, section, values)
                continue
            for name, inner in self._table(section, values).items():
                found[section][name] = self._values(section, f"{section}.{name}", inner)
        if "decoder" not in self.content:
            del found["decoder"]
        return found

    def _table(self, shown: str, values: Any) -> dict[str, Any]:
        if not isinstance(values, dict):
            wanted = f"[{shown}.NAME], its keys below" if shown in NAMED else f"[{shown}], its keys below"
            raise UserError(
                f"{shown} is no section", path=self.path, line=line_of(self.text, None, shown), expected=wanted
            )
        return values

    def _values(self, section: str, shown: str, values: Any) -> dict[str, Any]:
        table = self._table(shown, values)
        own = comparison_keys_of(section, table)
        found = {}
        for key, value in table.items():
            if key not in own:
                raise self._wrong(f"unknown key {key!r} in [{shown}]", key, shown, list(own))
            if section == "system" and key == "local" and isinstance(value, bool):
                value = str(value).lower()
            found[key] = own[key].checked(
                value, self.folder, f"{shown}.{key}", path=self.path, line=line_of(self.text, shown, key)
            )
        return found

    def _wrong(self, what: str, key: str, section: str | None, valid: list[str]) -> UserError:
        near = difflib.get_close_matches(key, valid, n=1)
        home = [other for other in PLAIN if key in comparison_keys_of(other)] if section and not near else []
        remedy = f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(valid)}"
        if home:
            remedy = "it belongs in " + " or ".join(f"[{one}]" for one in home)
        return UserError(what, path=self.path, line=line_of(self.text, section, key), remedy=remedy)


def _absolute(values: dict[str, Any]) -> dict[str, Any]:
    """The same with whole paths: workers may be at home elsewhere."""

    def whole(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(whole, value))
        if isinstance(value, dict):
            return _absolute(value)
        return value.absolute() if isinstance(value, Path) else value

    return {key: whole(value) for key, value in values.items()}


def _comparison(sections: dict[str, dict[str, Any]], path: str) -> Comparison:
    sections = _absolute(sections)
    settings = _made(ComparisonSettings, "comparison", sections["comparison"], path)
    development = {
        name: _made(DevelopmentSet, f"development.{name}", values, path)
        for name, values in sections["development"].items()
    }
    test = {name: _made(TestSet, f"test.{name}", values, path) for name, values in sections["test"].items()}
    if not development:
        raise UserError("no development set", path=path, expected="[development.NAME] with its files")
    systems = tuple(_system(name, values, development, path) for name, values in sections["system"].items())
    if not systems:
        raise UserError("no system", path=path, expected="[system.NAME] with optimiser = '...'")
    _check_files(sections.get("decoder"), development, test, path)
    for system in systems:
        _check_local(system, development, test, path)
    return Comparison(settings, sections["run"], sections.get("decoder"), development, test, systems)


def _system(name: str, values: dict[str, Any], development: dict[str, DevelopmentSet], path: str) -> System:
    own = parameters(SystemSettings)
    settings = _made(SystemSettings, f"system.{name}", {k: v for k, v in values.items() if k in own}, path)
    arguments = {key: value for key, value in values.items() if key not in own}
    if settings.optimiser not in (NO_TUNING, *names_of("optimiser")):
        near = difflib.get_close_matches(settings.optimiser, names_of("optimiser"), n=1)
        raise UserError(
            f"[system.{name}] unknown optimiser {settings.optimiser!r}",
            path=path,
            expected=", ".join((*names_of("optimiser"), NO_TUNING)),
            remedy=f"did you mean {near[0]!r}?" if near else None,
        )
    if settings.local not in (NOT_LOCAL, AUTO, BEST):
        local_setting(settings.local)
    for one in settings.development:
        if one not in development:
            near = difflib.get_close_matches(one, list(development), n=1)
            raise UserError(
                f"[system.{name}] unknown development set {one!r}",
                path=path,
                expected=", ".join(development),
                remedy=f"did you mean {near[0]!r}?" if near else None,
            )
    for loss in settings.losses:
        if loss != DEFAULT_LOSS:
            metric(loss)
    return System(name, settings, arguments)


def _check_files(
    decoder: dict[str, Any] | None, development: dict[str, DevelopmentSet], test: dict[str, TestSet], path: str
) -> None:
    if decoder is not None and "name" not in decoder:
        raise UserError("[decoder] has no name", path=path, expected=f"one of {', '.join(names_of('decoder'))}")
    named = {**{f"development.{k}": v for k, v in development.items()}, **{f"test.{k}": v for k, v in test.items()}}
    lists_only = decoder is None or decoder["name"] == "fixed"
    for shown, one in named.items():
        if lists_only and not one.lists:
            raise UserError(f"[{shown}] has no lists", path=path, remedy="give lists, or a [decoder]")
        if decoder is not None and not lists_only and one.lists and shown.startswith("development."):
            raise UserError(f"[{shown}] has lists beside a [decoder]", path=path, expected="one of them")
        if decoder is not None and one.source is None and (shown.startswith("development.") or not one.lists):
            raise UserError(f"[{shown}] has no source", path=path, expected="the sentences to decode")


def _check_local(system: System, development: dict[str, DevelopmentSet], test: dict[str, TestSet], path: str) -> None:
    if system.settings.local == NOT_LOCAL:
        return
    where = f"[system.{system.name}] has local weights"
    if system.settings.optimiser not in ("pro", "wro"):
        raise UserError(f"{where} with optimiser {system.settings.optimiser}", path=path, expected="wro or pro")
    if not test:
        # On its own development set every sentence would be tuned on its own reference.
        raise UserError(f"{where}, but there is no test set", path=path, expected="[test.NAME]")
    for name, one in (*development.items(), *test.items()):
        if one.source is None:
            raise UserError(f"{where}, but {name} has no source", path=path, expected="the sentences to compare")


def _made(kind: type[Any], shown: str, values: dict[str, Any], path: str) -> Any:
    for key, parameter in parameters(kind).items():
        if parameter.required and key not in values:
            raise UserError(f"[{shown}] has no {key}", path=path, expected=parameter.help.rstrip("."))
    try:
        return kind(**values)
    except ValueError as error:
        raise UserError(f"[{shown}] {error}", path=path) from None
