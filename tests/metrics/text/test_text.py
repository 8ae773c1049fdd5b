"""Tokens as ids: what separates tokens, what does not, and what is refused."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import Corpus, References, UserError, Vocabulary, normal_form, read_corpus

TEXT = st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]), max_size=12)
INSIDE = ["a\u00a0b", "a\u2028b", "a\rb", "a\u200bb", "a\x0bb", "a\u0085b", "\ufeffa", "日本\u3000語"]


def split(line: str) -> list[str]:
    return [token for token in line.replace("\t", " ").split(" ") if token]


@settings(max_examples=200, deadline=None)
@given(st.lists(TEXT, max_size=6))
def test_lines_are_split_on_spaces_and_tabs_only(lines: list[str]) -> None:
    corpus = Corpus.from_lines(lines)
    assert list(corpus) == [split(line) for line in lines]
    assert corpus.lengths.tolist() == [len(split(line)) for line in lines]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(TEXT.map(lambda t: t.replace(" ", "").replace("\t", "")).filter(bool), max_size=5), max_size=5)
)
def test_tokens_are_numbered_as_they_come(sentences: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    ids = [vocabulary.add(token) for sentence in sentences for token in sentence]
    corpus = Corpus.from_lines(map(" ".join, sentences), vocabulary)
    assert corpus.ids.tolist() == ids
    assert corpus.offsets.tolist() == np.cumsum([0, *map(len, sentences)]).tolist()
    assert list(corpus) == sentences


@pytest.mark.parametrize("token", INSIDE)
def test_other_white_space_is_part_of_a_token(tmp_path: Path, token: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(f"x {token} y\nz\n".encode())
    corpus = read_corpus(path)
    assert list(corpus) == [["x", token, "y"], ["z"]]


def test_a_large_vocabulary_grows() -> None:
    words = [f"word{k}" * (1 + k % 7) for k in range(30_000)]
    vocabulary = Vocabulary()
    corpus = Corpus.from_lines([" ".join(words), " ".join(reversed(words))], vocabulary)
    assert len(vocabulary) == len(words)
    assert corpus.tokens(0) == words
    assert corpus.ids[: len(words)].tolist() == list(range(len(words)))
    assert corpus.tokens(1) == words[::-1]


def test_one_token_longer_than_the_first_arena() -> None:
    token = "ü" * 100_000
    vocabulary = Vocabulary()
    assert vocabulary.add(token) == 0
    assert vocabulary.add("a") == 1
    assert vocabulary.add(token) == 0
    assert Corpus.from_lines([f"a {token}"], vocabulary).ids.tolist() == [1, 0]
    assert vocabulary[0] == token
    with pytest.raises(IndexError):
        vocabulary[2]


def test_a_sentence_is_a_view_of_its_ids() -> None:
    corpus = Corpus.from_lines(["a b", "", "b c a"])
    assert [corpus.sentence(k).tolist() for k in range(3)] == [[0, 1], [], [1, 2, 0]]
    assert np.shares_memory(corpus.sentence(2), corpus.ids)


def test_take() -> None:
    corpus = Corpus.from_lines(["a b", "", "c", "d e f"])
    taken = corpus.take(np.array([3, 1, 3, 0]))
    assert list(taken) == [["d", "e", "f"], [], ["d", "e", "f"], ["a", "b"]]
    assert taken.vocabulary is corpus.vocabulary
    assert corpus.text(3) == "d e f"


def test_preprocess_comes_before_splitting(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("A,B\nC\n")

    def change(line: str) -> str:
        return line.lower().replace(",", " , ") + "\n!"  # a line break that a tokeniser makes is no new sentence

    assert list(read_corpus(path, preprocess=change)) == [["a", ",", "b", "!"], ["c", "!"]]
    assert list(Corpus.from_lines(["A,B"], preprocess=change)) == [["a", ",", "b", "!"]]


def test_carriage_returns_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a b\r\nc\r d\ne\r\n")
    corpus = read_corpus(path)
    assert list(corpus) == [["a", "b"], ["c\r", "d"], ["e"]]
    assert corpus.crlf_lines == 2
    assert corpus.path == str(path)


def test_an_empty_file_is_refused_a_blank_line_is_not(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"")
    with pytest.raises(UserError, match=r"text: the file is empty; expected a sentence a line"):
        read_corpus(path)
    path.write_bytes(b"\n")
    assert list(read_corpus(path)) == [[]]


def test_strings_where_lists_belong_are_refused() -> None:
    with pytest.raises(TypeError, match="lines is one string"):
        Corpus.from_lines("a b")
    with pytest.raises(TypeError, match="line 1 is list"):
        Corpus.from_lines(["a b", ["c"]])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="a reference set is a list of lines"):
        References.from_lines("a b")


@pytest.mark.parametrize("nested", [[["a", "b"], ["c", "d"]], [["a", "b"]], [["a"], ["b"]]])
def test_transposed_references_are_refused(nested: list[list[str]]) -> None:
    # A list of lists may hold segments with their references or sets of lines: neither is guessed.
    with pytest.raises(TypeError, match="give each set as an argument of its own"):
        References.from_lines(nested)  # type: ignore[arg-type]


def test_reference_sets_of_different_length_are_refused() -> None:
    with pytest.raises(UserError, match="3 lines; expected 2"):
        References.from_lines(["a", "b"], ["c", "d", "e"])
    with pytest.raises(UserError, match="no references"):
        References.from_lines()


def test_references_share_one_vocabulary() -> None:
    with pytest.raises(TypeError, match="share one vocabulary"):
        References((Corpus.from_lines(["a"]), Corpus.from_lines(["a"])))


def test_normal_form() -> None:
    composed, decomposed = (unicodedata.normalize(form, "naïve café") for form in ("NFC", "NFD"))
    assert normal_form(Corpus.from_lines([composed, "plain"])) == "NFC"
    assert normal_form(Corpus.from_lines([decomposed, "plain"])) == "NFD"
    assert normal_form(Corpus.from_lines(["plain"])) is None
    assert normal_form(Corpus.from_lines([composed, decomposed])) is None


def test_a_vocabulary_grows_and_keeps_its_numbers() -> None:
    random = np.random.default_rng(5)
    words = [f"{'w' * int(random.integers(1, 14))}{k}" for k in range(40_000)]
    tokens = [words[k] for k in random.integers(len(words), size=120_000).tolist()]
    numbers: dict[str, int] = {}
    expected = [numbers.setdefault(token, len(numbers)) for token in tokens]
    corpus = Corpus.from_lines([" ".join(tokens[:70_000]), "", " ".join(tokens[70_000:])])
    assert len(corpus.vocabulary) == len(numbers) > 30_000
    np.testing.assert_array_equal(corpus.ids, expected)
    np.testing.assert_array_equal(corpus.offsets, [0, 70_000, 70_000, 120_000])
    assert [corpus.vocabulary[k] for k in (0, 17_000, len(numbers) - 1)] == [
        list(numbers)[k] for k in (0, 17_000, len(numbers) - 1)
    ]
