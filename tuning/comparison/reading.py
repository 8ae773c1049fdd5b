"""A comparison as a TOML document, every key checked.

    [comparison]        seeds, losses and measures of all systems (`ComparisonSettings`)
    [run]               how each tuning runs: the keys of lasw tune's [run] but `directory` and `seed`
    [decoder]           name = "..." and its arguments; without it lists on disk are the pool, and nothing is decoded
    [pool.NAME]         parallel text that development sets are selected from (`PoolFiles`), any number
    [development.NAME]  a development set (`DevelopmentSet`), any number of them
    [test.NAME]         a test set (`TestSet`), any number; without one the development sets are what is measured
    [system.NAME]       optimiser = "..." and its arguments, and what the system changes in the grid (`SystemSettings`)

Sections of one kind stay in the order of the file; the first system is the baseline. Relative paths in a file are meant
from its folder, those of changes from where one is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lasw.metrics import UserError, metric, parameters
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
    PoolFiles,
    System,
    SystemSettings,
    TestSet,
    local_setting,
)
from lasw.tuning.decoders import DECODERS
from lasw.tuning.loop import CONFIGURATION
from lasw.tuning.optimisers import OPTIMISERS
from lasw.tuning.settings import Document, Keys, Section, Sections, did_you_mean, made


def _keys_of_run(values: Mapping[str, Any]) -> Keys:
    return {key: one for key, one in CONFIGURATION.keys("run").items() if key not in ("directory", "seed", "start")}


def _keys_of_system(values: Mapping[str, Any]) -> Keys:
    own, name = parameters(SystemSettings), values.get("optimiser")
    arguments = {} if name == NO_TUNING else CONFIGURATION.sections["optimiser"].keys({"name": name})
    return {**own, **{key: one for key, one in arguments.items() if key not in ("name", "metric", *own)}}


COMPARISON = Document(
    "comparison",
    {
        "comparison": Section.of_class(ComparisonSettings),
        "run": Section(_keys_of_run),
        "decoder": CONFIGURATION.sections["decoder"],
        "pool": Section.of_class(PoolFiles, named=True),
        "development": Section.of_class(DevelopmentSet, named=True),
        "test": Section.of_class(TestSet, named=True),
        "system": Section(_keys_of_system, named=True),
    },
    folders=("compare", "thesis"),
)


# Name of a development set, options of lasw select, the pool, the trusted pool -> where source, target and, if the pool
# has any, lists will be.
Selecting = Callable[[str, str, PoolFiles, "PoolFiles | None"], tuple[Path, Path, "Path | None"]]


def read_comparison(name: str, changes: Sequence[str] = (), select: Selecting | None = None) -> Comparison:
    """The comparison in a TOML file, or one that comes with the package, with other values for some keys.

    Args:
        name: a file, or a name such as ``thesis/table-5.2``.
        changes: ``SECTION.KEY=VALUE`` or ``SECTION.NAME.KEY=VALUE``; a key that takes several may come repeatedly.
        select: plans the selection of a development set; without it sets that are to be selected are refused.

    Raises:
        UserError: no such file, not TOML, an unknown section, name or key (with the nearest valid one), a value of
            the wrong kind or out of its range, or something that must be there is not.
    """
    sections = COMPARISON.read(name)
    changed = COMPARISON.change("--set", sections, changes, new=("pool", "development", "test"))
    of_run = [key for section, key in changed if section == "run" and key not in WITHOUT_DECODER]
    if of_run and "decoder" not in sections:
        raise UserError(
            f"--set run.{of_run[0]} without a [decoder]", expected="no such setting: the lists on disk are the pool"
        )
    return _comparison(sections, name, select)


def _absolute(values: dict[str, Any]) -> dict[str, Any]:
    """The same with whole paths: workers may be at home elsewhere."""

    def whole(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(whole, value))
        if isinstance(value, dict):
            return _absolute(value)
        return value.absolute() if isinstance(value, Path) else value

    return {key: whole(value) for key, value in values.items()}


def _comparison(sections: dict[str, dict[str, Any]], path: str, select: Selecting | None) -> Comparison:
    sections = _absolute(sections)
    names = list(sections.get("development", {}))
    sections = _with_used_sets(sections)
    _select(sections, path, select)
    settings = _made(ComparisonSettings, "comparison", sections.get("comparison", {}), path)
    development = _sets(DevelopmentSet, "development", sections, path)
    test = _sets(TestSet, "test", sections, path)
    if not development:
        raise UserError("no development set", path=path, expected="[development.NAME] with its files")
    systems = tuple(_system(name, values, names, path) for name, values in sections.get("system", {}).items())
    if not systems:
        raise UserError("no system", path=path, expected="[system.NAME] with optimiser = '...'")
    _check_files(sections.get("decoder"), development, test, path)
    for system in systems:
        _check_local(system, development, test, path)
        _check_lists_of(system, {one.name: one for one in systems}, path)
    return Comparison(settings, sections.get("run", {}), sections.get("decoder"), development, test, systems)


def _with_used_sets(sections: Sections) -> Sections:
    """The same without the development sets that no system is tuned on: they are neither selected nor read."""
    systems, there = sections.get("system", {}), sections.get("development", {})
    used = {name for one in systems.values() for name in one.get("development") or there}
    kept = {name: values for name, values in there.items() if name in used}
    return {**sections, "development": kept} if kept else sections


def _select(sections: Sections, path: str, select: Selecting | None) -> None:
    """Give the development sets that are to be selected the files that they will be in."""
    pools = sections.get("pool", {})
    for name, values in sections.get("development", {}).items():
        where = f"[development.{name}]"
        if "select" not in values:
            if idle := [key for key in ("pool", "trusted") if key in values]:
                raise UserError(f"{where} has {idle[0]}, but no select", path=path)
            continue
        if "source" in values or "references" in values:  # of another text, say with --set
            continue
        if select is None:
            raise UserError(f"{where} is to be selected", path=path, expected="source and references")
        pool = _pool(where, "pool", values, pools, path)
        trusted = _pool(where, "trusted", values, pools, path) if "trusted" in values else None
        source, target, lists = select(name, values["select"], pool, trusted)
        values |= {"source": source, "references": (target,), "encoding": pool.encoding}
        values |= {} if lists is None else {"lists": (lists,)}


def _pool(where: str, key: str, values: Mapping[str, Any], pools: Mapping[str, Any], path: str) -> PoolFiles:
    """The one that a key of a development set names; without the key the only one."""
    if not pools:
        raise UserError(f"{where} is to be selected, but there is no pool", path=path, expected="[pool.NAME]")
    if key not in values and len(pools) > 1:
        raise UserError(f"{where} has no pool", path=path, expected=f"one of {', '.join(pools)}")
    name = values.get(key, next(iter(pools)))
    if name not in pools:
        remedy = did_you_mean(name, list(pools))
        raise UserError(f"{where} unknown pool {name!r}", path=path, expected=", ".join(pools), remedy=remedy)
    pool: PoolFiles = _made(PoolFiles, f"pool.{name}", pools[name], path)
    return pool


def _system(name: str, values: dict[str, Any], development: Sequence[str], path: str) -> System:
    own = parameters(SystemSettings)
    settings = _made(SystemSettings, f"system.{name}", {k: v for k, v in values.items() if k in own}, path)
    arguments = {key: value for key, value in values.items() if key not in own}
    if settings.optimiser not in (NO_TUNING, *OPTIMISERS):
        raise UserError(
            f"[system.{name}] unknown optimiser {settings.optimiser!r}",
            path=path,
            expected=", ".join((*OPTIMISERS, NO_TUNING)),
            remedy=did_you_mean(settings.optimiser, list(OPTIMISERS)),
        )
    if settings.local not in (NOT_LOCAL, AUTO, BEST):
        local_setting(settings.local)
    for one in settings.development:
        if one not in development:
            raise UserError(
                f"[system.{name}] unknown development set {one!r}",
                path=path,
                expected=", ".join(development),
                remedy=did_you_mean(one, list(development)),
            )
    for loss in settings.losses:
        if loss != DEFAULT_LOSS:
            metric(loss)
    return System(name, settings, arguments)


def _check_files(
    decoder: dict[str, Any] | None, development: dict[str, DevelopmentSet], test: dict[str, TestSet], path: str
) -> None:
    if decoder is not None and "name" not in decoder:
        raise UserError("[decoder] has no name", path=path, expected=f"one of {', '.join(DECODERS)}")
    named = {**{f"development.{k}": v for k, v in development.items()}, **{f"test.{k}": v for k, v in test.items()}}
    lists_only = decoder is None or decoder["name"] == "fixed"
    if not test and (different := [name for name, one in development.items() if one.differs]):
        message = f"[development.{different[0]}] is another set for every seed, but there is no test set"
        raise UserError(message, path=path, expected="[test.NAME]")
    for shown, one in named.items():
        if lists_only and not one.lists:
            remedy = "give lists" if decoder else "give lists, or a [decoder]"
            raise UserError(f"[{shown}] has no lists", path=path, remedy=remedy)
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


def _check_lists_of(system: System, systems: Mapping[str, System], path: str) -> None:
    maker = system.settings.lists_of
    if not maker:
        return
    others = [
        name for name, one in systems.items() if not one.settings.lists_of and one.settings.optimiser != NO_TUNING
    ]
    if maker not in others or system.settings.optimiser == NO_TUNING:
        shown = f"[system.{system.name}] lists_of {maker!r}"
        expected = "a system that tunes: " + (", ".join(others) or "there is none")
        raise UserError(shown, path=path, expected=expected, remedy=did_you_mean(maker, others))


def _sets(kind: type[Any], section: str, sections: Sections, path: str) -> dict[str, Any]:
    return {name: _made(kind, f"{section}.{name}", values, path) for name, values in sections.get(section, {}).items()}


def _made(kind: type[Any], shown: str, values: dict[str, Any], path: str) -> Any:
    for key, parameter in parameters(kind).items():
        if parameter.required and key not in values:
            raise UserError(f"[{shown}] has no {key}", path=path, expected=parameter.help.rstrip("."))
    return made(kind, shown, values, path)
