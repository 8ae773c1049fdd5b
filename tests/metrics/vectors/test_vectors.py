"""Files of word vectors: every format, what is wrong in them, and only what is needed read."""

from __future__ import annotations

import gzip
import lzma
import struct
import zipfile

import numpy as np
import pytest

from lasw.metrics import UserError, Vocabulary, open_vectors
from lasw.metrics.vectors.packed import PackedFile, write_packed
from lasw.metrics.vectors.vectors import Embedding, blocks, described, embedding_of

WORDS = ["the", "Haus", "no\u00a0break", "äöü", "\u2028x", "1.5"]
MATRIX = np.random.default_rng(2).normal(size=(len(WORDS), 5)).astype(np.float32)


def text(words=WORDS, matrix=MATRIX, header=True, end="\n"):
    lines = [f"{len(words)} {matrix.shape[1]}{end}"] if header else []
    lines += [f"{w} {' '.join(repr(float(x)) for x in v)}{end}" for w, v in zip(words, matrix, strict=True)]
    return "".join(lines).encode()


def binary(words=WORDS, matrix=MATRIX, newline=b"\n"):
    rows = [w.encode() + b" " + v.astype("<f4").tobytes() + newline for w, v in zip(words, matrix, strict=True)]
    return f"{len(words)} {matrix.shape[1]}\n".encode() + b"".join(rows)


