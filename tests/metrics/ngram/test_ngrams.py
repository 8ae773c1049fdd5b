"""N-gram statistics against slow counting, sacreBLEU's counts and what Moses' extractor wrote."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import ORDERS, Corpus, ReferenceNgrams, References, Vocabulary, read_corpus
from lasw.metrics.ngram.counts import CLIPPED, CLOSEST, COLUMNS, SHORTEST, UNCLIPPED, UNCLIPPED_RECALL

Sentence = list[str]
SENTENCE = st.lists(st.sampled_from("abc"), max_size=9)


def ngrams(sentence: Sentence, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(sentence[i : i + n]) for i in range(len(sentence) - n + 1))


def slow_row(hypothesis: Sentence, references: list[Sentence], counting: int, reference_length: int) -> list[int]:
    row = []
    for n in range(1, ORDERS + 1):
        ours, theirs = ngrams(hypothesis, n), Counter[tuple[str, ...]]()
        for reference in references:
            theirs |= ngrams(reference, n)
        if counting == CLIPPED:
            matches = sum((ours & theirs).values())
        elif counting == UNCLIPPED:
            matches = sum(count for gram, count in ours.items() if gram in theirs)
        else:
            matches = sum(count for gram, count in theirs.items() if gram in ours)
        row += [matches, sum(ours.values())]
    lengths = sorted(map(len, references))
    if reference_length == CLOSEST:
        lengths.sort(key=lambda length: abs(length - len(hypothesis)))  # stable: the shorter of two stays first
    return [*row, lengths[0]]


def indexed(references: list[list[Sentence]]) -> tuple[ReferenceNgrams, Vocabulary]:
    """`references[s]` are those of segment s."""
    vocabulary = Vocabulary()
    sets = tuple(Corpus.from_lines(map(" ".join, column), vocabulary) for column in zip(*references, strict=True))
    return ReferenceNgrams.of(References(sets)), vocabulary


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[Sentence]], list[tuple[int, Sentence]]]:
    count = draw(st.integers(1, 3))
    references = draw(st.lists(st.lists(SENTENCE, min_size=count, max_size=count), min_size=1, max_size=4))
    owner = st.integers(0, len(references) - 1)
    return references, draw(st.lists(st.tuples(owner, SENTENCE), max_size=8))


@settings(max_examples=200, deadline=None)
@given(cases(), st.sampled_from([CLIPPED, UNCLIPPED, UNCLIPPED_RECALL]), st.sampled_from([CLOSEST, SHORTEST]))
def test_equals_slow_counting(
    case: tuple[list[list[Sentence]], list[tuple[int, Sentence]]], counting: int, reference_length: int
) -> None:
    references, candidates = case
    built, vocabulary = indexed(references)
    hypotheses = Corpus.from_lines(map(" ".join, [sentence for _, sentence in candidates]), vocabulary)
    owner = np.array([s for s, _ in candidates], dtype=np.int64)
    got = built.statistics(hypotheses, owner, counting=counting, reference_length=reference_length)
    expected = [slow_row(sentence, references[s], counting, reference_length) for s, sentence in candidates]
    assert got.tolist() == expected


def test_long_sentences_and_a_hundred_references() -> None:
    random = np.random.default_rng(5)
    words = [f"w{k}" for k in range(40)]
    references = [
        [[words[k] for k in random.integers(40, size=random.integers(280, 400))] for _ in range(100)] for _ in range(2)
    ]
    candidates = [[words[k] for k in random.integers(40, size=350)], references[0][7], references[1][99] * 3, []]
    built, vocabulary = indexed(references)
    got = built.statistics(Corpus.from_lines(map(" ".join, candidates), vocabulary), np.array([0, 0, 1, 1]))
    owners = [0, 0, 1, 1]
    assert got.tolist() == [
        slow_row(c, references[s], CLIPPED, CLOSEST) for c, s in zip(candidates, owners, strict=True)
    ]


def test_order_of_candidates_does_not_matter() -> None:
    random = np.random.default_rng(6)
    vocabulary = Vocabulary()
    references = References.from_lines(
        [" ".join(random.choice(list("abcd"), 8)) for _ in range(30)], vocabulary=vocabulary
    )
    hypotheses = Corpus.from_lines([" ".join(random.choice(list("abcde"), 8)) for _ in range(200)], vocabulary)
    owner = random.integers(30, size=200)
    built = ReferenceNgrams.of(references)
    together = built.statistics(hypotheses, owner)
    mixed = random.permutation(200)
    assert (built.statistics(hypotheses.take(mixed), owner[mixed]) == together[mixed]).all()


def test_other_vocabulary_is_refused() -> None:
    built, _ = indexed([[["a"]]])
    with pytest.raises(TypeError, match="share one vocabulary"):
        built.statistics(Corpus.from_lines(["a"]), np.zeros(1, dtype=np.int32))


@pytest.mark.parametrize("owner", [[0], [0, 2], [0, -1], [[0, 0]]])
def test_wrong_owner_is_refused(owner: list[int]) -> None:
    built, vocabulary = indexed([[["a"]], [["b"]]])
    with pytest.raises(ValueError, match="owner"):
        built.statistics(Corpus.from_lines(["a", "b"], vocabulary), np.array(owner))


def nbest_lines(path: Path) -> list[tuple[int, str, str]]:
    """(sentence, text, features) of a Moses N-best list, by splitting alone."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode()
    fields = [line.split("|||") for line in text.split("\n")[:-1]]
    return [(int(f[0]), f[1].strip(" "), f[2]) for f in fields]


