"""Bringing weights and the features of N-best lists together by name."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from lasw.metrics import UserError
from lasw.tuning.formats.weights import old_style
from lasw.tuning.formats.weights.base import FilePath
from lasw.tuning.weights import FeatureNames, Weights, places

# Moses prints no value for it in N-best lists and never tunes it: a weight that stands there is expected.
NEVER_LISTED = "UnknownWordPenalty"
_PLACE = re.compile(r"F\d+")


@dataclass(frozen=True)
class Match:
    """Weights over the features of N-best lists.

    Attributes:
        weights: one for every dense feature, in the order of the lists; all sparse ones there were.
        unused: weights of groups that the lists do not have.
        warnings: one line each, for the user.
    """

    weights: Weights
    unused: Mapping[str, list[float]]
    warnings: tuple[str, ...] = ()

    def complete(self, weights: Weights) -> Weights:
        """`weights` (over the features of the lists) and the unused ones behind them, as a decoder wants them."""
        return Weights.from_groups({**weights.by_group(), **self.unused}, weights.sparse)


def match(
    weights: Weights,
    names: FeatureNames,
    *,
    sparse_names: Collection[str] | None = (),
    default: Mapping[str, float] | None = None,
    path: FilePath | None = None,
) -> Match:
    """The weights for dense features `names`.

    A group is found by its name, else by its components ``NAME_0``, ``NAME_1``, ... (flat files, Moses' features.dat),
    else by its old label (``lm`` for ``LM0``). What is dense and what is sparse, the lists decide: a dense feature may
    have its weight among the sparse ones, and a weight that is left over is sparse if the lists have it so. Weights
    without names (`by_place`) go to the features in their order.

    Args:
        weights: as a file had them.
        names: dense features of the N-best lists.
        sparse_names: sparse features of the N-best lists; None: not known yet, any left-over weight may be one.
        default: weights of groups that may lack one.
        path: where the weights came from, for messages.

    Raises:
        UserError: a feature without a weight, or a group with another number of weights than components.
    """
    left, sparse = dict(weights.by_group()), dict(weights.sparse)
    if old_style.is_old(weights.names):
        left = _regrouped(left, names)
    left, placed = _by_place(left, names, default or {}, path)
    found: dict[str, list[float]] = {}
    for name, size in names.groups:
        values = _taken(left, name, size)
        if values is None and size == 1 and name in sparse:
            values = [sparse.pop(name)]
        if values is None and default is not None and name in default:
            values = [default[name]] * size
        if values is None:
            raise _no_weight(name, names, left, path)
        if len(values) != size:
            raise UserError(
                f"{len(values)} weights for {name}",
                path=path,
                expected=f"{size}, as many as the N-best lists have values",
            )
        found[name] = values
    for name in [name for name in left if len(left[name]) == 1 and not name.startswith(NEVER_LISTED)]:
        if sparse_names is None or name in sparse_names:
            sparse[name] = left.pop(name)[0]
    dense = np.array([v for values in found.values() for v in values], dtype=np.float64)
    strange = [name for name in left if not name.startswith(NEVER_LISTED)]
    warnings = (f"the N-best lists have no feature {', '.join(strange)}: the weight stays as it is",) if strange else ()
    return Match(Weights(names, dense, sparse), left, (*placed, *warnings))


def tuneable(weights: Weights) -> Weights:
    """The weights of a configuration without those that no N-best list has features for."""
    groups = {name: values for name, values in weights.by_group().items() if not name.startswith(NEVER_LISTED)}
    return Weights.from_groups(groups, weights.sparse)


def _by_place(
    left: dict[str, list[float]], names: FeatureNames, default: Mapping[str, float], path: FilePath | None
) -> tuple[dict[str, list[float]], tuple[str, ...]]:
    """Weights that are called by their place, under the names of the features there, and a line that says so."""
    nameless = [name for name in left if _PLACE.fullmatch(name)]
    own = {name for name, _ in names.groups} | set(names.components)
    if not nameless or own & set(left):
        return left, ()
    groups = tuple((name, size) for name, size in names.groups if name not in default or len(names) == len(nameless))
    columns = FeatureNames(groups)
    if set(nameless) != set(places(len(columns))):
        if len(nameless) < len(left):
            return left, ()
        raise UserError(
            f"{len(nameless)} weights without names",
            path=path,
            expected=f"{len(columns)}, one for each of {', '.join(columns.components)}",
        )
    values = [left[place][0] for place in places(len(columns))]
    rest = {name: value for name, value in left.items() if name not in nameless}
    found = {name: values[place] for name, place in columns.slices.items()}
    text = f"the weights have no names: they are those of {', '.join(columns.components)}, in this order"
    return {**found, **rest}, (text,)


def _taken(left: dict[str, list[float]], name: str, size: int) -> list[float] | None:
    if name in left:
        return left.pop(name)
    components = [f"{name}_{k}" for k in range(size)]
    if all(len(left.get(component, ())) == 1 for component in components):
        return [left.pop(component)[0] for component in components]
    return None


def _regrouped(old: dict[str, list[float]], names: FeatureNames) -> dict[str, list[float]]:
    """Old groups cut into the groups of `names`; one that does not fit stays whole, for `match` to complain about."""
    new: dict[str, list[float]] = {}
    sizes = dict(names.groups)
    for label, values in old.items():
        found = old_style.members(label, names)
        if sum(sizes[name] for name in found) != len(values) or label in found:
            new[label] = values
            continue
        start = 0
        for name in found:
            new[name] = values[start : start + sizes[name]]
            start += sizes[name]
    return new


def _no_weight(name: str, names: FeatureNames, left: Mapping[str, list[float]], path: FilePath | None) -> UserError:
    spare = f"; weights that no feature took: {', '.join(left)}" if left else ""
    return UserError(
        f"no weight for the feature {name}",
        path=path,
        expected=f"one for each of {', '.join(group for group, _ in names.groups)}{spare}",
        remedy="is it the file of these lists? If so, add "
        + (f"the {size} weights of {name}" if (size := dict(names.groups)[name]) > 1 else f"the weight of {name}"),
    )
