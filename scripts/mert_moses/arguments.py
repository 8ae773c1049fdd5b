"""The arguments inside arguments: what --mertargs, --batch-mira-args and --proargs tell Moses' optimisers.

Among them are ``--sctype`` and ``--scconfig``, from which a metric's specification is made.
"""

from __future__ import annotations

from collections.abc import Mapping

from lasw.metrics import UserError, command_words

# What a program takes, by every spelling: (name, it has a value).
Known = Mapping[str, tuple[str, bool]]
BLEU = "BLEU"
_SAME_NAME = ("BLEU", "TER", "WER", "PER", "CDER", "CHRF", "METEOR")
_REFUSED = {
    "BLEUDOC": "use BLEU",
    "SEMPOS": "it needs tectogrammatical annotation: use METEOR or CHRF",
    "LRSCORE": "word orders are not scored: use BLEU or CDER",
    "HAMMING": "word orders are not scored: use BLEU or CDER",
    "KENDALL": "word orders are not scored: use BLEU or CDER",
    "HWCM": "it needs parses: use BLEU or METEOR",
    "M2SCORER": "grammatical corrections are not scored: use BLEU or TER",
    "MERGE": "write the names with commas between, as BLEU,TER",
}
# What Moses' METEOR calls a language -> the stemmer of ours.
_STEMMERS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "se": "swedish", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_LENGTHS = ("closest", "shortest", "average")


def _known(table: str) -> Known:
    """A line a name and its spellings; ``=`` behind names that have a value."""
    return {
        spelling: (name.removesuffix("="), name.endswith("="))
        for name, *spellings in map(str.split, table.strip().split("\n"))
        for spelling in spellings
    }


MERT = _known("""
sctype= --sctype -s
scconfig= --scconfig -c
restarts= -n --ntry
random_directions= -m --nrandom
active= -o --optimize
type= -t --type
seed= -r --rseed
threads= --threads -T
verbose= -v --verbose
binary -b --binary
""")
MIRA = _known("""
sctype= --sctype
scconfig= --scconfig -c
c= -C --cparam
decay= -D --decay
passes= -J --iters
seed= -r --random-seed
model_bg --model-bg
no_shuffle --no-shuffle --streaming
safe_hope --safe-hope
verbose --verbose
binary -b --binary
""")
PRO = _known("""
smooth_bp -b --smooth-brevity-penalty
seed= -r --random-seed
""")


def read_arguments(shown: str, text: str, known: Known) -> dict[str, str]:
    """The arguments in a text by name, those without a value as ``true``; of several the last.

    Raises:
        UserError: one that is not known, or lacks its value; `shown` is the option that the text was given to.
    """
    words = command_words(text, shown)
    found: dict[str, str] = {}
    while words:
        word = words.pop(0)
        spelled, equals, value = word.partition("=")
        if spelled not in known and not word.startswith("--") and word[:2] in known and known[word[:2]][1]:
            spelled, equals, value = word[:2], "=", word[2:]  # -J300
        if spelled not in known:
            takes = ", ".join(sorted(known, key=lambda one: one.lstrip("-").lower()))
            raise UserError(f"{shown} has {word!r}", expected=f"one of {takes}", remedy="leave it out")
        name, has_value = known[spelled]
        if has_value and not equals:
            if not words:
                raise UserError(f"{shown}: {spelled} without a value")
            value = words.pop(0)
        found[name] = value if has_value else "true"
    return found


def whole(shown: str, text: str) -> int:
    """A number in such a text.

    Raises:
        UserError: it is no whole number of at least 0.
    """
    if not text.isdecimal():
        raise UserError(f"{shown} {text}", expected="a whole number of at least 0")
    return int(text)


def read_config(text: str) -> dict[str, str]:
    """``reflen:shortest,case:false`` by key.

    Raises:
        UserError: not of this form.
    """
    found = {}
    for part in filter(None, text.replace(" ", ",").split(",")):
        key, colon, value = part.partition(":")
        if not colon or not key or not value:
            raise UserError(f"--scconfig {text!r}", expected="KEY:VALUE,KEY:VALUE, as reflen:shortest")
        found[key] = value
    return found


def specification(sctype: str, config: Mapping[str, str]) -> tuple[str, list[str]]:
    """The metric, and what is worth telling.

    Several scorers are a weighted mean, ``BLEU,TER`` with ``weights:0.7+0.3`` in the configuration, or
    ``BLEU:0.7,TER:0.3``; all weights are equal by default, and their sum is 1.

    Raises:
        UserError: a scorer or a setting that there is not.
    """
    parts = [part.strip() for part in sctype.split(",") if part.strip()]
    names = [part.partition(":")[0].upper() for part in parts]
    for name in names:
        if name not in _SAME_NAME:
            raise UserError(f"--sctype {name} is refused", remedy=_REFUSED.get(name, f"use {', '.join(_SAME_NAME)}"))
    if not names:
        raise UserError("--sctype without a name", expected=", ".join(_SAME_NAME))
    left = {key: value for key, value in config.items() if key not in ("case", "weights", "reflen")}
    remarks: list[str] = []
    specs = []
    for name in names:
        spec, used = _one(name, config)
        specs.append(spec)
        left = {key: value for key, value in left.items() if key not in used}
    remarks += [f"--scconfig {key}:{value} has no effect on {sctype}" for key, value in left.items()]
    if len(specs) == 1:
        if "reflen" in config and BLEU not in names:
            remarks.append(f"the reference length {config['reflen']} has no effect on {sctype}")
        return specs[0], remarks
    return _mixture(specs, _weights(parts, config)), remarks


def _one(name: str, config: Mapping[str, str]) -> tuple[str, set[str]]:
    if name == BLEU and "reflen" in config:
        if config["reflen"] not in _LENGTHS:
            raise UserError(f"--scconfig reflen:{config['reflen']}", expected=", ".join(_LENGTHS))
        return f"BLEU:reflen={config['reflen']}", set()
    if name == "CHRF" and "beta" in config:
        return f"CHRF:beta={config['beta']}", {"beta"}
    if name == "METEOR" and "lang" in config:
        return f"METEOR:stem={_STEMMERS.get(config['lang'], 'none')}", {"lang"}
    return name, set()


def _weights(parts: list[str], config: Mapping[str, str]) -> list[float]:
    written = [part.partition(":")[2] for part in parts]
    if "weights" in config:
        written = config["weights"].split("+")
    if not any(written):
        return [1 / len(parts)] * len(parts)
    try:
        weights = [float(text) for text in written]
    except ValueError:
        raise UserError(f"weights {'+'.join(written)}", expected="a number for every scorer") from None
    if len(weights) != len(parts) or min(weights) < 0 or not sum(weights) > 0:
        raise UserError(f"weights {'+'.join(written)}", expected=f"{len(parts)} numbers of at least 0, not all 0")
    return [weight / sum(weights) for weight in weights]


def _mixture(specs: list[str], weights: list[float]) -> str:
    return "MIX:" + ":".join(f"{spec}={weight!r}" for spec, weight in zip(specs, weights, strict=True))
