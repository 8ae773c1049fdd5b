"""What becomes of every option of mert-moses.pl, and what lasw-mert-moses has besides."""

from __future__ import annotations

from dataclasses import dataclass

TEXT, INT, FLOAT, FLAG, NEGATABLE, LIST = "text", "int", "float", "flag", "negatable", "list"
HONOURED, NO_EFFECT, REFUSED = "honoured", "no effect", "refused"


@dataclass(frozen=True)
class Option:
    """An option of the command line.

    Attributes:
        name: without dashes.
        kind: ``text``, ``int``, ``float``, ``flag``, ``negatable`` (a flag with ``--no-`` form), ``list`` (text, may
            be given several times).
        fate: ``honoured``, ``no effect`` (accepted) or ``refused``.
        told: what it does, why it has no effect, or why it is refused and what to do in its place.
    """

    name: str
    kind: str
    fate: str
    told: str


# Of mert-moses.pl, in the order of its own table.
THEIRS = (
    Option("working-dir", TEXT, HONOURED, "folder of all files; `mert-work` by default"),
    Option("input", TEXT, HONOURED, "the sentences to translate (first argument)"),
    Option("inputtype", INT, HONOURED, "0 text, 1 confusion networks, 2 lattices, 3 trees; handed to the decoder"),
    Option("refs", TEXT, HONOURED, "a file, or the beginning of the names REFS0, REFS1, ... (second argument)"),
    Option("decoder", TEXT, HONOURED, "the program (third argument)"),
    Option("config", TEXT, HONOURED, "its moses.ini (fourth argument)"),
    Option("nbest", INT, HONOURED, "length of the lists, 100 by default"),
    Option("lattice-samples", INT, REFUSED, "samples from lattices are not read: ask for longer lists with --nbest"),
    Option("queue-flags", TEXT, NO_EFFECT, "everything runs on this machine, no queue is asked"),
    Option("jobs", INT, HONOURED, "so many processes of the decoder on this machine, at most one per processor"),
    Option("cache-model", TEXT, NO_EFFECT, "models are read where the moses.ini says they are"),
    Option("decoder-flags", TEXT, HONOURED, "options for the decoder; they go into the moses.ini as well"),
    Option("continue", FLAG, HONOURED, "go on from the last complete iteration, ours or mert-moses.pl's own"),
    Option("skip-decoder", FLAG, HONOURED, "the next iteration takes the list that is there"),
    Option("shortest", FLAG, HONOURED, "reference length of BLEU: the shortest reference"),
    Option("average", FLAG, HONOURED, "reference length of BLEU: the mean"),
    Option("closest", FLAG, HONOURED, "reference length of BLEU: the closest, which is the default"),
    Option("nocase", FLAG, HONOURED, "lower-case translations and references before they are scored"),
    Option("nonorm", FLAG, NO_EFFECT, "text is never normalised (nor does mert-moses.pl)"),
    Option("help", FLAG, HONOURED, "print the options and exit"),
    Option("verbose", FLAG, NO_EFFECT, "every iteration is told anyway"),
    Option("mertdir", TEXT, NO_EFFECT, "no program of Moses but the decoder is needed"),
    Option("mertargs", TEXT, HONOURED, "--sctype and --scconfig; of mert's options -n -m -o -t"),
    Option("extractorargs", TEXT, NO_EFFECT, "there is no extractor"),
    Option("proargs", TEXT, HONOURED, "-b (smoothed brevity penalty)"),
    Option("mertmertargs", TEXT, HONOURED, "as --mertargs"),
    Option("rootdir", TEXT, HONOURED, "Moses' scripts: where the filter is looked for"),
    Option(
        "filtercmd",
        TEXT,
        HONOURED,
        "the program that filters the phrase tables; without one they stay as they are",
    ),
    Option("filterfile", TEXT, HONOURED, "what the filter reads in the place of the input"),
    Option("qsubwrapper", TEXT, NO_EFFECT, "everything runs on this machine, no queue is asked"),
    Option("mosesparallelcmd", TEXT, NO_EFFECT, "--jobs runs the decoder several times on this machine"),
    Option("old-sge", FLAG, NO_EFFECT, "everything runs on this machine, no queue is asked"),
    Option(
        "filter-phrase-table",
        NEGATABLE,
        HONOURED,
        "filter the phrase tables first, with --filtercmd or the script below --rootdir; without one they "
        "stay as they are",
    ),
    Option(
        "transform-decoded-file",
        TEXT,
        HONOURED,
        "a command that the lists go through, or a word such as `bpe`: 'a@@ b' becomes 'ab'",
    ),
    Option("predictable-seeds", FLAG, NO_EFFECT, "seeds are always fixed: see --seed"),
    Option("historic-bests", FLAG, HONOURED, "MERT starts from the weights of all earlier iterations too"),
    Option(
        "random-directions",
        FLAG,
        HONOURED,
        "MERT searches along 50 random directions (and the coordinates, without which it would lose)",
    ),
    Option("number-of-random-directions", INT, HONOURED, "of MERT; 5 by default"),
    Option("random-restarts", INT, HONOURED, "of MERT; 20 by default"),
    Option(
        "return-best-dev",
        FLAG,
        HONOURED,
        "the weights with the best development score, the last ones included: they are decoded with once more",
    ),
    Option("activate-features", TEXT, HONOURED, "MERT tunes these only: `LM0_0,TranslationModel0_3`"),
    Option("range", LIST, HONOURED, "of MERT's random starting points: `LM0:0..1,TranslationModel0:0..1,-1..1`"),
    Option(
        "use-config-weights-for-first-run",
        FLAG,
        HONOURED,
        "the first decoding is with the weights as they are; otherwise they are divided by their absolute sum",
    ),
    Option(
        "prev-aggregate-nbestlist",
        INT,
        HONOURED,
        "-1: the lists of all iterations; N: this one's and those of N before it",
    ),
    Option("maximum-iterations", INT, HONOURED, "25 by default; 0: no limit"),
    Option("pairwise-ranked", FLAG, HONOURED, "PRO, with a regression of our own (no MegaM)"),
    Option("pro-starting-point", FLAG, HONOURED, "PRO, then MERT from its weights and the previous ones"),
    Option(
        "historic-interpolation",
        FLOAT,
        HONOURED,
        "from iteration 4 on this share of the new weights, the rest of the previous ones",
    ),
    Option("batch-mira", FLAG, HONOURED, "batch MIRA"),
    Option(
        "hg-mira",
        FLAG,
        REFUSED,
        "hypergraphs are not read: --batch-mira with longer lists (--nbest 500) comes closest",
    ),
    Option("batch-mira-args", TEXT, HONOURED, "-J -C -D --model-bg --no-shuffle --safe-hope --sctype --scconfig"),
    Option(
        "promix-training",
        TEXT,
        REFUSED,
        "mixtures of phrase tables are not trained: give the mixed model as CONFIG",
    ),
    Option(
        "promix-table",
        LIST,
        REFUSED,
        "mixtures of phrase tables are not trained: give the mixed model as CONFIG",
    ),
    Option(
        "threads",
        INT,
        NO_EFFECT,
        "the optimisers choose for themselves, the weights do not depend on it (threads of the decoder: "
        "--decoder-flags '-threads N')",
    ),
    Option(
        "spe-symal",
        TEXT,
        REFUSED,
        "simulated post-editing is not done: give the decoder's own program for it as DECODER",
    ),
    Option(
        "multi-moses",
        FLAG,
        HONOURED,
        "several processes of the decoder, as many as -threads of --decoder-flags says (P or P:T:E)",
    ),
)
# What mert-moses.pl does not have. An abbreviation means one of these only if it means none of theirs.
OURS = (
    Option("optimiser", TEXT, HONOURED, "any optimiser of lasw by name: wro, expected, ..."),
    Option("option", LIST, HONOURED, "KEY=VALUE: a hyper-parameter of the optimiser; may be given several times"),
    Option("metric", TEXT, HONOURED, "the loss, any metric of lasw: PABC4:alpha=3"),
    Option("loss", TEXT, HONOURED, "the same"),
    Option("seed", INT, HONOURED, "of everything that is drawn; 1 by default"),
    Option("quiet", FLAG, HONOURED, "only warnings are told"),
    Option("debug", FLAG, HONOURED, "show the traceback of an error"),
    Option("version", FLAG, HONOURED, "print the version and exit"),
    Option(
        "lambdas",
        TEXT,
        REFUSED,
        "it is gone from mert-moses.pl too: weights to start from stand in CONFIG, --range has their ranges",
    ),
)
