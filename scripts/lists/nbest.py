"""`lasw nbest`: lists between layouts, their first lines to read, their sizes, what they could give."""

from __future__ import annotations

import argparse
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasw.metrics import (
    STANDARD_INPUT,
    UserError,
    Vocabulary,
    atomic_write,
    distinct,
    labels,
    metric,
    refuse_overwriting,
)
from lasw.scripts.command_line import (
    Parser,
    PoolReader,
    add_action,
    add_layout_options,
    add_metric,
    add_output_options,
    add_pool_options,
    add_seed,
    add_text_options,
    assignments,
    layout_of_arguments,
    note,
    positive_int,
    print_json,
    warn,
)
from lasw.tuning import (
    DEFAULT_SEED,
    NBEST_LAYOUTS,
    REACHABLE,
    ExtraFeatures,
    Floats,
    NBest,
    Pool,
    centred,
    reach_weights,
    read_nbest,
    write_nbest,
)

_EPILOG = """\
examples:
  lasw nbest convert generate.log lists.jsonl --layout fairseq --sum-scores
  lasw nbest convert run1.best100.out.gz lists.txt --to flat
  lasw nbest head lists.jsonl --lists 2
  lasw nbest stats lists.jsonl --references ref.en
  lasw nbest oracle lists.jsonl --references ref.en --metric CHRF

convert writes features that the new layout cannot hold to files of their own, OUT.NAME, and prints the options that
give them back. stats tells how each feature goes with the loss where there are references: the mean over the sentences
of Pearson's correlation of its values with the sentences' scores. oracle scores the first hypotheses, those that the
metric finds best and worst sentence by sentence, and ones drawn by chance; and how many sentences are reachable, and
what they weigh in WRO because of it (Song 2015, equation 5.3, table 5.5).
"""
_BY_ENDING = {".jsonl": "jsonl", ".tsv": "tsv", ".csv": "csv", ".txt": "flat"}
_DRAWS = 10


def add_arguments(parser: Parser) -> None:
    """Declare the four actions and their options."""
    parser.epilog = _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    convert = add_action(actions, "convert", "from one layout to another", "lasw nbest convert a.gz b.jsonl")
    convert.add_argument("list", metavar="IN", help="a list in any layout")
    convert.add_argument("output", metavar="OUT", help="the new one; its name says the layout, unless --to does")
    convert.add_argument("--to", metavar="NAME", help=f"{', '.join(NBEST_LAYOUTS)} (default: by the ending, or moses)")
    _add_reading(convert)
    head = add_action(actions, "head", "the first hypotheses, to read", "lasw nbest head lists.jsonl")
    head.add_argument("list", metavar="IN", help="a list in any layout")
    head.add_argument("--lists", type=positive_int, default=1, metavar="N", help="so many (default: %(default)s)")
    head.add_argument("--hypotheses", type=positive_int, default=5, metavar="N", help="of each (default: %(default)s)")
    _add_reading(head)
    for name, text in (("stats", "sizes, lengths, features"), ("oracle", "the best, worst, random choice's score")):
        action = add_action(actions, name, text, f"lasw nbest {name} lists.jsonl --references ref.en")
        add_pool_options(action, "N-best lists of the same sentences", required=False)
        add_metric(action, "of sentences and corpus (default: BLEU+1 for sentences, BLEU for the corpus)")
        if name == "oracle":
            add_seed(action, "of the random choice", DEFAULT_SEED)
            action.add_argument(
                "--reachable",
                type=float,
                default=REACHABLE,
                metavar="X",
                help="from so much BLEU+1 on, in [0, 1], a sentence is reached (default: %(default)s)",
            )
        add_text_options(action, force=True)
        add_output_options(action)


