"""Settings as people write them: TOML documents of sections and keys, every key checked where it is read.

A `Document` says once what may stand in a kind of file; what stands in one are `Sections`, plain dicts of checked
values. The keys of a section are the arguments of a class: defaults and descriptions are those of the class itself.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from lasw.metrics import LARGEST_FILE, Parameter, Registry, UserError, parameters, parse_toml, read_lines

Sections = dict[str, dict[str, Any]]  # of named sections, the values are such dicts themselves
Keys = Mapping[str, Parameter]
_FILE_END = ".toml"


@dataclass(frozen=True)
class Section:
    """What may stand in ``[SECTION]``.

    Args:
        keys: by the values that are there, one of which may decide which others there can be; without values those of
            all cases.
        named: there are any number, ``[SECTION.NAME]``.
        registry: of what the key `name` chooses from.
        owner: the class whose arguments the keys are, if it is always the same.
    """

    keys: Callable[[Mapping[str, Any]], Keys]
    named: bool = False
    registry: Registry[Any] | None = None
    owner: type[Any] | None = None

    @classmethod
    def of_class(cls, owner: type[Any], *, named: bool = False) -> Section:
        """Its keys are the arguments of a class."""
        return cls(lambda values: parameters(owner), named, owner=owner)

    @classmethod
    def of_registry(cls, registry: Registry[Any], without: Collection[str] = (), default: str | None = None) -> Section:
        """Its key `name` says what of a registry the others are the arguments of, but those that are no keys."""

        def keys(values: Mapping[str, Any]) -> Keys:
            merged = {"name": Parameter("name", str, default, default is None, "one of " + ", ".join(registry))}
            chosen = registry.spelt(str(values.get("name")))
            for name in [chosen] if chosen in registry.places else registry:
                for key, parameter in parameters(registry.find(name)).items():
                    if key not in without:
                        merged.setdefault(key, parameter)
            return merged

        return cls(keys, registry=registry)


@dataclass(frozen=True)
class Document:
    """A kind of TOML file.

    Args:
        kind: what messages call one.
        sections: by name, in the order in which they are listed.
        folders: those of `lasw.configs` in which such files come with the package; "": itself.
        outside: keys outside all sections, or nearly those of another one, are told where they belong.
    """

    kind: str
    sections: Mapping[str, Section]
    folders: tuple[str, ...]
    outside: bool = False

    def spelt(self, section: str, key: str, value: Any) -> Any:
        """A value of a section; where it is a name of a registry, in the capitals of that."""
        registry = self.sections[section].registry
        return registry.spelt(value) if registry is not None and key == "name" else value

    def keys(self, section: str, name: str | None = None) -> Keys:
        """What may stand in a section; without the name of a decoder or an optimiser the keys of all."""
        return self.sections[section].keys({} if name is None else {"name": name})

    def without_effect(self, sections: Sections) -> list[tuple[str, str, str]]:
        """Section, key and reason of every given value that changes nothing, because of what another key says.

        A class says so of its own arguments: its `counts_if` has, by argument, another one and what must be true of
        that one's value.
        """
        found = []
        for section, values in sections.items():
            registry, owner = self.sections[section].registry, self.sections[section].owner
            keys = self.keys(section)
            if registry is not None:
                name = values.get("name", keys["name"].default)
                owner, keys = registry.find(name), self.keys(section, name)
            for key, (other, counts) in getattr(owner, "counts_if", {}).items():
                value = values.get(other, keys[other].default)
                if key in values and not counts(value):
                    shown = str(value).lower() if isinstance(value, bool) else value
                    found.append((section, key, f"{other.replace('_', '-')} is {shown}"))
        return found

    def without_paths(self, section: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values that are no paths: files are told apart by what is in them, so their names are no settings."""
        keys = self.sections[section].keys(values)
        return {key: value for key, value in values.items() if keys[key].kind is not Path}

    def names(self) -> list[str]:
        """The files that come with the package, by the names that `read` takes."""
        found = []
        for folder in self.folders:
            place = resources.files("lasw.configs").joinpath(*filter(None, [folder]))
            entries = [entry.name for entry in place.iterdir()] if place.is_dir() else []
            found += [f"{folder}/{name}".lstrip("/") for name in entries if name.endswith(_FILE_END)]
        return sorted(name.removesuffix(_FILE_END) for name in found)

    def read(self, name: str) -> Sections:
        """The checked values in a file; its relative paths are meant from its folder.

        Args:
            name: of the file, or of one that comes with the package.

        Raises:
            UserError: no such file or name, not TOML, an unknown section or key (with the nearest valid one, or where
                it belongs), or a value of the wrong kind.
        """
        return _Reader(self, name, *self._text(name)).sections()

    def change(
        self, option: str, sections: Sections, changes: Sequence[str], new: Collection[str] = ()
    ) -> list[tuple[str, str]]:
        """Put the values of ``SECTION.KEY=VALUE`` and ``SECTION.NAME.KEY=VALUE`` into `sections`.

        Args:
            option: what stands before each on the command line.
            sections: what there is.
            changes: as they were typed; a key that takes several values may come repeatedly.
            new: named sections of which a change may make another one.

        Returns:
            Section and key of every change.

        Raises:
            UserError: no such section, name or key (with the nearest valid one), or a value of the wrong kind.
        """
        words: dict[tuple[str, str, str], list[str]] = {}
        for text in changes:
            place, _, word = text.partition("=")
            section, _, key = place.partition(".")
            named = section in self.sections and self.sections[section].named
            if not word or not key or (named and "." not in key):
                expected = f"{option} SECTION.KEY=VALUE, or SECTION.NAME.KEY=VALUE"
                raise UserError(f"{option} {text}", expected=expected)
            if section not in self.sections:
                raise _no_such(f"{option} {place}", "section", section, list(self.sections))
            name, _, key = key.rpartition(".") if named else ("", "", key)  # a name may have dots itself
            there = sections.get(section, {})
            if named and section not in new and name not in there:
                raise _no_such(f"{option} {place}", section, name, list(there))
            words.setdefault((section, name, key), []).append(word)
        parsed = [(place, self._given(option, sections, *place, typed)) for place, typed in words.items()]
        for (section, name, key), value in parsed:
            values = sections.setdefault(section, {})
            (values.setdefault(name, {}) if name else values)[key] = value
        return [(section, key) for section, _, key in words]

    def _given(self, option: str, sections: Sections, section: str, name: str, key: str, words: Sequence[str]) -> Any:
        values = sections.get(section, {})
        values = values.get(name, {}) if name else values
        keys = self.sections[section].keys({**values, key: words[0]})
        shown = f"{option} {section}.{name}.{key}" if name else f"{option} {section}.{key}"
        if key not in keys:
            hint = did_you_mean(key, list(keys)) or f"valid are {', '.join(keys)}"
            raise UserError(f"{shown}: there is no key {key!r}", remedy=hint)
        if len(words) > 1 and not keys[key].several:
            raise UserError(f"{shown} is given {len(words)} times", expected="one value")
        return keys[key].given(words, shown)

    def _text(self, name: str) -> tuple[str, Path]:
        """Of a file, and the folder from which its paths are meant."""
        elsewhere = "/" in name and not any(self.folders)
        if os.path.exists(name) or name.endswith(_FILE_END) or elsewhere:
            return "\n".join(read_lines(name, most=LARGEST_FILE)) + "\n", Path(name).parent
        if name not in self.names():
            raise UserError(
                f"no file and no {self.kind} {name!r}",
                expected=f"a TOML file or one of {', '.join(self.names())}",
                remedy=did_you_mean(name, self.names()),
            )
        place = resources.files("lasw.configs").joinpath(*(name + _FILE_END).split("/"))
        return place.read_text(encoding="utf-8"), Path.cwd()


