"""The command line of mert-moses.pl: its options, what becomes of each, and how they are read.

The rules are those of Perl's Getopt::Long: one or two dashes, the value behind ``=`` or in the next word whatever that
begins with, any abbreviation that only one option has, upper or lower case, ``--no-X`` for the options that can be
negated, arguments and options in any order, nothing but arguments behind ``--``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lasw.metrics import UserError

TEXT, PATH, INT, FLOAT, FLAG, NEGATABLE, LIST = "text", "path", "int", "float", "flag", "negatable", "list"
HONOURED, NO_EFFECT, REFUSED = "honoured", "no effect", "refused"


@dataclass(frozen=True)
class Option:
    """An option of the command line.

    Attributes:
        name: without dashes.
        kind: ``text``, ``path`` (of a file or folder), ``int``, ``float``, ``flag``, ``negatable`` (a flag with
            ``--no-`` form), ``list`` (text, may be given several times).
        fate: ``honoured``, ``no effect`` (accepted) or ``refused``.
        told: what it does, why it has no effect, or why it is refused and what to do in its place.
    """

    name: str
    kind: str
    fate: str
    told: str


def _options(table: str) -> tuple[Option, ...]:
    """One a line, two spaces between name, kind, fate and what is told, which may go on in indented lines."""
    lines = re.sub(r"\n {4}", " ", table.strip()).split("\n")
    return tuple(Option(*line.split("  ", 3)) for line in lines)


# Of mert-moses.pl, in the order of its own table.
THEIRS = _options("""
working-dir  path  honoured  folder of all files; `mert-work` by default
input  path  honoured  the sentences to translate (first argument)
inputtype  int  honoured  0 text, 1 confusion networks, 2 lattices, 3 trees; handed to the decoder
refs  path  honoured  a file, or the beginning of the names REFS0, REFS1, ... (second argument)
decoder  path  honoured  the program (third argument)
config  path  honoured  its moses.ini (fourth argument)
nbest  int  honoured  length of the lists, 100 by default
lattice-samples  int  refused  samples from lattices are not read: ask for longer lists with --nbest
queue-flags  text  no effect  no queue is asked; --dask decodes on a queue's machines (docs/how-to/cluster.md)
jobs  int  honoured  so many processes of the decoder on this machine, at most one per processor
cache-model  text  no effect  models are read where the moses.ini says they are
decoder-flags  text  honoured  options for the decoder; they go into the moses.ini as well
continue  flag  honoured  go on from the last complete iteration, ours or mert-moses.pl's own
skip-decoder  flag  honoured  the next iteration takes the list that is there
shortest  flag  honoured  reference length of BLEU: the shortest reference
average  flag  honoured  reference length of BLEU: the mean
closest  flag  honoured  reference length of BLEU: the closest, which is the default
nocase  flag  honoured  lower-case translations and references before they are scored
nonorm  flag  no effect  text is never normalised (nor does mert-moses.pl)
help  flag  honoured  print the options and exit
verbose  flag  no effect  every iteration is told anyway
mertdir  path  no effect  no program of Moses but the decoder is needed
mertargs  text  honoured  --sctype and --scconfig; of mert's options -n -m -o -t
extractorargs  text  no effect  there is no extractor
proargs  text  honoured  -b (smoothed brevity penalty)
mertmertargs  text  honoured  as --mertargs
rootdir  path  honoured  Moses' scripts: where the filter is looked for
filtercmd  path  honoured  the program that filters the phrase tables; without one they stay as they are
filterfile  path  honoured  what the filter reads in the place of the input
qsubwrapper  path  no effect  no queue is asked, see --queue-flags
mosesparallelcmd  path  no effect  --jobs runs the decoder several times on this machine
old-sge  flag  no effect  no queue is asked, see --queue-flags
filter-phrase-table  negatable  honoured  filter the phrase tables first, with --filtercmd or the script below
    --rootdir; without one they stay as they are
transform-decoded-file  text  honoured  a command that the lists go through, or a word such as `bpe`: 'a@@ b' becomes
    'ab'
predictable-seeds  flag  no effect  seeds are always fixed: see --seed
historic-bests  flag  honoured  MERT starts from the weights of all earlier iterations too
random-directions  flag  honoured  MERT searches along 50 random directions (and the coordinates, without which it
    would lose)
number-of-random-directions  int  honoured  of MERT; 5 by default
random-restarts  int  honoured  of MERT; 20 by default
return-best-dev  flag  honoured  the weights with the best development score, the last ones included: they are decoded
    with once more
