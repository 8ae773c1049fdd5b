"""`lasw rerank --mbr` and `lasw features --mbr`: choices, columns for `--feature`, and options that do not fit."""

import numpy as np
import pytest

from lasw.metrics import Corpus, References, metric
from lasw.scripts.main import main

LIST = """\
0 ||| ein alter Bus  ||| LM0= -1 TM0= -2 ||| -3
0 ||| der Bus  ||| LM0= -3 TM0= -2 ||| -5
0 ||| der alte Bus  ||| LM0= -2 TM0= -2 ||| -4
3 |||  ||| LM0= -1 TM0= -1 ||| -2
3 ||| zwei Haeuser  ||| LM0= -1 TM0= -1 ||| -1
3 ||| zwei Haeuser  ||| LM0= -1 TM0= -3 ||| -4
"""
TEXTS = [[line.split(" ||| ")[1].strip() for line in LIST.splitlines() if line[0] == s] for s in "03"]
SAMPLES = "0 ||| der Bus\n3 ||| zwei Haeuser ||| LM0= 0 TM0= 0\n3 ||| drei ||| LM0= 0 TM0= 0\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nbest").write_text(LIST)
    (tmp_path / "w").write_text("LM0= 1\nTM0= 0.5\n")


def lasw(capsys, *words):
    code = main(list(words))
    out, err = capsys.readouterr()
    assert code == 0, err
    return out, err


def failed(capsys, *words):
    code = main(list(words))
    assert code == 1
    return capsys.readouterr().err


def utilities(spec, weights=((1, 1, 1), (1, 1, 1)), references=TEXTS):
    """By a double loop."""
    found = []
    for lines, others, p in zip(TEXTS, references, weights, strict=True):
        refs = References.from_lines(others)
        m = metric(spec)
        for line in lines:
            corpus = Corpus.from_lines([line] * len(others), refs.vocabulary)
            scores = m.sentence_scores(m.statistics(corpus, m.prepare(refs), np.arange(len(others))))
            found.append(np.average(scores, weights=p))
    return found


@pytest.mark.parametrize("spec", ["BLEU+1", "CHRF", "TER"])
def test_choices_and_the_column(spec, capsys):
    out, _ = lasw(capsys, "rerank", "--mbr", spec, "nbest", "--quiet")
    expected = utilities(spec)
    best = [TEXTS[0][int(np.argmax(expected[:3]))], TEXTS[1][int(np.argmax(expected[3:]))]]
    assert out == f"{best[0]}\n\n\n{best[1]}\n"
    column, err = lasw(capsys, "features", "--mbr", spec, "nbest")
    np.testing.assert_allclose([float(line) for line in column.splitlines()], expected, rtol=1e-12)
    assert "no hypotheses for 2 sentences" in err


def test_the_column_is_a_feature(capsys, tmp_path):
    lasw(capsys, "features", "--mbr", "CHRF", "nbest", "--output", "mbr.txt")
    (tmp_path / "mbr.w").write_text("LM0= 0\nTM0= 0\nmbr= 1\n")
    words = ("--quiet", "nbest")
    assert (
        lasw(capsys, "rerank", "--weights", "mbr.w", "--feature", "mbr=mbr.txt", *words)
        == lasw(capsys, "rerank", "--mbr", "CHRF", *words)
    )  # fmt: skip


def test_sorted_lists_have_expected_utilities_for_totals(capsys):
    out, _ = lasw(capsys, "rerank", "--mbr", "PA1:alpha=0", "--nbest", "nbest", "--quiet")
    totals = [(line.split(" ||| ")[1].strip(), float(line.split(" ||| ")[-1])) for line in out.splitlines()]
    # der Bus: (1/2 + 1 + 1) / 3; der alte Bus: (1/3 + 2/3 + 1) / 3, ein alter Bus: (1 + 1/3 + 1/3) / 3
    assert [text for text, _ in totals] == [
        "der Bus",
        "der alte Bus",
        "ein alter Bus",
        "zwei Haeuser",
        "zwei Haeuser",
        "",
    ]
    np.testing.assert_allclose([x for _, x in totals], [2.5 / 3, 2 / 3, 5 / 9, 2 / 3, 2 / 3, 0])


def test_probabilities_of_the_list_and_of_weights(capsys):
    def column(*options):
        out, _ = lasw(capsys, "features", "--mbr", "CHRF", "nbest", *options)
        return [float(line) for line in out.splitlines()]

    totals = np.array([[-3, -5, -4], [-2, -1, -4]])
    np.testing.assert_allclose(column("--mbr-weights", "model"), utilities("CHRF", np.exp(totals)))
    scaled = column("--mbr-weights", "model", "--mbr-scale", "0.25")
    np.testing.assert_allclose(scaled, utilities("CHRF", np.exp(0.25 * totals)))
    under_weights = np.array([[-2, -4, -3], [-1.5, -1.5, -2.5]])
    np.testing.assert_allclose(column("--mbr-weights", "w"), utilities("CHRF", np.exp(under_weights)))
    assert column("--mbr-weights", "uniform") == column()