CONTENTS = {
    "word2vec text": text(),
    "GloVe": text(header=False),
    "fastText vec": text(end=" \n"),
    "carriage returns": text(end="\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + text(),
    "byte order mark, GloVe": b"\xef\xbb\xbf" + text(header=False),
    "no last newline": text().rstrip(b"\n"),
    "word2vec binary": binary(),
    "word2vec binary without newlines": binary(newline=b""),
    "gz": gzip.compress(binary()),
    "gz text": gzip.compress(text(header=False)),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_formats(tmp_path, name):
    path = tmp_path / "vectors"
    path.write_bytes(CONTENTS[name])
    check(open_vectors(path))


def check(file):
    assert (len(file), file.size) == MATRIX.shape
    rows = file.find([*WORDS, "missing", ""])
    assert (rows[:-2] >= 0).all()
    assert rows[-2:].tolist() == [-1, -1]
    assert np.allclose(file.rows(rows[:-2]), MATRIX, atol=1e-7)
    assert [file.word(int(row)) for row in rows[:-2]] == WORDS
    assert sum(len(part) for _, part in blocks(file)) == len(WORDS)


def test_gensim_reads_and_writes_the_same(tmp_path):
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(vector_size=5)
    vectors.add_vectors(WORDS, MATRIX)
    vectors.save(str(tmp_path / "native"))
    with pytest.raises(UserError, match=r"this is a pickle.*save_word2vec_format"):
        open_vectors(tmp_path / "native")
    KeyedVectors.load(str(tmp_path / "native")).save_word2vec_format(str(tmp_path / "converted"))
    vectors.save_word2vec_format(str(tmp_path / "bin"), binary=True)
    vectors.save_word2vec_format(str(tmp_path / "txt"), binary=False)
    for name in ("converted", "bin", "txt"):
        check(open_vectors(tmp_path / name))


def test_packed_files(tmp_path):
    for name, order in (("a", [0, 1, 2, 3, 4, 5]), ("b", [5, 3, 1, 0, 2, 4])):
        write_packed(tmp_path / name, [WORDS[k].encode() for k in order], MATRIX[order])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    file = open_vectors(tmp_path / "a")
    assert isinstance(file, PackedFile)
    check(file)
    with np.load(tmp_path / "a") as archive:
        assert archive["vectors"].shape == MATRIX.shape
    data = (tmp_path / "a").read_bytes()
    (tmp_path / "cut").write_bytes(data[:-30])
    with pytest.raises(UserError, match="or damaged"):
        open_vectors(tmp_path / "cut")
    header = data.index(b"'shape': (")
    for before, after in ((b"'<f4'", b"'<f8'"), (b"(6, ", b"(5, "), (b"(6, ", b"((((")):
        place = data.index(before, 0 if before == b"'<f4'" else header)
        (tmp_path / "odd").write_bytes(data[:place] + after + data[place + len(after) :])
        with pytest.raises(UserError, match="or damaged"):
            open_vectors(tmp_path / "odd")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("words", [np.array(WORDS), np.array([word.encode() for word in WORDS])])
def test_arrays_of_numpy(tmp_path, save, words):
    path = tmp_path / "arrays.npz"
    save(path, vocabulary=words, matrix=MATRIX.astype(np.float64))
    check(open_vectors(path))


def test_of_equal_words_in_arrays_the_first_counts(tmp_path):
    np.savez(tmp_path / "twice.npz", words=np.array(["a", "b", "a"]), vectors=np.eye(3))
    file = open_vectors(tmp_path / "twice.npz")
    assert file.find(["a", "b"]).tolist() == [0, 1]


def test_arrays_that_are_no_word_vectors(tmp_path):
    path = tmp_path / "arrays.npz"
    words = np.array(WORDS)
    for arrays, message in (
        ({"words": np.array(WORDS, dtype=object), "vectors": MATRIX}, "Python objects in it.*numpy.array"),
        ({"words": words[:-1], "vectors": MATRIX}, r"<U\d+ \(5,\), float32 \(6, 5\); expected an array of words"),
        ({"words": words, "vectors": MATRIX[:, 0]}, "expected an array of words"),
        ({"vectors": MATRIX}, "expected an array of words"),
        ({"words": words, "vectors": MATRIX, "more": MATRIX}, "expected an array of words"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(UserError, match=message):
            open_vectors(path)
    large = MATRIX.astype(np.float64)
    large[2, 1] = 1e300
    np.savez(path, words=words, vectors=large)
    file = open_vectors(path)
    with pytest.raises(UserError, match="NaN or inf"):
        file.rows(np.array([2]))
    np.savez(path, words=words, vectors=MATRIX)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"'shape': (6, 5)", b"'shape': (9, 9)"))
    with pytest.raises(UserError, match="damaged"):
        open_vectors(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("glove.6B.50d.txt", "a 1 2")
    with pytest.raises(UserError, match=r"a zip archive of glove\.6B\.50d\.txt.*unzip it"):
        open_vectors(path)


def test_arrays_that_decompress_to_too_much(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez_compressed(path, words=np.array(WORDS), vectors=np.zeros((len(WORDS), 4_000_000), dtype=np.float32))
    with pytest.raises(UserError, match=r"decompresses to more than \d+ times its size"):
        open_vectors(path)


def test_fasttext_makes_vectors_of_unknown_words(tmp_path):
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    model = FastText(
        [["house", "houses", "tree"]] * 5, vector_size=4, min_count=1, epochs=1, workers=1, seed=1, bucket=100
    )
    save_facebook_model(model, str(tmp_path / "ft.bin"))
    file = open_vectors(tmp_path / "ft.bin")
    rows = file.find(["house", "housing"])
    assert rows[0] < len(file) <= rows[1]
    assert np.allclose(file.rows(rows), np.stack([model.wv["house"], model.wv["housing"]]), atol=1e-6)


BAD = {
    "one number too few": (b"a 1 2 3\nb 1 2\n", "2: 2 numbers; expected a word and 3"),
    "one too many": (b"a 1 2 3\nb 1 2 3 4\n", "2: 4 numbers; expected a word and 3"),
    "a blank line": (b"a 1 2 3\n\nb 1 2 3\n", "2: 0 numbers"),
    "too few words": (b"3 2\na 1 2\nb 1 2\n", "2 words; expected 3, as its first line says"),
    "too many words": (b"1 2\na 1 2\nb 1 2\n", "2 words; expected 1"),
    "other size than the header's": (b"1 3\na 1 2\n", "2: 2 numbers; expected a word and 3"),
    "empty": (b"", "the file is empty"),
    "a header alone": (b"0 5\n", "no word vectors in it"),
    "one word a line": (b"the\nhouse\n", "1: 0 numbers"),
    "cut binary": (binary()[:-9], "the file ends in word 6"),
    "more behind a binary file": (binary() + b"junk", "bytes behind the last word"),
    "cut gz": (gzip.compress(text())[:-12], "cut off or damaged"),
    "gz with another checksum": (gzip.compress(text())[:-8] + bytes(8), "cut off or damaged"),
    "xz with other bytes": (lzma.compress(text())[:40] + bytes([255] * 60), "cut off or damaged"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_told_with_its_line(tmp_path, name):
    content, message = BAD[name]
    path = tmp_path / "vectors"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as error:
        open_vectors(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("bad", ["nan", "inf", "-inf", "x"])
def test_bad_numbers_are_refused_when_they_are_needed(tmp_path, bad):
    path = tmp_path / "vectors"
    path.write_text(f"2 2\ngood 1 2\nbad 1 {bad}\n")
    file = open_vectors(path)
    assert file.rows(file.find(["good"])).tolist() == [[1.0, 2.0]]
    with pytest.raises(UserError, match=rf":3: '{bad}' in the vector of 'bad'"):
        file.rows(file.find(["bad"]))


def test_a_bad_number_in_the_first_line_does_not_make_it_binary(tmp_path):
    path = tmp_path / "vectors"
    path.write_text("2 2\nbad 1 x\ngood 1 2\n")
    file = open_vectors(path)
    with pytest.raises(UserError, match=r":2: 'x' in the vector of 'bad'"):
        file.rows(file.find(["bad"]))


def test_bad_numbers_in_binary(tmp_path):
    matrix = MATRIX.copy()
    matrix[3, 2] = np.nan
    path = tmp_path / "vectors"
    path.write_bytes(binary(matrix=matrix))
    with pytest.raises(UserError, match=r"word 4 .'äöü'. has NaN"):
        open_vectors(path).rows(np.arange(6))


def test_words_with_spaces_and_repeated_words_are_counted(tmp_path):
    path = tmp_path / "vectors"
    path.write_text("a 1 2\n. . . 3 4\nname at@x.org 5 6\na 7 8\n")
    file = open_vectors(path)
    assert file.rows(file.find(["a"])).tolist() == [[1.0, 2.0]]
    assert file.find([". . ."]).tolist() == [1]
    assert any("2 words have spaces" in remark for remark in file.remarks)
    assert any("1 words stand there again" in remark for remark in file.remarks)


def test_a_binary_file_of_few_numbers_is_no_text(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"2 1\nab " + struct.pack("<f", 1.5) + b"\ncd " + struct.pack("<f", 2.5) + b"\n")
    file = open_vectors(path)
    assert file.rows(file.find(["cd", "ab"])).ravel().tolist() == [2.5, 1.5]


def test_an_embedding_grows_with_its_vocabulary(tmp_path, monkeypatch):
    path = tmp_path / "vectors"
    path.write_bytes(text(["zero", *WORDS[1:]], np.vstack([np.zeros((1, 5)), MATRIX[1:]])))
    file = open_vectors(path)
    asked = []
    monkeypatch.setattr(file, "find", lambda words, find=file.find: (asked.extend(words), find(words))[1])
    vocabulary = Vocabulary()
    embedding = Embedding(file, vocabulary)
    for word in ("Haus", "unknown", "zero"):
        vocabulary.add(word)
    arrays = embedding.arrays()
    assert arrays.known.tolist() == [True, False, True]
    vocabulary.add("äöü")
    arrays = embedding.arrays()
    assert asked == ["Haus", "unknown", "zero", "äöü"]  # each word once
    got = arrays.vectors[arrays.place]
    unit = MATRIX / np.linalg.norm(MATRIX, axis=1, keepdims=True)
    assert np.allclose(got, [unit[1], np.zeros(5), np.zeros(5), unit[3]], atol=1e-6)
    assert not arrays.vectors[0].any()


def test_an_embedding_is_shared_as_long_as_somebody_holds_it(tmp_path, monkeypatch):
    (tmp_path / "vectors").write_bytes(text())
    file, vocabulary = open_vectors(tmp_path / "vectors"), Vocabulary()
    held = embedding_of(file, vocabulary, unit=True)
    assert embedding_of(file, vocabulary, unit=True) is held
    assert embedding_of(file, vocabulary, unit=False) is not held
    assert embedding_of(file, Vocabulary(), unit=True) is not held
    vocabulary.add("Haus")
    assert held.arrays().known.tolist() == [True]
    monkeypatch.setattr(file, "find", None)  # what it knows is not asked for again
    assert embedding_of(file, vocabulary, unit=True).arrays().known.tolist() == [True]


def test_descriptions_tell_contents_apart(tmp_path):
    (tmp_path / "v").write_bytes(text())
    first = described(str(tmp_path / "v"))
    assert first.startswith("v#")
    (tmp_path / "v").write_bytes(text(header=False))
    assert described(str(tmp_path / "v")) != first
