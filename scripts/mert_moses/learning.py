"""The optimiser that a command line of mert-moses.pl asks for, with its words for single features made ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lasw.metrics import UserError
from lasw.scripts.command_line import single_assignments
from lasw.scripts.mert_moses.arguments import BLEU, MERT, MIRA, PRO, read_arguments, read_config, specification, whole
from lasw.scripts.mert_moses.options import Given, UsageError
from lasw.tuning import DEFAULT_SEED, FeatureNames, Optimiser, ProThenMert, make_optimiser

MANY_DIRECTIONS = 50  # what --random-directions means there
_OPTIMISERS = {"batch-mira": "mira", "pairwise-ranked": "pro"}
_MERT_ONLY = ("historic-bests", "random-directions", "number-of-random-directions", "random-restarts")
# What the arguments of Moses' tools say to one of the optimisers alone, by our names.
_OF_ONE = {
    "mira": ("c", "decay", "passes", "model_bg", "no_shuffle", "safe_hope"),
    "mert": ("restarts", "random_directions", "active", "type"),
    "pro": ("smooth_bp",),
}
_ALSO_MERT_ONLY = ("activate-features", "range")


@dataclass(frozen=True)
class Learning:
    """The optimiser and what it is told.

    Attributes:
        name: of the optimiser.
        options: its hyper-parameters as text.
        loss: a metric's specification; None: the optimiser's own default.
        pro_first: PRO gives MERT another point to start from.
        ranges: of single features, as given.
        active: features to tune, as given.
    """

    name: str
    options: Mapping[str, str]
    loss: str | None
    pro_first: bool = False
    ranges: tuple[str, ...] = ()
    active: str = ""


def chosen_learning(given: Given, remarks: list[str]) -> tuple[Learning, str, bool, int]:
    """The optimiser, the metric of the development score, whether text is lower-cased, the seed.

    Raises:
        UsageError: values out of their range, options that exclude each other.
        UserError: arguments of Moses' tools that there are not.
    """
    name = _optimiser(given)
    told, options = _told(given, name, remarks)
    config = {**read_config(told.pop("scconfig", "")), **_reference_length(given)}
    sctype = told.pop("sctype", BLEU)
    metric, said = specification(sctype, config)
    remarks += said
    seed = given.number("seed", whole("seed", told.pop("seed", str(DEFAULT_SEED))))
    if seed < 0:
        raise UsageError(f"--seed {seed}", expected="at least 0")
    if given.text("metric") and given.text("loss"):
        raise UsageError("--metric and --loss", expected="one of the two, they are the same")
    wanted = given.text("metric") or given.text("loss")
    mine = given.text("optimiser") is not None
    loss = wanted or (None if mine and metric == BLEU else _corpus_loss(name, metric, told.pop("smooth_bp", None)))
    options.update(single_assignments("--option", given.texts("option")))
    learning = Learning(
        name,
        options,
        loss,
        given.flag("pro-starting-point"),
        tuple(given.texts("range")),
        given.text("activate-features") or told.pop("active", ""),
    )
    return learning, metric, given.flag("nocase") or config.get("case") == "false", seed


def _optimiser(given: Given) -> str:
    chosen = [option for option in (*_OPTIMISERS, "pro-starting-point", "optimiser") if given.values.get(option)]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]}", expected="one optimiser")
    return given.text("optimiser") or next((_OPTIMISERS[one] for one in chosen if one in _OPTIMISERS), "mert")


def _told(given: Given, name: str, remarks: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What the arguments for Moses' tools say, and the optimiser's hyper-parameters among them."""
    told: dict[str, str] = {}
    for option, known in (("batch-mira-args", MIRA), ("mertargs", MERT), ("mertmertargs", MERT), ("proargs", PRO)):
        text = given.text(option)
        if text:
            found = read_arguments(f"--{option}", text, known)
            told.update(found)
            owner = {"batch-mira-args": "mira", "proargs": "pro"}.get(option, "mert")
            useless = [one for one in found if one in _OF_ONE[owner]] if name != owner else []
            if useless:
                remarks.append(f"--{option} has no effect on {name}: {', '.join(useless)}")
    options: dict[str, str] = {}
    no_shuffle = told.pop("no_shuffle", None)
    of_mira: dict[str, str] = {
        key: told.pop(key) for key in ("c", "decay", "passes", "model_bg", "safe_hope") if key in told
    }
    if no_shuffle:
        of_mira["shuffle"] = "false"
    of_mert = _of_mert(given, told)
    if name == "mira":
        options = of_mira
    elif name == "mert":
        options = of_mert
    if name != "mert":
        useless = [one for one in (*_MERT_ONLY, *_ALSO_MERT_ONLY) if given.values.get(one)]
        remarks += [f"--{one} has no effect: only MERT knows it" for one in useless]
    return told, options


def _of_mert(given: Given, told: dict[str, str]) -> dict[str, str]:
    """MERT's hyper-parameters: the script's own options count before the arguments."""
    options: dict[str, str] = {key: told.pop(key) for key in ("restarts", "random_directions") if key in told}
    kind = told.pop("type", "powell")
    if kind not in ("powell", "random-direction", "random"):
        raise UserError(f"--mertargs -t {kind}", expected="powell, random-direction, random")
    if given.flag("random-directions") or kind != "powell":
        options.setdefault("random_directions", str(MANY_DIRECTIONS))
    if given.values.get("number-of-random-directions"):
        options["random_directions"] = str(given.number("number-of-random-directions", 0))
    if "random-restarts" in given.values:
        options["restarts"] = str(given.number("random-restarts", 0))
    return options


def _corpus_loss(name: str, metric: str, smooth_bp: str | None) -> str:
    """What the optimiser maximises for a metric of a corpus."""
    if name != "pro" or metric.partition(":")[0] != BLEU:
        return metric
    sentence = metric.replace(BLEU, "BLEU+1", 1)
    return f"{sentence}:bp=reference" if smooth_bp else sentence


def _reference_length(given: Given) -> dict[str, str]:
    chosen = [length for length in ("shortest", "average", "closest") if given.flag(length)]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]}", expected="one reference length")
    return {"reflen": chosen[0]} if chosen else {}


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