def test_samples(capsys, tmp_path):
    (tmp_path / "s").write_text(SAMPLES.replace("Bus", "Bus ||| LM0= 0 TM0= 0"))
    out, _ = lasw(capsys, "features", "--mbr", "CHRF", "--samples", "s", "nbest")
    expected = utilities("CHRF", ((1,), (1, 1)), (["der Bus"], ["zwei Haeuser", "drei"]))
    np.testing.assert_allclose([float(line) for line in out.splitlines()], expected)
    out, _ = lasw(capsys, "rerank", "--mbr", "CHRF", "--samples", "s", "--unsorted", "nbest", "--quiet")
    assert out == "der Bus\n\n\nzwei Haeuser\n"


def test_plain_texts(capsys, tmp_path):
    """As neural systems leave them: so many lines a sentence, and samples of another number."""
    (tmp_path / "t").write_text("".join(f"{line}\n" for lines in TEXTS for line in lines))
    out, _ = lasw(capsys, "features", "--mbr", "CHRF", "--nbest-size", "3", "t")
    np.testing.assert_allclose([float(line) for line in out.splitlines()], utilities("CHRF"))
    out, _ = lasw(capsys, "rerank", "--mbr", "CHRF", "--nbest-size", "3", "t")
    assert out == f"{TEXTS[0][int(np.argmax(utilities('CHRF')[:3]))]}\nzwei Haeuser\n"
    (tmp_path / "s").write_text("der Bus\nein Bus\nzwei Haeuser\ndrei\n")
    options = ("--nbest-size", "3", "--samples", "s", "--samples-size", "2")
    out, _ = lasw(capsys, "features", "--mbr", "CHRF", *options, "t")
    expected = utilities("CHRF", ((1, 1), (1, 1)), (["der Bus", "ein Bus"], ["zwei Haeuser", "drei"]))
    np.testing.assert_allclose([float(line) for line in out.splitlines()], expected)


def test_ids_in_any_order(capsys, tmp_path):
    lines = LIST.splitlines(keepends=True)
    order = [5, 0, 3, 2, 1, 4]
    (tmp_path / "mixed").write_text("".join(lines[k] for k in order))
    plain, _ = lasw(capsys, "features", "--mbr", "BLEU+1", "nbest")
    mixed, _ = lasw(capsys, "features", "--mbr", "BLEU+1", "--unsorted", "mixed")
    assert mixed.splitlines() == [plain.splitlines()[k] for k in order]


def test_tokens_and_case_are_those_of_what_is_compared(capsys, tmp_path):
    (tmp_path / "n").write_text(
        "0 ||| Bus. ||| LM0= 0 ||| 0\n0 ||| bus ||| LM0= 0 ||| 0\n0 ||| a b c ||| LM0= 0 ||| 0\n"
    )
    out, _ = lasw(capsys, "features", "--mbr", "PA1:alpha=0", "--tokenize", "13a", "--lowercase", "n")
    np.testing.assert_allclose([float(x) for x in out.splitlines()], [1.5 / 3, 2 / 3, 1 / 3])
    out, _ = lasw(capsys, "rerank", "--mbr", "PA1:alpha=0", "--tokenize", "13a", "--lowercase", "--nbest", "n")
    assert [line.split(" ||| ")[1] for line in out.splitlines()] == ["bus ", "Bus. ", "a b c "]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("rerank", "--weights", "w", "--mbr-approx", "nbest"), "--mbr-approx without --mbr"),
        (("rerank", "--weights", "w", "--samples", "nbest", "nbest"), "--samples without --mbr"),
        (("rerank", "--weights", "w", "--lowercase", "nbest"), "--lowercase without --mbr"),
        (("rerank", "--mbr", "CHRF", "--samples-size", "2", "nbest"), "--samples-size without --samples"),
        (("rerank", "--mbr", "CHRF", "--mbr-scale", "2", "nbest"), "--mbr-scale where references count alike"),
        (("rerank", "--mbr", "CHRF", "--sparse-weights", "w", "nbest"), "--sparse-weights without the dense ones"),
        (("rerank", "--mbr", "TER", "--mbr-approx", "nbest"), "TER has no aggregated references"),
        (("rerank", "--mbr", "CHRFF", "nbest"), "did you mean 'CHRF'"),
        (("features", "--metric", "BLEU", "--samples", "nbest", "nbest"), "--samples without --mbr"),
        (("features", "--mbr", "BLEU", "--references", "nbest", "--", "nbest"), "--references beside --mbr"),
        (("features", "--metric", "BLEU", "nbest"), "no references"),
        (("features", "--mbr", "BLEU", "nbest", "--output", "nbest"), "nbest"),
    ],
)
def test_options_that_do_not_fit(words, message, capsys):
    assert message in failed(capsys, *words)


def test_samples_of_other_sentences_and_lists_without_totals(capsys, tmp_path):
    (tmp_path / "s").write_text("0 ||| der Bus ||| LM0= 0\n")
    assert "s: no samples for sentence 3" in failed(capsys, "rerank", "--mbr", "CHRF", "--samples", "s", "nbest")
    (tmp_path / "n").write_text("0 ||| der Bus ||| LM0= 0 ||| 0\n")
    assert "no totals" in failed(capsys, "rerank", "--mbr", "CHRF", "--mbr-weights", "model", "n")
