"""What the N-best lists of a run say beyond its log: the oracle of every iteration, gains and losses by sentence.

It needs the references, which are found where they were when the run began; so it is made when a report is asked for,
and not with every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lasw.metrics import Corpus, Preprocessing, References, UserError, Vocabulary, metric, named_in, read_lines
from lasw.tuning.formats import match, read_nbest
from lasw.tuning.nbest import NBest
from lasw.tuning.pool import Pool, first_hypotheses, preprocessed, read_pool
from lasw.tuning.provenance import fingerprint
from lasw.tuning.report.run_data import Development, RunData
from lasw.tuning.report.sentences import METRIC, Sentences
from lasw.tuning.run_directory import Json


def read_development(folder: Path, run: RunData) -> Development:
    """What the lists of a run say.

    Args:
        folder: of the run.
        run: what else is known of it.

    Raises:
        UserError: a file that is gone or was changed since the run began.
    """
    description = run.description
    data: dict[str, Any] = description.get("settings", {}).get("data", {})
    files: dict[str, Any] = description.get("files", {})
    known: dict[str, Any] = description.get("inputs", {})
    paths = list(files.get("references", []))
    if not paths:
        raise UserError("run.json does not say where the references are", path=folder)
    for number, path in enumerate(paths, 1):
        if fingerprint(path) != known.get("references", {}).get(str(number)):
            raise UserError("it has changed since the run began", path=path)
    text = Preprocessing.of(data).function()
    encoding = str(data.get("encoding", "utf-8"))
    references = References.read(paths, preprocess=text, encoding=encoding)
    pool, sparse_names, oracle, first = Pool(references), Vocabulary(), [], {}
    # The decoding with the final weights, or the last one of a run that goes on.
    last = len(run.records) if run.result is None else int(run.result["chosen"]) + 1
    for record in run.records:
        number = int(record["iteration"])
        for path in _lists(folder, number):
            nbest = read_nbest(path, references.vocabulary, sparse_names=sparse_names, names=run.weights[0].names)
            if text is not None:
                nbest = preprocessed(nbest, text)
            pool.add(nbest)
            if path.name == "nbest.gz" and number in (1, last):
                first[number] = nbest
        with named_in(folder / "run.json", files=True):
            oracle.append((number, oracle_score(pool, str(description["settings"]["run"]["dev_metric"]))))
    sentences = _sentences(first, references, _source(files, known, encoding)) if len(first) == 2 else None
    return Development(oracle, sentences)


def held_out_scores(run: RunData, lists: Sequence[str], references: Sequence[str]) -> tuple[tuple[int, float], ...]:
    """Scores of other N-best lists, reranked with the weights that every iteration of a run made.

    Args:
        run: whose weights and development metric are taken.
        lists: of sentences that the run did not see.
        references: theirs, prepared as those of the run.

    Raises:
        UserError: a file that cannot be read, or lists with other features.
    """
    data = run.description["settings"].get("data", {})
    text = Preprocessing.of(data).function()
    dense = [name for name, _ in run.weights[0].names.groups]
    pool, _ = read_pool(lists, References.read(references, preprocess=text), dense=dense, preprocess=text, settle=None)
    if pool.names is None or not len(pool):
        raise UserError("no hypotheses", path=lists[0])
    with named_in("run.json", files=True):
        of = metric(str(run.description["settings"]["run"]["dev_metric"]))
    scores = []
    for number, weights in enumerate(run.weights):
        matched = match(weights, pool.names, sparse_names=pool.sparse_names)
        scores.append((number, pool.corpus_score(of, matched.weights)))
    return tuple(scores)


def oracle_score(pool: Pool, spec: str) -> float:
    """Corpus score of the candidates that are each their sentence's best by sentence BLEU+1, the earliest among equals.

    An approximation from below of the oracle of a metric that is no mean of sentence scores.
    """
    best, of = pool.best_by(pool.sentence_scores(metric(METRIC))), metric(spec)
    return of.corpus_score(pool.statistics(of)[best].sum(axis=0))


def _lists(folder: Path, number: int) -> list[Path]:
    """The lists of an iteration, that of its current weights first."""
    place = folder / "iterations" / f"{number:03d}"
    first = place / "nbest.gz"
    if not first.exists():
        raise UserError("no such file", path=first)
    return [first, *sorted(place.glob("nbest-*.gz"))]


def _source(files: Json, known: Json, encoding: str) -> list[str] | None:
    path = files.get("source")
    if not path or not Path(path).exists() or fingerprint(path) != known.get("source"):
        return None
    return read_lines(path, encoding=encoding)


def _sentences(first: dict[int, NBest], references: References, source: list[str] | None) -> Sentences:
    of = metric(METRIC)
    prepared = of.prepare(references)
    owner = np.arange(len(references), dtype=np.int32)
    numbers = sorted(first)
    corpora = [first_hypotheses(first[number], len(references)) for number in numbers]
    scores = [of.sentence_scores(of.statistics(corpus, prepared, owner)) for corpus in corpora]
    before, after = (_texts(corpus) for corpus in corpora)
    return Sentences(
        "Sentences of the development set, start weights and final weights",
        "start",
        f"iteration {numbers[1] - 1}",
        scores[0],
        scores[1],
        (before, after),
        [_texts(corpus) for corpus in references.corpora],
        source,
        f"Sentence {METRIC}.",
    )


def _texts(corpus: Corpus) -> list[str]:
    return [corpus.text(k) for k in range(len(corpus))]