def _add_reading(parser: Parser) -> None:
    parser.add_argument("--feature", action="append", default=[], metavar="NAME=FILE", help="one more feature")
    parser.add_argument("--unsorted", action="store_true", help="sentence ids may decrease")
    parser.add_argument("--encoding", default="utf-8", help="of all text files (default: utf-8)")
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")
    add_layout_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked; 0 if done."""
    {"convert": _convert, "head": _head, "stats": _stats, "oracle": _oracle}[arguments.action](arguments)
    return 0


def _list(arguments: argparse.Namespace) -> NBest:
    warnings: list[str] = []
    columns = ExtraFeatures(assignments("--feature", arguments.feature), encoding=arguments.encoding)
    nbest = read_nbest(
        arguments.list,
        Vocabulary(),
        encoding=arguments.encoding,
        unsorted=arguments.unsorted,
        layout=replace(layout_of_arguments(arguments), featureless=True),
        warnings=warnings,
    )
    nbest = columns.extend(nbest)
    columns.finish()
    warn("nbest", warnings, arguments.quiet)
    return nbest


def _convert(arguments: argparse.Namespace) -> None:
    stem = arguments.output.removesuffix(".gz")
    layout = arguments.to or _BY_ENDING.get(Path(stem).suffix, "moses")
    holds = NBEST_LAYOUTS.find(layout).holds
    refuse_overwriting([arguments.output], [arguments.list], "give another OUT")
    if arguments.output == STANDARD_INPUT:
        raise UserError("OUT is -", expected="a file")
    nbest = _list(arguments)
    order = np.argsort(nbest.owner, kind="stable")
    nbest = nbest if (np.diff(order) == 1).all() else nbest.take(order)
    only_score = nbest.names.groups == (("score", 1),)
    if nbest.sparse is not None and "sparse" not in holds:
        raise UserError(f"sparse features in {layout}", path=arguments.list, expected="--to moses or jsonl")
    aside = "features" not in holds and not (only_score and "score" in holds)
    files = {name: f"{stem}.{name.replace('/', '_')}" for name in nbest.names.slices} if aside else {}
    refuse_overwriting(files.values(), [arguments.list], "give another OUT")
    write_nbest(arguments.output, nbest, layout)
    for name, path in files.items():
        _write_column(path, nbest.dense[:, nbest.names.slices[name]])
    options = [f"--layout {layout}"] if layout in ("flat", "sockeye") else []
    options += ["--no-score"] if files and "score" in holds else []
    options += [f"--feature {name}={path}" for name, path in files.items()]
    if options:
        note(arguments.quiet, f"read {arguments.output} with {' '.join(options)}")


def _write_column(path: str, values: Floats) -> None:
    with atomic_write(path) as stream:
        for row in values.tolist():
            stream.write((" ".join(map(repr, row)) + "\n").encode())


def _head(arguments: argparse.Namespace) -> None:
    nbest = _list(arguments)
    for sentence in np.unique(nbest.owner)[: arguments.lists].tolist():
        rows = np.flatnonzero(nbest.owner == sentence)
        print(f"sentence {sentence}, {len(rows)} hypotheses")
        for place, k in enumerate(rows[: arguments.hypotheses].tolist(), 1):
            print(f"{place:5}  {nbest.score[k]:10.4f}  {nbest.hypotheses.text(k)}")
            groups = nbest.names.slices.items()
            values = (f"{name} {' '.join(f'{x:g}' for x in nbest.dense[k, where].tolist())}" for name, where in groups)
            print(f"{'':19}{'  '.join(values)}")


def _pool(arguments: argparse.Namespace) -> Pool:
    if not arguments.nbest:
        raise UserError("no N-best lists", expected="NBEST ...")
    reader = PoolReader(arguments, arguments.start, featureless=True)
    references = reader.references(arguments.references) if arguments.references else None
    given = reader.lists(arguments.nbest, references)
    warn("nbest", given.warnings, arguments.quiet)
    return given.pool


def _quartiles(values: NDArray[Any]) -> dict[str, float]:
    return {"least": float(values.min()), "median": float(np.median(values)), "most": float(values.max())}


def _stats(arguments: argparse.Namespace) -> None:
    pool = _pool(arguments)
    sizes = np.diff(pool.starts)
    sizes = sizes[sizes > 0]
    scores = pool.sentence_scores(metric(arguments.metric or "BLEU+1")) if arguments.references else None
    result = {
        "sentences": len(sizes),
        "candidates": len(pool),
        "distinct_texts": len(distinct(pool.hypotheses, pool.owner)[0]),
        "list_sizes": _quartiles(sizes),
        "lengths": {**_quartiles(pool.lengths), "mean": float(pool.lengths.mean())},
        "features": [_feature(pool, scores, k, name) for k, name in enumerate(_components(pool))],
        "sparse_features": len(pool.sparse_names),
    }
    if arguments.json:
        print_json(result)
        return
    print(f"sentences       {result['sentences']}\ncandidates      {result['candidates']}")
    print(f"distinct texts  {result['distinct_texts']}")
    for name, label in (("list_sizes", "list sizes"), ("lengths", "tokens")):
        found: dict[str, float] = result[name]  # type: ignore[assignment]
        print(f"{label:14}  {found['least']:g} to {found['most']:g}, median {found['median']:g}")
    width = max([8, *map(len, _components(pool))])
    with_loss = "  with loss" if scores is not None else ""
    print(f"\n{'feature':{width}}  {'least':>10}  {'mean':>10}  {'most':>10}  varies{with_loss}")
    for one in result["features"]:  # type: ignore[attr-defined]
        numbers = "  ".join(f"{one[key]:10.4g}" for key in ("least", "mean", "most"))
        line = f"{one['name']:{width}}  {numbers}  {one['varies']:5.0%} "
        print(line + (f"  {one['correlation']:+9.3f}" if one.get("correlation") is not None else ""))


def _components(pool: Pool) -> tuple[str, ...]:
    return pool.names.components if pool.names is not None else ()


def _feature(pool: Pool, scores: Floats | None, k: int, name: str) -> dict[str, Any]:
    """What is to know of a dense feature: `varies` is the share of lists in which it does."""
    values = pool.dense[:, k]
    starts = np.unique(pool.starts)  # of the lists that have hypotheses
    ordered = values[pool.order]
    varies = _differ(ordered, starts)
    found = {"name": name, "least": float(values.min()), "mean": float(values.mean()), "most": float(values.max())}
    found["varies"] = float(varies.mean())
    if scores is not None:
        found["correlation"] = _correlation(ordered, scores[pool.order], starts, varies)
    return found


def _differ(values: Floats, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(S',) whether values (n,) of the lists that begin at `starts` (S' + 1,) are not all equal."""
    return np.asarray(np.minimum.reduceat(values, starts[:-1]) < np.maximum.reduceat(values, starts[:-1]))


