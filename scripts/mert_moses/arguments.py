"""The arguments inside arguments: what --mertargs, --batch-mira-args and --proargs tell Moses' optimisers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from lasw.metrics import UserError

# What a program takes, by every spelling: (name, it has a value).
Known = Mapping[str, tuple[str, bool]]

SCORER: Known = {
    "--sctype": ("sctype", True),
    "-s": ("sctype", True),
    "--scconfig": ("scconfig", True),
    "-c": ("scconfig", True),
}
MERT: Known = {
    **SCORER,
    "-n": ("restarts", True),
    "--ntry": ("restarts", True),
    "-m": ("random_directions", True),
    "--nrandom": ("random_directions", True),
    "-o": ("active", True),
    "--optimize": ("active", True),
    "-t": ("type", True),
    "--type": ("type", True),
    "-r": ("seed", True),
    "--rseed": ("seed", True),
    "--threads": ("threads", True),
    "-T": ("threads", True),
    "-v": ("verbose", True),
    "--verbose": ("verbose", True),
    "-b": ("binary", False),
    "--binary": ("binary", False),
}
MIRA: Known = {
    "--sctype": ("sctype", True),
    "--scconfig": ("scconfig", True),
    "-c": ("scconfig", True),
    "-C": ("c", True),
    "--cparam": ("c", True),
    "-D": ("decay", True),
    "--decay": ("decay", True),
    "-J": ("passes", True),
    "--iters": ("passes", True),
    "-r": ("seed", True),
    "--random-seed": ("seed", True),
    "--model-bg": ("model_bg", False),
    "--no-shuffle": ("no_shuffle", False),
    "--streaming": ("no_shuffle", False),
    "--safe-hope": ("safe_hope", False),
    "--verbose": ("verbose", False),
    "-b": ("binary", False),
    "--binary": ("binary", False),
}
PRO: Known = {
    "-b": ("smooth_bp", False),
    "--smooth-brevity-penalty": ("smooth_bp", False),
    "-r": ("seed", True),
    "--random-seed": ("seed", True),
}


def read_arguments(shown: str, text: str, known: Known) -> dict[str, str]:
    """The arguments in a text by name, those without a value as ``true``; of several the last.

    Raises:
        UserError: one that is not known, or lacks its value; `shown` is the option that the text was given to.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"{shown} {text!r}: {error}") from None
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