activate-features  text  honoured  MERT tunes these only: `LM0_0,TranslationModel0_3`
range  list  honoured  of MERT's random starting points: `LM0:0..1,TranslationModel0:0..1,-1..1`
use-config-weights-for-first-run  flag  honoured  the first decoding is with the weights as they are; otherwise they
    are divided by their absolute sum
prev-aggregate-nbestlist  int  honoured  -1: the lists of all iterations; N: this one's and those of N before it
maximum-iterations  int  honoured  25 by default; 0: no limit
pairwise-ranked  flag  honoured  PRO, with a regression of our own (no MegaM)
pro-starting-point  flag  honoured  PRO, then MERT from its weights and the previous ones
historic-interpolation  float  honoured  from iteration 4 on this share of the new weights, the rest of the previous
    ones
batch-mira  flag  honoured  batch MIRA
hg-mira  flag  refused  hypergraphs are not read: --batch-mira with longer lists (--nbest 500) comes closest
batch-mira-args  text  honoured  -J -C -D --model-bg --no-shuffle --safe-hope --sctype --scconfig
promix-training  text  refused  mixtures of phrase tables are not trained: give the mixed model as CONFIG
promix-table  list  refused  mixtures of phrase tables are not trained: give the mixed model as CONFIG
threads  int  no effect  the optimisers choose for themselves, the weights do not depend on it (threads of the
    decoder: --decoder-flags '-threads N')
spe-symal  text  refused  simulated post-editing is not done: give the decoder's own program for it as DECODER
multi-moses  flag  honoured  several processes of the decoder, as many as -threads of --decoder-flags says (P or
    P:T:E)
""")
# What mert-moses.pl does not have. An abbreviation means one of these only if it means none of theirs.
OURS = _options("""
optimiser  text  honoured  any optimiser of lasw by name: wro, expected, ...
option  list  honoured  KEY=VALUE: a hyper-parameter of the optimiser; may be given several times
dask  text  honoured  address of a Dask scheduler whose workers decode; --jobs does not count then
step  text  honoured  trust, growing or whole: how far an iteration goes towards the weights that the optimiser proposes
metric  text  honoured  the loss, any metric of lasw: PABC4:alpha=3
loss  text  honoured  the same
strip-marks  flag  honoured  take phrase marks (`|0-2|`) and factors (`word|NN`) out of lists and references first
join  text  honoured  put sub-words together first: bpe or sentencepiece
unescape  flag  honoured  turn what Moses' tokeniser escapes (`&quot;`) back before text is scored
force  flag  honoured  go on with lists whose text is surely not what it seems
moses-files  flag  honoured  leave what Moses' own tools work on too: runN.features.dat, runN.scores.dat, init.opt,
    runN.mert.log, runN.mert.out, features.list
noise  float  honoured  end as `lasw tune` does: when the new weights promise no more on all candidates than so many
    standard errors (0.5 there) and the last decoding gained no more than two; 0, the default: not looked at
seed  int  honoured  of everything that is drawn; 1 by default
quiet  flag  honoured  only warnings are told
debug  flag  honoured  show the traceback of an error
version  flag  honoured  print the version and exit
lambdas  text  refused  it is gone from mert-moses.pl too: weights to start from stand in CONFIG, --range has their
    ranges