@dataclass(frozen=True)
class _Reader:
    """Checks one file."""

    document: Document
    path: str
    text: str
    folder: Path

    def sections(self) -> Sections:
        checked: Sections = {}
        for name, content in parse_toml(self.text, self.path).items():
            section = self.document.sections.get(name)
            if section is None:
                raise self._unknown(name)
            if section.named:
                tables = self._table(name, content, f"[{name}.NAME]")
                checked[name] = {inner: self._values(name, f"{name}.{inner}", tables[inner]) for inner in tables}
            else:
                checked[name] = self._values(name, name, content)
        return checked

    def _table(self, shown: str, content: Any, header: str) -> dict[str, Any]:
        if isinstance(content, dict):
            return content
        line = line_of(self.text, None, shown)
        raise UserError(f"{shown} is no section", path=self.path, line=line, expected=f"{header}, its keys below")

    def _values(self, section: str, shown: str, content: Any) -> dict[str, Any]:
        values = self._table(shown, content, f"[{shown}]")
        keys = self.document.sections[section].keys(values)
        checked = {}
        for key, value in values.items():
            if key not in keys:
                raise self._unknown(key, section, shown, list(keys))
            if isinstance(value, bool) and keys[key].default == "false":  # a text that can be a truth value
                value = str(value).lower()
            line = line_of(self.text, shown, key)
            checked[key] = keys[key].checked(value, self.folder, f"{shown}.{key}", path=self.path, line=line)
            checked[key] = self.document.spelt(section, key, checked[key])
        return checked

    def _unknown(
        self, key: str, section: str | None = None, shown: str | None = None, valid: list[str] | None = None
    ) -> UserError:
        """The error for a key that is not known where it stands: where it belongs, or the nearest that is."""
        all_keys = {name: one.keys({}) for name, one in self.document.sections.items() if not one.named}
        outside = self.document.outside
        valid = valid or list(self.document.sections)
        if outside and section:
            valid = list(all_keys[section])
        elsewhere = {other: name for name, keys in all_keys.items() for other in keys} if outside else {}
        homes = [name for name, keys in all_keys.items() if key in keys and (outside or section)]
        if section in homes:
            remedy = f"another {section} has it, this one does not"
        elif homes:
            remedy = "it belongs in " + " or ".join(f"[{name}]" for name in homes)
        else:
            near = difflib.get_close_matches(key, valid, n=1) or difflib.get_close_matches(key, elsewhere, n=1)
            there = f" in [{elsewhere[near[0]]}]" if near and near[0] not in valid else ""
            remedy = f"did you mean {near[0]!r}{there}?" if near else f"valid are {', '.join(valid)}"
        kind = "key" if section else "section or key"
        where = f" in [{shown}]" if section else " outside all sections" if outside else ""
        line = line_of(self.text, shown, key)
        return UserError(f"unknown {kind} {key!r}{where}", path=self.path, line=line, remedy=remedy)


