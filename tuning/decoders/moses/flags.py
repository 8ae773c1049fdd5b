"""The options that a user gives to Moses itself: which are not theirs to give, and how they stand in a moses.ini."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lasw.metrics import UserError, command_words

# Short forms are known on Moses' command line only, a section of a moses.ini wants the long name.
_LONG = {
    "aws": "alternate-weight-setting",
    "b": "beam-threshold",
    "cbd": "cube-pruning-diversity",
    "cbds": "cube-pruning-deterministic-search",
    "cbls": "cube-pruning-lazy-scoring",
    "cbp": "cube-pruning-pop-limit",
    "con": "consensus-decoding",
    "da": "phrase-drop-allowed",
    "dd": "disable-discarding",
    "dl": "distortion-limit",
    "dpb": "decoding-graph-backoff",
    "du": "drop-unknown",
    "edc": "early-distortion-cost",
    "edt": "early-discarding-threshold",
    "fd": "factor-delimiter",
    "lmbr": "lminimum-bayes-risk",
    "mbr": "minimum-bayes-risk",
    "mp": "monotone-at-punctuation",
    "mu": "mark-unknown",
    "r": "recover-input-path",
    "s": "stack",
    "sd": "stack-diversity",
    "th": "threads",
    "tot": "translation-option-threshold",
    "v": "verbose",
    "wf": "weight-file",
    "xb": "xml-brackets",
    "xi": "xml-input",
}
_MODELS = "the moses.ini says which models there are: name them there"
_NO_LINE = re.compile(r"[\r\n\0\[\]]|^\s*#|^\s*$")
_NOT_WORDS = "it puts more than words into the lists, which would be scored as words: leave it out while tuning"
# option -> what to do in place of giving it
_REFUSED = {
    "config": "the moses.ini is an argument of its own",
    "f": "the moses.ini is an argument of its own",
    "ttable-file": _MODELS,
    "distortion-file": _MODELS,
    "generation-file": _MODELS,
    "lmodel-file": _MODELS,
    "global-lexical-file": _MODELS,
    "weight-overwrite": "the weights to start from are those of the moses.ini",
    "n-best-list": "the length of the lists is a setting of its own",
    "input-file": "the sentences to translate are a setting of their own",
    "i": "the sentences to translate are a setting of their own",
    "report-all-factors": _NOT_WORDS,
    "report-segmentation": _NOT_WORDS,
    "t": _NOT_WORDS,
    "report-segmentation-enriched": _NOT_WORDS,
    "tt": _NOT_WORDS,
    "show-weights": "leave it out",
}


@dataclass(frozen=True)
class Flags:
    """Options of Moses with their values, in their order.

    Attributes:
        given: (option as given without dashes, values).
    """

    given: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def parsed(cls, text: str) -> Flags:
        """From a piece of command line.

        Raises:
            UserError: quotes that do not match, a value without an option, an option that is not to be given here.
        """
        words = command_words(text, "options of the decoder")
        given: list[tuple[str, list[str]]] = []
        for word in words:
            option = re.fullmatch(r"--?([^-\d].*)", word)
            if option:
                given.append((option[1], []))
            elif not given:
                raise UserError(
                    f"options of the decoder {text!r}: {word!r} belongs to no option", expected="-NAME VALUE"
                )
            else:
                given[-1][1].append(word)
        for name, values in given:
            if name in _REFUSED:
                raise UserError(f"-{name} among the options of the decoder", remedy=_REFUSED[name])
            # They become a section of the moses.ini that is written, and nothing else there.
            wrong = next((text for text in (name, *values) if _NO_LINE.search(text)), None)
            if wrong is not None:
                found = f"-{name[:40]} among the options of the decoder: {wrong[:60]!r}"
                raise UserError(found, expected="what can stand on a line of a moses.ini")
        return cls(tuple((name, tuple(values)) for name, values in given))

    def words(self) -> list[str]:
        """As Moses gets them."""
        return [word for name, values in self.given for word in (f"-{name}", *values)]

    def values(self, name: str) -> tuple[str, ...] | None:
        """Of the option with this long name, None if it is not given."""
        return next((values for given, values in self.given if long_name(given) == name), None)

    def without(self, name: str) -> Flags:
        """All but the option with this long name."""
        return Flags(tuple(one for one in self.given if long_name(one[0]) != name))


def long_name(name: str) -> str:
    """The name of an option that may be given by its short form."""
    return _LONG.get(name, name)


def as_sections(lines: Sequence[str], flags: Flags) -> list[str]:
    """The lines of a moses.ini with sections for the options, so that it decodes as Moses did with both.

    A section that is there already is replaced; the comments in it go with it.
    """
    sections: dict[str, list[str]] = {}
    for name, values in flags.given:
        sections.setdefault(long_name(name), []).extend(values or ["true"])
    if not sections:
        return list(lines)
    end = "\r" if lines and lines[0].endswith("\r") else ""
    kept: list[str] = []
    dropped = False
    for line in lines:
        opened = re.fullmatch(r"\s*\[(.+)\]\s*(#.*)?", line)
        if opened:
            dropped = long_name(opened[1]) in sections
        if not dropped:
            kept.append(line)
    while kept and not kept[-1].strip():
        kept.pop()
    for name, lines_of_it in sorted(sections.items()):
        kept += [end, f"[{name}]{end}", *(line + end for line in lines_of_it)]
    return [*kept, ""]