def _correlation(values: Floats, scores: Floats, starts: NDArray[np.int64], varies: NDArray[np.bool_]) -> float | None:
    """The mean of Pearson's correlations over the lists in which both vary."""
    both = varies & _differ(scores, starts)
    if not both.any():
        return None
    one, other = _in_units(values, starts), _in_units(scores, starts)
    products = [np.add.reduceat(x * y, starts[:-1])[both] for x, y in ((one, other), (one, one), (other, other))]
    return float(np.mean(np.clip(products[0] / np.sqrt(products[1]) / np.sqrt(products[2]), -1, 1)))


def _in_units(values: Floats, starts: NDArray[np.int64]) -> Floats:
    """(n,) less their list's mean, over the largest that is left, so that no square is out of a number's range."""
    for _ in range(2):  # the first time so that no mean is
        largest = np.maximum.reduceat(np.abs(values), starts[:-1])
        values = centred(starts, values / np.repeat(np.where(largest > 0, largest, 1.0), np.diff(starts)))
    return values


def _oracle(arguments: argparse.Namespace) -> None:
    if not arguments.references:
        raise UserError("no references", expected="--references REF ...")
    if not 0 <= arguments.reachable <= 1:  # NaN is not
        raise UserError(f"--reachable {arguments.reachable:g}", expected="a number from 0 to 1")
    pool = _pool(arguments)
    corpus, sentence = metric(arguments.metric or "BLEU"), metric(arguments.metric or "BLEU+1")
    scores = pool.sentence_scores(sentence)
    generator = np.random.default_rng(arguments.seed)
    lists = [pool.order[a:b] for a, b in zip(pool.starts[:-1].tolist(), pool.starts[1:].tolist(), strict=True) if b > a]
    rows = {
        "first": np.array([rows[0] for rows in lists]),
        "oracle": pool.best_by(scores),
        "worst": pool.best_by(-scores),
    }
    known = pool.statistics(corpus)
    result = {name: corpus.corpus_score(known[chosen].sum(axis=0)) for name, chosen in rows.items()}
    draws = [known[[generator.choice(rows) for rows in lists]].sum(axis=0) for _ in range(_DRAWS)]
    result["random"] = statistics.fmean(map(corpus.corpus_score, draws))
    best = pool.sentence_scores(metric("BLEU+1"))
    best = best[pool.best_by(best)]
    reached = {"from": arguments.reachable, "share": float((best >= arguments.reachable).mean())}
    reached["mean_weight"] = float(reach_weights(best, arguments.reachable).mean())
    if arguments.json:
        about = {"metric": str(corpus.signature()), "sentences": len(lists), "seed": arguments.seed}
        print_json({**about, **result, "reachable": reached})
        return
    (label,) = labels([arguments.metric or "BLEU"], [corpus.display])
    print(f"{label} of {len(lists)} sentences")
    for name in ("first", "random", "oracle", "worst"):
        print(f"{name:8} {corpus.display.score(result[name]):8.2f}")
    print(f"BLEU+1 of {100 * arguments.reachable:g} is reached in {reached['share']:.1%} of the sentences")
    print(f"mean weight of a sentence by that: {reached['mean_weight']:.4f}")
