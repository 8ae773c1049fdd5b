"""`lasw vectors`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lasw.metrics import open_vectors
from lasw.scripts.main import main


@pytest.fixture
def text(tmp_path):
    generator = np.random.default_rng(11)
    path = tmp_path / "text"
    topics = [["cat", "dog", "horse", "eats", "runs"], ["tax", "law", "court", "rules", "pays"]]
    path.write_text("".join(" ".join(generator.choice(topics[k % 2], size=8)) + "\n" for k in range(300)))
    return path


def succeed(*words):
    assert main(["vectors", *map(str, words)]) == 0


def fail(capsys, *words):
    assert main(["vectors", *map(str, words)]) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize("model", ["skip-gram", "cbow", "fasttext"])
def test_training_puts_words_of_a_topic_together_and_repeats_itself(tmp_path, text, capsys, model):
    small = ["--size", 8, "--epochs", 15, "--quiet", "--model", model]
    for name in ("a", "b"):
        succeed("train", "--text", text, "--output", tmp_path / name, *small)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    succeed("train", "--text", text, "--output", tmp_path / "c", *small, "--seed", 2)
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()
    succeed("neighbours", "--vectors", tmp_path / "a", "-k", 4, "cat", "law", "--json")
    cat, law = json.loads(capsys.readouterr().out)
    assert {one["word"] for one in cat["neighbours"]} == {"dog", "horse", "eats", "runs"}
    assert law["word"] == "law"


def test_formats_of_training_and_conversion(tmp_path, text):
    small = ["--size", 4, "--epochs", 1, "--quiet"]
    succeed("train", "--text", text, "--output", tmp_path / "packed", *small)
    packed = open_vectors(tmp_path / "packed")
    words = ["cat", "law"]
    expected = packed.rows(packed.find(words))
    for layout, name in (("text", "t"), ("binary", "b"), ("text", "t.gz"), ("packed", "p")):
        succeed("convert", "--vectors", tmp_path / "packed", "--output", tmp_path / name, "--format", layout, "--quiet")
        file = open_vectors(tmp_path / name)
        assert len(file) == 10
        assert np.array_equal(file.rows(file.find(words)), expected)
    assert (tmp_path / "p").read_bytes() == (tmp_path / "packed").read_bytes()
    succeed("train", "--text", text, "--output", tmp_path / "f", *small, "--model", "fasttext", "--format", "fasttext")
    file = open_vectors(tmp_path / "f")
    assert file.find(["cats"])[0] >= len(file)


def test_conversion_of_some_words(tmp_path, text, capsys):
    (tmp_path / "v").write_text("cat 1 2\nCAT 3 4\nother 5 6\n")
    succeed("convert", "--vectors", tmp_path / "v", "--words", text, "--output", tmp_path / "small")
    assert "1 words of 10 in the text x 2" in capsys.readouterr().err
    file = open_vectors(tmp_path / "small")
    assert [file.word(k) for k in range(len(file))] == ["cat"]


def test_neighbours_on_lines(tmp_path, capsys):
    (tmp_path / "v").write_text("a 1 0\nb 1 1\nc 0 1\na 1 1\n")
    succeed("neighbours", "--vectors", tmp_path / "v", "-k", 1, "a", "x")
    out, err = capsys.readouterr()
    assert out == "a\tb\t0.7071\n"
    assert "no vector of 'x'" in err
    assert "1 words stand there again" in err


def test_mistakes(tmp_path, text, capsys):
    out = tmp_path / "out"
    assert "lower --min-count" in fail(capsys, "train", "--text", text, "--output", out, "--min-count", 9999)
    assert "no such file" in fail(capsys, "train", "--text", tmp_path / "none", "--output", out)
    assert "models with n-grams" in fail(capsys, "train", "--text", text, "--output", out, "--format", "fasttext")
    (tmp_path / "v").write_text("a 1 0\nb 1 nan\n")
    assert ":2: 'nan' in the vector of 'b'" in fail(capsys, "convert", "--vectors", tmp_path / "v", "--output", out)
    assert "no vector of 'x'" in fail(capsys, "neighbours", "--vectors", tmp_path / "v", "x")
    bad = fail(capsys, "convert", "--vectors", tmp_path / "v", "--words", text, "--output", out)
    assert "none of the words has a vector" in bad
    assert not out.exists()


def test_an_output_that_is_an_input_is_refused(tmp_path, text, capsys):
    before = text.read_bytes()
    assert "the output would overwrite what is read" in fail(capsys, "train", "--text", text, "--output", text)
    (tmp_path / "link").symlink_to(text)
    assert "overwrite" in fail(capsys, "train", "--text", text, "--output", tmp_path / "link")
    assert text.read_bytes() == before


def test_seeds_that_no_generator_takes_are_wrong_usage(tmp_path, text, capsys):
    for seed in ("-1", "x", str(1 << 32), "9" * 5000):
        with pytest.raises(SystemExit) as stop:
            main(["vectors", "train", "--text", str(text), "--output", str(tmp_path / "v"), f"--seed={seed}"])
        assert stop.value.code == 2
        assert "is no whole number from 0 to 4294967295" in capsys.readouterr().err
