"""The optimiser that a command line of mert-moses.pl asks for, with its words for single features made ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lasw.metrics import UserError
from lasw.scripts.mert_moses.settings import Learning
from lasw.tuning import FeatureNames, Optimiser, ProThenMert, make_optimiser


def optimiser_for(learning: Learning, names: FeatureNames) -> Callable[[int], Optimiser]:
    """Makes the optimiser for a seed.

    Raises:
        UserError: ranges or active features that do not exist, hyper-parameters that there are not.
    """
    options = dict(learning.options)
    if learning.name == "mert":
        options.setdefault("range", ranges(learning.ranges, names))
        options.setdefault("active", active(learning.active, names))

    return lambda seed: _made(learning, options, seed)


def check(learning: Learning) -> None:
    """Make the optimiser as far as that can be done without knowing the features.

    Raises:
        UserError: an optimiser, a hyper-parameter or a metric that there is not.
    """
    _made(learning, learning.options, 0)


def _made(learning: Learning, options: Mapping[str, str], seed: int) -> Optimiser:
    optimiser = make_optimiser(learning.name, options, metric=learning.loss, seed=seed)
    if not learning.pro_first:
        return optimiser
    loss = learning.loss or "BLEU"
    pro = make_optimiser("pro", metric=loss.replace("BLEU", "BLEU+1", 1) if loss[:4] == "BLEU" else loss, seed=seed)
    return ProThenMert(pro, optimiser)  # type: ignore[arg-type]  # the name says it is MERT


def ranges(given: Sequence[str], names: FeatureNames) -> str:
    """``--range`` as MERT takes it: the intervals of a feature function are those of its first components.

    Raises:
        UserError: an interval without a name before it, a name that there is not, too many intervals.
    """
    by_name: dict[str, list[str]] = {}
    for text in given:
        name = ""
        for part in filter(None, (part.strip() for part in text.split(","))):
            found, colon, interval = part.rpartition(":")
            name = found if colon else name
            if not name:
                raise UserError(f"--range {text}", expected="NAME:MIN..MAX,MIN..MAX")
            by_name.setdefault(name, []).append(interval)
    written = []
    for name, intervals in by_name.items():
        components = _components(name, names, "--range")
        if len(intervals) > len(components):
            raise UserError(f"{len(intervals)} ranges for {name}", expected=f"at most {len(components)}")
        pairs = zip(components, intervals, strict=False)
        written += [f"{component}={interval}" for component, interval in pairs]
    return ",".join(written)


def active(text: str, names: FeatureNames) -> str:
    """``--activate-features`` as MERT takes it; there, a feature function of one component is ``NAME_0``.

    Raises:
        UserError: a name that there is not.
    """
    found = []
    for word in text.replace(",", " ").split():
        name, _, place = word.rpartition("_")
        single = name in names.slices and place == "0" and dict(names.groups)[name] == 1
        found += _components(name if single else word, names, "--activate-features")
    return ",".join(found)


def _components(name: str, names: FeatureNames, option: str) -> list[str]:
    components = list(names.components)
    if name in names.slices:
        return components[names.slices[name]]
    if name in components:
        return [name]
    raise UserError(f"{option} {name}: there is no such feature", expected=", ".join(names.slices))