""")
_NUMBERS = {
    INT: (re.compile(r"[-+]?\d{1,18}"), "a whole number"),
    FLOAT: (re.compile(r"[-+]?(\d+(?:\.\d*)?|\.\d+)([eE][-+]?\d+)?"), "a number"),
}

Value = str | int | float | bool | list[str]


_ARGUMENTS = ("input", "refs", "decoder", "config")


class UsageError(UserError):
    """A command line that cannot be read."""


@dataclass
class Given:
    """What a command line says.

    Attributes:
        values: by the name of the option; flags are True or False.
        arguments: words that belong to no option.
    """

    values: dict[str, Value] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    def flag(self, name: str, default: bool = False) -> bool:
        """Whether a flag is set."""
        return bool(self.values.get(name, default))

    def text(self, name: str) -> str | None:
        """The value of an option."""
        value = self.values.get(name)
        return None if value is None else str(value)

    def number(self, name: str, default: int) -> int:
        """A whole number."""
        value = self.values.get(name, default)
        assert isinstance(value, int)  # for mypy: the option's kind
        return value

    def texts(self, name: str) -> list[str]:
        """All values of an option that may be given several times."""
        value = self.values.get(name, [])
        assert isinstance(value, list)  # for mypy: the option's kind
        return value


def read_options(words: Sequence[str]) -> Given:
    """Read a command line; the four arguments stand in `values` by their names afterwards.

    Raises:
        UsageError: an option that does not exist or that an abbreviation could mean several of, a value that is
            missing, of another kind or too much, another number of arguments.
    """
    given = Given()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            given.arguments += rest
            break
        if re.match(r"--?[^-\s]", word):
            _take(word, rest, given)
        else:
            given.arguments.append(word)
    if not any(given.flag(name) for name in ("help", "version")):
        _place_arguments(given)
    return given


def refuse_and_remark(given: Given) -> list[str]:
    """One line for every option that is given and has no effect.

    Raises:
        UserError: one that is refused.
    """
    remarks = []
    for option in (*THEIRS, *OURS):
        if not given.values.get(option.name):
            continue
        if option.fate == REFUSED:
            raise UserError(f"--{option.name} is refused", remedy=option.told)
        if option.fate == NO_EFFECT:
            remarks.append(f"--{option.name} has no effect: {option.told}")
    return remarks


def usage() -> str:
    """What ``--help`` prints."""
    lines = [
        "usage: lasw-mert-moses INPUT REFS DECODER CONFIG [options]",
        "",
        "Tunes the weights of a Moses system; takes the command line of mert-moses.pl and leaves the same files.",
        "",
        "example:",
        "  lasw-mert-moses dev.de dev.en bin/moses model/moses.ini --working-dir tune --batch-mira \\",
        "      --decoder-flags '-threads 4' --return-best-dev --no-filter-phrase-table",
    ]
    for title, options in (("options of mert-moses.pl:", THEIRS), ("more:", OURS)):
        lines += ["", title]
        for option in options:
            shown = {FLAG: "", NEGATABLE: ", --no-" + option.name}.get(option.kind, f" {option.kind.upper()}")
            lines.append(f"  --{option.name}{shown}")
            fate = {NO_EFFECT: "no effect: ", REFUSED: "refused: "}.get(option.fate, "")
            lines.append(f"      {fate}{option.told}")
    return "\n".join(lines)


def _take(word: str, rest: list[str], given: Given) -> None:
    """Read the option in `word`, and its value from `rest` if it stands there."""
    name, equals, value = word.lstrip("-").partition("=")
    option, negated = _found(name)
    shown = f"--{option.name}"
    if option.kind in (FLAG, NEGATABLE):
        if equals:
            raise UsageError(f"{shown} takes no value", expected=shown)
        given.values[option.name] = not negated
        return
    if not equals:
        if not rest:
            raise UsageError(f"{shown} without a value")
        value = rest.pop(0)
    if option.kind in _NUMBERS:
        pattern, expected = _NUMBERS[option.kind]
        if not pattern.fullmatch(value):
            raise UsageError(f"{shown} is {value!r}", expected=expected)
        given.values[option.name] = int(value) if option.kind == INT else float(value)
    elif option.kind == LIST:
        given.values[option.name] = [*given.texts(option.name), value]
    else:
        given.values[option.name] = value


def _found(name: str) -> tuple[Option, bool]:
    """The option that a name or an abbreviation means, and whether it is negated."""
    wanted = name.lower()
    spelled = [_spellings(THEIRS), _spellings(OURS)]
    for names in spelled:
        if wanted in names:
            return names[wanted]
    for names in spelled:
        meant = {spelling: found for spelling, found in names.items() if spelling.startswith(wanted)}
        if len(set(meant.values())) == 1:
            return next(iter(meant.values()))
        if meant:
            candidates = ", ".join(f"--{spelling}" for spelling in meant)
            raise UsageError(f"--{name} could mean {candidates}", remedy="write more of it")
    near = difflib.get_close_matches(wanted, [*spelled[0], *spelled[1]], n=1)
    raise UsageError(f"unknown option --{name}", remedy=f"did you mean --{near[0]}?" if near else "see --help")


def _spellings(options: Sequence[Option]) -> dict[str, tuple[Option, bool]]:
    names = {option.name: (option, False) for option in options}
    for option in options:
        if option.kind == NEGATABLE:
            names |= {f"no-{option.name}": (option, True), f"no{option.name}": (option, True)}
    return names


def _place_arguments(given: Given) -> None:
    if len(given.arguments) == len(_ARGUMENTS):
        given.values.update(zip(_ARGUMENTS, given.arguments, strict=True))
    elif given.arguments:
        raise UsageError(
            f"{len(given.arguments)} arguments ({' '.join(given.arguments)})", expected="INPUT REFS DECODER CONFIG"
        )
    missing = [name for name in _ARGUMENTS if name not in given.values]
    if missing:
        raise UsageError(f"no {' and no '.join(missing)}", expected="INPUT REFS DECODER CONFIG", remedy="see --help")