def recorded_rows(path: Path) -> list[tuple[int, ...]]:
    """(sentence, 9 numbers) of a scores.dat."""
    data = path.read_bytes()
    rows: list[tuple[int, ...]] = []
    sentence = -1
    for line in (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode().splitlines():
        if line.startswith("SCORES_TXT_BEGIN_0"):
            sentence = int(line.split()[1])
        elif not line.startswith("SCORES_TXT_END_0"):
            rows.append((sentence, *map(int, line.split())))
    return rows


def without_duplicates(candidates: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """What Moses' extractor keeps of a sentence's list: the last one takes the place of one met before."""
    seen: set[tuple[object, ...]] = set()
    kept = list(candidates)
    k = 0
    while k < len(kept):
        if kept[k] in seen:
            last = kept.pop()
            if k < len(kept):
                kept[k] = last
        else:
            seen.add(kept[k])
            k += 1
    return kept


def assert_equals_recording(lines: list[tuple[int, str, str]], recorded: list[tuple[int, ...]], references: References):
    hypotheses = Corpus.from_lines([text for _, text, _ in lines], references.vocabulary)
    got = ReferenceNgrams.of(references).statistics(hypotheses, np.array([sentence for sentence, _, _ in lines]))
    assert got.shape == (len(lines), COLUMNS)
    by_sentence: dict[int, list[tuple[object, ...]]] = {}
    for (sentence, _, features), row in zip(lines, got.tolist(), strict=True):
        by_sentence.setdefault(sentence, []).append((features, sentence, *row))
    ours = [row[1:] for candidates in by_sentence.values() for row in without_duplicates(candidates)]
    assert ours == recorded


@pytest.mark.parametrize("run", [1, 2])
def test_equals_what_moses_wrote(shared_data: Path, run: int) -> None:
    folder = shared_data / "moses" / "de-en"
    references = References((read_corpus(shared_data / "multi30k" / "dev.en.gz"),))
    lines = nbest_lines(folder / f"run{run}.best100.out.gz")
    assert_equals_recording(lines, recorded_rows(folder / f"run{run}.scores.dat.gz"), references)


def test_equals_what_moses_wrote_of_a_list_with_sparse_features(shared_data: Path) -> None:
    folder = shared_data / "moses" / "variants"
    # The references are not among the files; these are sentences with which the recorded counts come out.
    references = References.from_lines(["a man is sleeping .", "a man and a woman on a couch ."])
    assert_equals_recording(nbest_lines(folder / "sparse.nbest"), recorded_rows(folder / "sparse.scores"), references)
