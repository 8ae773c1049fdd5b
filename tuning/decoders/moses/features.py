"""Which features a Moses has, as ``-show-weights`` tells, brought together with the weights of its moses.ini."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lasw.metrics import UserError
from lasw.tuning.formats import MOSES, NEVER_LISTED, WeightFile, match, tuneable
from lasw.tuning.weights import FeatureNames, Weights

_UNTUNEABLE = "UNTUNEABLE"
_UNTUNEABLE_COMPONENT = "UNTUNEABLECOMPONENT"
_NUMBER = re.compile(r"[-+]?(\d+(?:\.\d*)?|\.\d+)([eE][-+]?\d+)?")


@dataclass(frozen=True)
class Shown:
    """What ``-show-weights`` prints.

    Attributes:
        groups: values of every feature function with dense features, None for a component that is not to be tuned.
        untuneable: feature functions that are not to be tuned.
        sparse: feature functions that have sparse features only.
    """

    groups: Mapping[str, Sequence[float | None]]
    untuneable: tuple[str, ...] = ()
    sparse: tuple[str, ...] = ()


@dataclass(frozen=True)
class Features:
    """The tuneable features of a system with the weights of its moses.ini.

    Attributes:
        start: their weights; the names are those of the N-best lists.
        kept: for groups of which a part is not to be tuned, the weights of all components, NaN where one is tuned.
        functions: all feature functions that there are; None if nobody knows.
        remarks: what is worth telling a user, one line each.
    """

    start: Weights
    kept: Mapping[str, Sequence[float]] = field(default_factory=dict)
    functions: frozenset[str] | None = None
    remarks: tuple[str, ...] = ()

    def complete(self, weights: Weights) -> Weights:
        """`weights` with those between them that are not tuned, as a moses.ini has them."""
        if not self.kept:
            return weights
        groups = weights.by_group()
        for name, kept in self.kept.items():
            values = np.array(kept)
            values[np.isnan(values)] = groups[name]
            groups[name] = values.tolist()
        return Weights.from_groups(groups, weights.sparse)

    def knows(self, sparse: str) -> bool:
        """Whether a sparse feature, ``FUNCTION_rest``, is of a feature function that there is."""
        if self.functions is None:
            return True
        cuts = [k for k, character in enumerate(sparse) if character == "_"]
        return any(sparse[:k] in self.functions for k in cuts)


def parse_shown(text: str) -> Shown | None:
    """What the output of ``-show-weights`` says; None if no line of it speaks of weights."""
    groups: dict[str, list[float | None]] = {}
    untuneable, sparse = [], []
    for line in text.split("\n"):
        words = line.split()
        if len(words) == 2 and words[1] == _UNTUNEABLE:
            untuneable.append(words[0].removesuffix("="))
        elif words and words[0].endswith("=") and all(map(_is_value, words[1:])):
            name = words[0].removesuffix("=")
            if len(words) == 1:
                sparse.append(name)
            else:
                groups[name] = [None if word == _UNTUNEABLE_COMPONENT else float(word) for word in words[1:]]
    if not groups and not untuneable and not sparse:
        return None
    return Shown(groups, tuple(untuneable), tuple(sparse))


def features(file: WeightFile, path: str | os.PathLike[str], shown: Shown | None) -> Features:
    """The features that are tuned.

    Args:
        file: the weights of the moses.ini.
        path: of it, for messages.
        shown: what Moses says it has; None: what the moses.ini has weights for.

    Raises:
        UserError: Moses and the moses.ini speak of different features, or of different numbers of weights.
    """
    if file.kind != MOSES:
        raise UserError("this is no moses.ini", path=path, expected="sections as [feature] and [weight]")
    if shown is None:
        return Features(tuneable(file.weights))
    names = FeatureNames(tuple((name, len(values)) for name, values in shown.groups.items()))
    _compare_counts(names, file.weights, path)
    default = {name: 1.0 for name, _ in names.groups}  # what Moses takes where the moses.ini says nothing
    matched = match(file.weights, names, default=default, path=path)
    left_out = {*shown.untuneable, *shown.sparse}
    strange = [k for k in matched.unused if k not in left_out and not k.startswith(NEVER_LISTED)]
    if strange:
        raise UserError(
            f"weights for {', '.join(strange)}, which this Moses does not have",
            path=path,
            expected=f"weights for {', '.join(name for name, _ in names.groups)}",
            remedy="is this its moses.ini?",
        )
    own = set(file.weights.names.slices)
    unsaid = [name for name, _ in names.groups if name not in own] if not _is_old(file.weights, names) else []
    remarks = [f"{path} has no weight for {name}: it starts with 1, as Moses does" for name in unsaid]
    if shown.sparse:
        remarks.append(f"the decoder has sparse features as well: {', '.join(shown.sparse)}")
    return _tuned(matched.weights, shown, tuple(remarks))


def _is_value(word: str) -> bool:
    return word == _UNTUNEABLE_COMPONENT or _NUMBER.fullmatch(word) is not None


def _is_old(weights: Weights, names: FeatureNames) -> bool:
    """Whether the groups of the file are other ones (old labels) than those that Moses shows."""
    return not {name for name, _ in names.groups} & set(weights.names.slices)


def _compare_counts(names: FeatureNames, weights: Weights, path: str | os.PathLike[str]) -> None:
    have = dict(weights.names.groups)
    for name, size in names.groups:
        if have.get(name, size) != size:
            raise UserError(
                f"{have[name]} weights for {name}",
                path=path,
                expected=f"{size}, as many as this Moses has",
                remedy="is this its moses.ini?",
            )


def _tuned(weights: Weights, shown: Shown, remarks: tuple[str, ...]) -> Features:
    """The weights without the components that are not to be tuned."""
    groups = weights.by_group()
    kept: dict[str, list[float]] = {}
    for name, values in shown.groups.items():
        fixed = [value is None for value in values]
        if all(fixed):
            del groups[name]
        elif any(fixed):
            kept[name] = [w if f else np.nan for w, f in zip(groups[name], fixed, strict=True)]
            groups[name] = [w for w, f in zip(groups[name], fixed, strict=True) if not f]
    functions = frozenset([*shown.groups, *shown.untuneable, *shown.sparse])
    return Features(Weights.from_groups(groups, weights.sparse), kept, functions, remarks)