def line_of(text: str, section: str | None, key: str) -> int | None:
    """Where a key of a section of a TOML text stands, or the section itself; None if that cannot be said."""
    current: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]", line)
        if header:
            current = re.sub(r"[\"']", "", header[1])
            if section is None and current.partition(".")[0] == key:
                return number
        elif current == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return number
    return None


def did_you_mean(word: str, valid: list[str]) -> str | None:
    """What to do about a word that is nearly a valid one; None if it is not."""
    near = difflib.get_close_matches(word, valid, n=1)
    return f"did you mean {near[0]!r}?" if near else None


def _no_such(where: str, kind: str, name: str, valid: list[str]) -> UserError:
    return UserError(
        f"{where}: there is no {kind} {name!r}", expected=", ".join(valid), remedy=did_you_mean(name, valid)
    )


def name_and_arguments(section: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Of a decoder or an optimiser: its name, and what its constructor gets."""
    return section["name"], {key: value for key, value in section.items() if key != "name"}


def with_changes(sections: Sections, changes: Mapping[str, Mapping[str, Any]]) -> Sections:
    """`sections` with other values; another decoder or optimiser by name drops the settings of the one before."""
    changed = {section: dict(values) for section, values in sections.items()}
    for section, values in changes.items():
        before = changed.get(section, {})
        if "name" in values and before.get("name") not in (None, values["name"]):
            before = {}
        changed[section] = {**before, **values}
    return changed


def made(owner: type[Any], shown: str, values: Mapping[str, Any], path: str | None = None) -> Any:
    """What the checked values of a section make.

    Raises:
        UserError: a value is out of its range.
    """
    try:
        return owner(**values)
    except ValueError as error:
        raise UserError(f"[{shown}] {error}", path=path) from None
