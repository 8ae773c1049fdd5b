"""``SECTION.KEY=VALUE``: other values for a comparison than its file has."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from lasw.metrics import Parameter, UserError
from lasw.tuning.comparison.keys import NAMED, PLAIN, SECTIONS, comparison_keys_of


def parsed_changes(texts: Sequence[str], sections: dict[str, dict[str, Any]]) -> list[tuple[tuple[str, ...], str, Any]]:
    """(section, or section and name; key; value) of every change, values of one key together.

    Args:
        texts: as they were typed; a key that takes several values may come repeatedly.
        sections: what there is already.

    Raises:
        UserError: no such section, system or key (with the nearest valid one), or a value of the wrong kind.
    """
    words: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        kind, _, rest = place.partition(".")
        if not equals or not value or not rest or (kind in NAMED and "." not in rest):
            raise UserError(f"--set {text}", expected="--set SECTION.KEY=VALUE, or SECTION.NAME.KEY=VALUE")
        words.setdefault(_place(place, sections), []).append(value)
    found = []
    for (section, key), given in words.items():
        kind = section[0]
        if kind == "decoder":
            sections.setdefault("decoder", {})
        values = sections[kind] if len(section) == 1 else sections[kind].get(section[1], {})
        own = comparison_keys_of(kind, {**values, **({key: given[0]} if key in ("name", "optimiser") else {})})
        shown = ".".join((*section, key))
        if key not in own:
            near = difflib.get_close_matches(key, own, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(own)}"
            raise UserError(f"--set {shown}: there is no key {key!r}", remedy=hint)
        if len(given) > 1 and not own[key].several:
            raise UserError(f"--set {shown} is given {len(given)} times", expected="one value")
        one = Parameter(key, own[key].kind, None, True, own[key].help)
        parsed = [one.parsed(word, f"--set {shown}") for word in given]
        found.append((section, key, tuple(parsed) if own[key].several else parsed[0]))
    return found


def _place(text: str, sections: dict[str, dict[str, Any]]) -> tuple[tuple[str, ...], str]:
    """The section (and name in it) and the key that a dotted text stands for; a name may have dots itself."""
    section, _, rest = text.partition(".")
    if section not in SECTIONS:
        near = difflib.get_close_matches(section, SECTIONS, n=1)
        raise UserError(
            f"--set {text}: there is no section {section!r}",
            expected=", ".join(SECTIONS),
            remedy=f"did you mean {near[0]!r}?" if near else None,
        )
    if section in PLAIN:
        return (section,), rest
    name, _, key = rest.rpartition(".")
    if section == "system" and name not in sections[section]:
        near = difflib.get_close_matches(name, list(sections[section]), n=1)
        raise UserError(
            f"--set {text}: there is no system {name!r}",
            expected=", ".join(sections[section]),
            remedy=f"did you mean {near[0]!r}?" if near else None,
        )
    return (section, name), key
