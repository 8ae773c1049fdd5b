"""Commands that take long: what `signals` stops.

Every one is made long by what it reads (`long_data`): sentences of hundreds of thousands of words for kernels that look
at a sentence at a time, lines as long as they may be for those that are fast, many lists for the others.
"""

from __future__ import annotations

from collections.abc import Iterator

import long_data as data
from commands import Job

_METRICS = ("WER", "CDER", "TER", "METEOR")  # quadratic
_FAST_METRICS = ("PER", "BLEU", "CHRF", "NIST", "PABC4", "RGC2:refs=each")
_EMBEDDED = ("WMD", "WMDO", "WE", "WEWPI", "SRBLEU")
_OPTIMISERS = ("expected", "mert", "mira", "mle", "perceptron", "pro", "ramp", "wro")
_ALIGNERS = ("ibm1", "ibm2", "hmm", "eflomal")
_POOL = ["--source", "../data/pool.source", "--target", "../data/pool.target"]
_REFERENCES, _MANY = ["--references", "../data/ref"], ["../data/nbest"]


def long_jobs() -> Iterator[Job]:
    """All of them."""
    yield from _scoring()
    yield from _agreeing()
    yield from _tuning()
    yield from _reranking()
    yield from _selecting()
    yield from _learning()


def _scoring() -> Iterator[Job]:
    score = ["score", "--references=../data/long.ref", "../data/long.hyp"]
    for name in _METRICS:
        yield Job(f"score {name}", [*score, "-m", name], data.long)
    score = ["score", "--references=../data/longest.ref", "../data/longest.hyp"]
    for name in _FAST_METRICS:
        yield Job(f"score {name}", [*score, "-m", name], data.longest)
    for name in ("13a", "intl", "char"):
        yield Job(f"tokenise {name}", [*score, "-m", "PER", "--tokenize", name], data.longest)
    score = ["score", "--references=../data/some.ref", "../data/some.hyp"]
    for name in _EMBEDDED:
        yield Job(f"score {name}", [*score, "-m", f"{name}:vectors=../data/vectors"], data.embedded)
    score = ["score", "--references=../data/long.ref", "../data/long.hyp"]
    for name in ("WMD", "WEWPI"):
        words = [*score, "-m", f"{name}:vectors=../data/vectors"]
        yield Job(f"a line of {name}", words, data.long_and_vectors)
    score = ["score", "--references=../data/pool.source", "../data/pool.target", "-m", "BLEU"]
    yield Job("bootstrap", [*score, "../data/pool.source", "--paired-bs"], data.pool)
    yield Job("read text", score, data.pool)
    yield Job("describe", ["describe", *_POOL[1::2], "--test", "../data/pool.source"], data.pool)


def _agreeing() -> Iterator[Job]:
    agree = ["agree", "-m", "CHRF", "-m", "BLEU+1", "-m", "RABC2", "../data/judged"]
    yield Job("agree", ["agree", "-m", "METEOR", "-m", "CHRF", "-m", "TER", "../data/judged"], data.judged)
    for test in ("bootstrap", "perm-both"):
        words = [*agree, "--significance", "--test", test, "--paired-bs-n", "100000"]
        yield Job(f"agree, {test}", words, data.judged)
    yield Job("agree, folds", [*agree, "--train", "ROSE:cost=100", "--folds", "5"], data.judged)
    trained = ["--output", "out/model.json", "--data", "../data/judged"]
    rose = ["train-metric", "rose", "--kind"]
    yield Job("train-metric rose", [*rose, "rank", *trained, "--cost", "100"], data.judged)
    values = ["reg", "--output", "out/model.json", "--data", "../data/values.tsv"]
    yield Job("train-metric rose, values", [*rose, *values], data.judged)
    pairwise = ["train-metric", "pairwise", "--vectors", "../data/vectors"]
    yield Job("train-metric pairwise", [*pairwise, *trained], data.judged)


def _tuning() -> Iterator[Job]:
    tune = ["optimise", *_REFERENCES, "--output", "out/w.json"]
    for name in _OPTIMISERS:
        yield Job(f"optimise {name}", [*tune, *_MANY, "--optimiser", name], data.lists)
    for name in ("mira", "pro", "wro"):
        yield Job(f"sparse {name}", [*tune, "../data/sparse", "--optimiser", name], data.sparse)
    yield Job("compare", ["compare", "../data/grid.toml", "--run", "run"], data.grid)
    yield Job("compare, jobs", ["compare", "../data/grid.toml", "--run", "run", "--jobs", "2"], data.grid)
    local = ["local", "train", *_REFERENCES, "--source", "../data/source", "--output", "out/s"]
    yield Job("local train", [*local, *_MANY], data.lists)
    local = ["local", "retrain", *_REFERENCES, "--sets", "../data/sets.local.tsv", "--output", "out/local.jsonl"]
    yield Job("local retrain", [*local, "--standard", "300", *_MANY], data.sets)


def _reranking() -> Iterator[Job]:
    for name in ("METEOR", "BLEU", "CHRF"):
        yield Job(f"rerank by {name}", ["rerank", "--mbr", name, *_MANY], data.lists)
    for name in ("BLEU", "CHRF", "TER"):
        words = ["rerank", "--layout", "flat", "--nbest-size", "6", "--mbr", name, "../data/longest.list"]
        yield Job(f"rerank long lines by {name}", words, data.longest_list)
    yield Job("nbest convert", ["nbest", "convert", *_MANY, "out/lists.jsonl"], data.lists)
    yield Job("nbest stats", ["nbest", "stats", *_REFERENCES, *_MANY], data.lists)
    yield Job("nbest oracle", ["nbest", "oracle", "--metric", "TER", *_REFERENCES, *_MANY], data.lists)


def _selecting() -> Iterator[Job]:
    aligned = [*_POOL, "--alignment", "../data/pool.align", "--low", "2", "--output", "out/dev"]
    trusted = [word for name in ("source", "target") for word in (f"--trusted-{name}", f"../data/pool.{name}")]
    trusted += ["--trusted-alignment", "../data/pool.align"]
    yield Job("select", ["select", *aligned], data.pool)
    yield Job("select, threads", ["select", *aligned, "--jobs", "2"], data.pool)
    yield Job("select svm", ["select", *aligned, "--method", "svm", *trusted], data.pool)
    for method in ("tfidf", "edit"):
        test = ["--method", method, "--test-source", "../data/pool.source"]
        yield Job(f"select {method}", ["select", *aligned, *test], data.pool)
    similar = ["--similarity", "WE:vectors=../data/vectors"]
    yield Job("select by vectors", ["select", *aligned, *similar], data.pool_and_vectors)


def _learning() -> Iterator[Job]:
    yield Job("align", ["align", *_POOL, "--output", "out/a"], data.pool)
    for model in _ALIGNERS:
        yield Job(f"align {model}", ["align", *_POOL, "--output", "out/a", "--model", model, "--jobs", "1"], data.pool)
    yield Job("train", ["train", *_POOL, "--output", "model"], data.pool)
    vectors = ["vectors", "train", "--text", "../data/pool.source", "--output", "out/v"]
    yield Job("vectors train", [*vectors, "--epochs", "50"], data.pool)
    convert = ["vectors", "convert", "--vectors", "../data/many.vec", "--output", "out/v"]
    yield Job("vectors convert", convert, data.vectors)
