"""`lasw vectors`: train word vectors, look at them, convert them."""

from __future__ import annotations

import argparse

from lasw.metrics import (
    FORMATS,
    MODELS,
    Text,
    Training,
    UserError,
    VectorFile,
    open_vectors,
    refuse_overwriting,
    selected,
    write_vector_model,
    write_vectors,
)
from lasw.scripts.command_line import (
    MOST_SEED,
    Parser,
    add_action,
    add_output_options,
    add_seed,
    add_text_options,
    note,
    positive_int,
    print_json,
    reading,
    warn,
)

_EPILOG = """\
examples:
  lasw vectors train --text news.en --output news.vectors
  lasw vectors neighbours --vectors news.vectors house treaty
  lasw vectors convert --vectors glove.840B.300d.txt.gz --output glove.vectors

Read are word2vec text and binary, GloVe, fastText .vec and .bin, .npz with words and a matrix, and what convert and
train write. gensim's own format can run code when it is opened: convert it with
KeyedVectors.load(FILE).save_word2vec_format(NEW).
A packed file (the default) opens at once whatever its size, and only the vectors that are needed are read from it.
"""


def add_arguments(parser: Parser) -> None:
    """Declare the three actions and their options."""
    parser.epilog = _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    defaults = Training()
    train = add_action(
        actions, "train", "word vectors from plain text", "lasw vectors train --text news.en --output news.vectors"
    )
    train.add_argument("--text", nargs="+", required=True, metavar="FILE", help="sentences, one a line")
    train.add_argument("--output", required=True, metavar="FILE", help="where the vectors go")
    train.add_argument("--model", choices=MODELS, default=defaults.model, help="default: %(default)s")
    for option, value, text in (
        ("--size", defaults.size, "of a vector"),
        ("--window", defaults.window, "words of context on each side"),
        ("--min-count", defaults.min_count, "rarer words get no vector"),
        ("--epochs", defaults.epochs, "passes over the text"),
        ("--negative", defaults.negative, "noise words per word"),
    ):
        train.add_argument(option, type=positive_int, default=value, help=f"{text} (default: %(default)s)")
    add_seed(train, "of what is drawn", defaults.seed, MOST_SEED)
    train.add_argument(
        "--format",
        choices=FORMATS,
        default="packed",
        help="packed (default); word2vec text or binary; fasttext: with the n-grams, for unknown words",
    )
    add_text_options(train)
    train.add_argument("--quiet", action="store_true", help="no notes on stderr")

    neighbours = add_action(
        actions,
        "neighbours",
        "the words nearest to given ones",
        "lasw vectors neighbours --vectors news.vectors -k 5 house treaty",
    )
    neighbours.add_argument("words", nargs="+", metavar="WORD")
    neighbours.add_argument("--vectors", required=True, metavar="FILE")
    neighbours.add_argument("-k", type=positive_int, default=10, help="how many of each (default: %(default)s)")
    add_output_options(neighbours)

    convert = add_action(
        actions,
        "convert",
        "write vectors in another format, or those of some words only",
        "lasw vectors convert --vectors glove.txt.gz --words dev.en train.en --output small.vectors",
    )
    convert.add_argument("--vectors", required=True, metavar="FILE")
    convert.add_argument("--output", required=True, metavar="FILE", help="where they go")
    convert.add_argument("--words", nargs="+", metavar="TEXT", help="keep the words of these files only")
    convert.add_argument(
        "--format",
        choices=("packed", "text", "binary"),
        default="packed",
        help="packed (default), or word2vec text or binary",
    )
    add_text_options(convert)
    convert.add_argument("--quiet", action="store_true", help="no notes on stderr")


def run(arguments: argparse.Namespace) -> int:
    """Do the action; 0."""
    {"train": _train, "neighbours": _neighbours, "convert": _convert}[arguments.action](arguments)
    return 0


def _train(arguments: argparse.Namespace) -> None:
    refuse_overwriting([arguments.output], arguments.text)
    text = _text(arguments.text, arguments)
    names = "model", "size", "window", "min_count", "epochs", "negative", "seed"
    training = Training(**{name: getattr(arguments, name) for name in names})
    if arguments.format == "fasttext" and arguments.model != "fasttext":
        raise UserError("--format fasttext is of models with n-grams", remedy="give --model fasttext as well")
    model = training.run(text)
    write_vector_model(arguments.output, model, arguments.format)
    note(
        arguments.quiet,
        f"{arguments.output}: {len(model.wv)} words x {training.size}, {training.model}, seed {training.seed}",
    )


def _neighbours(arguments: argparse.Namespace) -> None:
    from lasw.metrics import nearest

    file = _opened(arguments.vectors, arguments.quiet)
    rows = file.find(arguments.words)
    missing = [word for word, row in zip(arguments.words, rows.tolist(), strict=True) if row < 0]
    if len(missing) == len(rows):
        raise UserError(f"no vector of {', '.join(map(repr, missing))}", path=arguments.vectors)
    warn("vectors", (f"no vector of {word!r}" for word in missing))
    words = [word for word in arguments.words if word not in missing]
    near, cosines = nearest(file, rows[rows >= 0], arguments.k)
    lists = [
        [(file.word(row), value) for row, value in zip(n, c, strict=True) if row >= 0]
        for n, c in zip(near.tolist(), cosines.tolist(), strict=True)
    ]
    if arguments.json:
        print_json(
            [
                {"word": word, "neighbours": [{"word": other, "cosine": value} for other, value in near_words]}
                for word, near_words in zip(words, lists, strict=True)
            ]
        )
        return
    for word, near_words in zip(words, lists, strict=True):
        for other, value in near_words:
            print(f"{word}\t{other}\t{value:.4f}")


def _convert(arguments: argparse.Namespace) -> None:
    refuse_overwriting([arguments.output], (arguments.vectors, *(arguments.words or ())))
    file = _opened(arguments.vectors, arguments.quiet)
    wanted = None
    if arguments.words:
        wanted = list(dict.fromkeys(token for sentence in _text(arguments.words, arguments) for token in sentence))
    words, vectors = selected(file, wanted)
    write_vectors(arguments.output, words, vectors, arguments.format)
    of = f" of {len(wanted)} in the text" if wanted is not None else ""
    note(arguments.quiet, f"{arguments.output}: {len(words)} words{of} x {file.size}")


def _opened(path: str, quiet: bool) -> VectorFile:
    file = open_vectors(path)
    warn("vectors", file.remarks, quiet)
    return file


def _text(paths: list[str], arguments: argparse.Namespace) -> Text:
    return Text(tuple(paths), **reading(arguments))
