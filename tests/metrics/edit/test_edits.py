"""WER, PER and CDER against slow readings of their definitions, the thesis' examples and nasty text."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from lasw.metrics import Corpus, References, Vocabulary, metric, paired_bootstrap
from lasw.metrics.text import distinct
from lasw.scripts.main import main

Sentence = list[str]


def slow_wer(e: Sentence, r: Sentence) -> int:
    @functools.cache
    def cost(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        return min(cost(i - 1, j - 1) + (e[i - 1] != r[j - 1]), cost(i - 1, j) + 1, cost(i, j - 1) + 1)

    return cost(len(e), len(r))


def slow_per(e: Sentence, r: Sentence) -> int:
    return max(len(e), len(r)) - (Counter(e) & Counter(r)).total()


def slow_cder(e: Sentence, r: Sentence) -> int:
    """Shortest path over (words of r covered, place in e): one step of WER, or a jump to any place for 1."""
    here = {(0, 0)}
    seen = set(here)
    cost = 0
    while True:
        free = list(here)
        while free:  # matches cost nothing
            j, i = free.pop()
            if j < len(r) and i < len(e) and e[i] == r[j] and (j + 1, i + 1) not in seen:
                seen.add((j + 1, i + 1))
                here.add((j + 1, i + 1))
                free.append((j + 1, i + 1))
        if (len(r), len(e)) in seen:
            return cost
        steps = {(j + 1, i + 1) for j, i in here} | {(j + 1, i) for j, i in here}
        steps |= {(j, k) for j, _ in here for k in range(len(e) + 1)}
        here = {(j, i) for j, i in steps if j <= len(r) and i <= len(e)} - seen
        seen |= here
        cost += 1


SLOW = {"WER": slow_wer, "PER": slow_per, "CDER": slow_cder}


def rows(spec: str, hypotheses: list[Sentence], *references: list[Sentence]) -> tuple[Any, Any]:
    vocabulary = Vocabulary()
    m = metric(spec)
    refs = References(tuple(Corpus.from_lines(map(" ".join, x), vocabulary) for x in references))
    corpus = Corpus.from_lines(map(" ".join, hypotheses), vocabulary)
    return m, m.statistics(corpus, m.prepare(refs), np.arange(len(hypotheses)))


SENTENCE = st.lists(st.sampled_from("abcdef"), max_size=10)


@pytest.mark.parametrize("name", SLOW)
@settings(max_examples=80)
@given(texts=st.lists(st.tuples(SENTENCE, SENTENCE, SENTENCE), min_size=1, max_size=5))
def test_edits_are_those_of_the_definition(name: str, texts: list[tuple[Sentence, Sentence, Sentence]]) -> None:
    hypotheses, first, second = (list(x) for x in zip(*texts, strict=True))
    m, statistics = rows(name, hypotheses, first)
    assert statistics.dtype == np.int32
    assert statistics.tolist() == [[SLOW[name](e, r), len(r)] for e, r in zip(hypotheses, first, strict=True)]
    _, statistics = rows(name, hypotheses, first, second)
    least = [min(SLOW[name](e, r), SLOW[name](e, s)) for e, r, s in texts]
    assert statistics.tolist() == [[2 * x, len(r) + len(s)] for x, (_, r, s) in zip(least, texts, strict=True)]
    total = statistics.sum(axis=0)
    assert m.corpus_scores(statistics).tolist() == [m.corpus_score(x) for x in statistics]
    if total[1]:
        assert m.corpus_score(total) == pytest.approx(1 - total[0] / total[1], abs=1e-15)


@pytest.mark.parametrize("size", [63, 64, 65, 130])
def test_wer_of_long_sentences(size: int) -> None:
    """References of up to 64 words are compared as bits of a word, longer ones cell by cell."""
    random = np.random.default_rng(size)
    references = [[str(w) for w in random.integers(0, 12, size)] for _ in range(12)]
    changed = [[w if random.random() < 0.8 else "x" for w in r if random.random() < 0.9] for r in references]
    _, statistics = rows("WER", changed, references)
    assert statistics[:, 0].tolist() == [slow_wer(e, r) for e, r in zip(changed, references, strict=True)]


# Song (2015), table 2.2: candidates 1 to 6, the fourth being reference 1 and the last reference 2.
CANDIDATES = [
    line.split()
    for line in (
        "torrential rain disaster",
        "torrential torrential torrential torrential rain disaster",
        "rain torrential disaster",
        "torrential rain disaster kills 43 people in western india",
        "43 people killed in disastrous torrential rain in western india",
        "heavy rains plague western india leaving 43 dead",
    )
]
FIRST, SECOND = CANDIDATES[3], CANDIDATES[5]


@pytest.mark.parametrize(
    ("name", "edits"),
    [
        # As printed, but for candidate 2, whose WER is printed as 6/9: six words of which one can stand in its place.
        ("WER", [6, 8, 8, 0, 7, 9]),
        # As printed, but for candidate 5, printed as 4/9: seven of its ten words are the reference's.
        ("PER", [6, 6, 6, 0, 3, 6]),
        # Candidates 4 and 5 as printed; one shift saves two edits of 2 and 3, two shifts four edits of 6.
        ("TER", [6, 7, 7, 0, 6, 7]),
    ],
)
def test_the_thesis_s_candidates(name: str, edits: list[int]) -> None:
    _, statistics = rows(name, CANDIDATES, [FIRST] * 6)
    assert statistics.tolist() == [[x, 9] for x in edits]


def test_several_references_of_the_thesis() -> None:
    for name in ("WER", "PER", "CDER", "TER"):
        m, statistics = rows(name, [FIRST, SECOND], [FIRST] * 2, [SECOND] * 2)
        assert statistics.tolist() == [[0, 17], [0, 17]]
        assert m.sentence_scores(statistics).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["WER", "PER", "CDER", "TER"])
@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        ("", [""], 1.0),
        ("", ["a b"], 0.0),
        ("a", [""], 0.0),
        ("a", ["a"], 1.0),
        ("a", ["b"], 0.0),
        ("", ["", "a b"], 1.0),
        ("a b c", ["x", "a b c"], 1.0),
    ],
)
def test_empty_and_single_words(name: str, hypothesis: str, references: list[str], expected: float) -> None:
    for reflen in ("average", "best"):
        m, statistics = rows(f"{name}:reflen={reflen}", [hypothesis.split()], *([r.split()] for r in references))
        assert m.sentence_scores(statistics).tolist() == [expected]
        assert m.corpus_score(statistics[0]) == expected


def test_what_the_hypothesis_has_too_much() -> None:
    # CDER: a, then x for any word, and one jump over what is left.
    for name, edits in (("WER", 3), ("PER", 3), ("TER", 3), ("CDER", 2)):
        m, statistics = rows(name, [list("abcd")], [list("ax")])
        assert statistics.tolist() == [[edits, 2]]
        assert m.corpus_score(statistics[0]) == 1 - edits / 2


def test_blocks_that_moved() -> None:
    # CDER jumps to the second block, back to the first, and behind it.
    for name, edits in {"WER": 6, "PER": 0, "TER": 1, "CDER": 3}.items():
        _, statistics = rows(name, [list("defabcx")], [list("abcdefx")])
        assert statistics[0, 0] == edits


def test_the_best_reference_is_the_one_with_the_smallest_rate() -> None:
    m, statistics = rows("WER:reflen=best", [["a", "b"]], [["a"]], [list("abcde")], [["c"]])
    assert statistics.tolist() == [[3, 5]]
    assert str(m.signature()).startswith("1-WER|reflen:best|")


def test_equal_texts_of_a_segment_are_found() -> None:
    vocabulary = Vocabulary()
    corpus = Corpus.from_lines(["a b", "a", "a b", "", "a b", "a  b", ""], vocabulary)
    found, inverse = distinct(corpus, np.array([1, 1, 1, 1, 0, 1, 1]))
    assert found.tolist() == [4, 0, 1, 3]
    assert inverse.tolist() == [1, 2, 1, 3, 0, 1, 3]
    with pytest.raises(ValueError, match="owner has shape"):
        distinct(corpus, np.array([0]))


def test_what_does_not_belong_together_is_refused() -> None:
    m = metric("PER")
    refs = References.from_lines(["a"])
    with pytest.raises(TypeError, match="one vocabulary"):
        m.statistics(Corpus.from_lines(["a"]), m.prepare(refs), np.array([0]))
    with pytest.raises(ValueError, match="outside the 1 segments"):
        m.statistics(Corpus.from_lines(["a"], refs.vocabulary), m.prepare(refs), np.array([1]))


EVERY = ["WER", "PER", "CDER", "TER", "CHRF", "CHRF:words=2", "NIST", "METEOR", "MIX:CHRF=0.5:TER=0.5"]


@pytest.mark.parametrize("spec", EVERY)
def test_rows_depend_on_nothing_but_the_text_and_its_segment(spec: str) -> None:
    random = np.random.default_rng(3)
    refs = References.from_lines(
        *([" ".join(random.choice(list("abcdefg"), size)) for size in random.integers(0, 9, 12)] for _ in range(2))
    )
    owner = random.integers(0, 12, 80)
    texts = [" ".join(random.choice(list("abcdefgxyz"), size)) for size in random.integers(0, 7, 80)]
    m = metric(spec)
    corpus = Corpus.from_lines(texts, refs.vocabulary)
    prepared = m.prepare(refs)
    statistics = m.statistics(corpus, prepared, owner)
    mixed = random.permutation(80)
    assert m.statistics(corpus.take(mixed), prepared, owner[mixed]).tolist() == statistics[mixed].tolist()
    assert m.statistics(corpus.take(mixed[:5]), m.prepare(refs), owner[mixed[:5]]).tolist() == (
        statistics[mixed[:5]].tolist()
    )
    empty = m.statistics(corpus.take(mixed[:0]), prepared, owner[:0])
    assert empty.shape == (0, statistics.shape[1])
    assert m.sentence_scores(empty).shape == (0,)
    assert m.corpus_scores(statistics).tolist() == [m.corpus_score(row) for row in statistics]
    # What changes a number is in the signature, so equal signatures have equal statistics and no other.
    assert str(metric(spec).signature()) == str(m.signature())


@pytest.mark.parametrize("spec", EVERY)
def test_a_perfect_system_is_not_beaten_and_an_identical_one_is_called_so(spec: str) -> None:
    lines = ["a b c d e f", "g h i j k", "l m n o p q"]
    refs = References.from_lines(lines)
    m = metric(spec)
    prepared, owner = m.prepare(refs), np.arange(3)
    perfect = m.statistics(Corpus.from_lines(lines, refs.vocabulary), prepared, owner)
    worse = m.statistics(Corpus.from_lines(["a b c f", "g h x k j", "l m x o p q"], refs.vocabulary), prepared, owner)
    assert (m.sentence_scores(perfect) > m.sentence_scores(worse)).all()
    first, same, other = paired_bootstrap(m, [perfect, perfect, worse], samples=20)
    assert same.identical
    assert not other.identical
    assert other.score < first.score
    if spec not in ("NIST", "METEOR"):  # whose scores have no upper end, and one that is not reached
        assert first.score == 1.0
        assert m.sentence_scores(perfect).tolist() == [1.0] * 3


def test_tables_name_rates_and_say_that_lower_is_better(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"ref": "a b c d\n", "one": "a b c x\n", "two": "a b c d\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    reference, *paths = (str(tmp_path / name) for name in files)
    words = ["score", "-m", "WER", "-m", "TER:reflen=best", "-m", "PAC1", "-r", reference, *paths]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("system")
    assert lines[0].endswith("  WER ↓  TER:reflen=best ↓  PAC1 ↑")
    assert lines[1].split()[1:] == ["25.00", "25.00", "75.00"]
    assert lines[2].split()[1:] == ["0.00", "0.00", "100.00"]
    assert [line.partition("|")[0] for line in lines[4:]] == ["WER", "TER", "PAC1"]
    assert main([*words, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["systems"][0]["results"]
    assert [(x["metric"], x["better"], x["score"]) for x in results] == [
        ("WER", "lower", 25),
        ("TER:reflen=best", "lower", 25),
        ("PAC1", "higher", 75),
    ]
    assert main(["score", "-m", "TER", "-r", reference, paths[0]]) == 0
    assert capsys.readouterr().out.endswith("= 25.00 ↓\n")
    assert main(["score", "-m", "TER", "--sentence", "-r", reference, paths[0]]) == 0
    assert capsys.readouterr().out == "25.00\n"


def test_a_rate_is_sacrebleu_s_and_its_interval_lies_the_right_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = np.random.default_rng(3)
    reference = [[f"w{k}" for k in draw.integers(9, size=8)] for _ in range(30)]
    systems = [[[w if draw.random() > rate else "x" for w in line] for line in reference] for rate in (0.2, 0.5)]
    texts = [[" ".join(line) for line in text] for text in (reference, *systems)]
    paths = [str(tmp_path / name) for name in ("ref", "good", "poor")]
    for path, text in zip(paths, texts, strict=True):
        Path(path).write_text("\n".join(text) + "\n")
    assert main(["score", "-m", "TER", "--paired-bs", "--json", "-r", *paths]) == 0
    good, poor = (x["results"][0] for x in json.loads(capsys.readouterr().out)["systems"])
    for entry, text in ((good, texts[1]), (poor, texts[2])):
        expected = TER(case_sensitive=True).corpus_score(text, [texts[0]]).score
        assert entry["score"] == pytest.approx(expected)
        assert entry["low"] < entry["mean"] < entry["high"]
        assert entry["low"] < entry["score"] < entry["high"]
    assert good["score"] < poor["score"]
    assert poor["p_value"] < 0.05
