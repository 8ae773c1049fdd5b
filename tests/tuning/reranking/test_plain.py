"""Lists of strings and numbers: the pool of them is that of the file, the best of them that of `lasw rerank`."""

from __future__ import annotations

import re

import numpy as np
import pytest
from build import list_of, made_pool
from sacrebleu.metrics.bleu import BLEU

from lasw.metrics import References, UserError, metric
from lasw.tuning import Reranker, Weights, make_optimiser, one_per_sentence, pool_of, rerank

TEXTS = [["a b c", "a b", "c"], ["d e", "x"]]
REFERENCES = ["a b c", "d e"]
LM = [-1.0, -3.0, -2.0, -4.0, -0.5]
QE = [0.5, 0.25, 0.125, 0.75, 0.5]


@pytest.mark.parametrize(
    "lm", [LM, np.array(LM), [LM[:3], LM[3:]], [np.array(LM[:3], dtype=np.float32), np.array(LM[3:])]]
)
def test_a_pool_is_that_of_the_list(lm: object) -> None:
    pool = pool_of(TEXTS, {"lm": lm, "qe": QE}, REFERENCES)  # type: ignore[dict-item]
    rows = [(s, text) for s, texts in enumerate(TEXTS) for text in texts]
    made = list_of(rows, {"lm": LM, "qe": QE})
    assert pool.names == made.names
    assert pool.dense.tolist() == made.dense.tolist()
    assert pool.owner.tolist() == [0, 0, 0, 1, 1]
    assert [pool.hypotheses.text(k) for k in range(5)] == [text for _, text in rows]
    assert pool.sentence_scores(metric("WER")).tolist() == pytest.approx([1, 2 / 3, 1 / 3, 1, 0])


def test_arrays_by_sentence_and_several_references() -> None:
    pool = pool_of(
        [["a", "b"], ["c", "d"]], {"f": np.arange(4.0).reshape(2, 2)}, References.from_lines(["a", "c"], ["b", "d"])
    )
    assert pool.dense.tolist() == [[0], [1], [2], [3]]
    assert pool.sentence_scores(metric("WER")).tolist() == [1, 1, 1, 1]


def test_the_best_of_each_sentence() -> None:
    features = {"lm": LM, "qe": QE}
    weights = Weights.from_groups({"qe": [4.0], "lm": [1.0]})  # matched by name, not by place
    scores = [lm + 4 * qe for lm, qe in zip(LM, QE, strict=True)]
    assert rerank(TEXTS, features, weights) == [
        TEXTS[0][int(np.argmax(scores[:3]))],
        TEXTS[1][int(np.argmax(scores[3:]))],
    ]
    assert rerank([["a b c", "a b", "c"], [], ["d e", "x"]], features, weights) == ["a b c", "", "x"]
    nbest = list_of([(0, "a b c"), (0, "a b"), (0, "c"), (1, "d e"), (1, "x")], features)
    best = [text for block in Reranker(weights).sort([nbest]) for _, text in one_per_sentence(block)]
    assert rerank(TEXTS, features, weights) == best


@pytest.mark.parametrize("optimiser", ["mert", "pro", "expected", "mira", "wro", "average"])
def test_learnt_in_a_line_without_start_weights(optimiser: str) -> None:
    made = made_pool(seed=2)
    lists = np.split(np.arange(len(made)), made.starts[1:-1])
    texts = [[made.hypotheses.text(row) for row in rows.tolist()] for rows in lists]
    references = [made.references.corpora[0].text(k) for k in range(len(lists))]
    features = {name: made.dense[:, k] for k, name in enumerate(("good", "noise", "length"))}
    best = rerank(texts, features, make_optimiser(optimiser).fit(pool_of(texts, features, references)).weights)
    by_good = [lines[int(made.dense[rows, 0].argmax())] for lines, rows in zip(texts, lists, strict=True)]
    bleu = BLEU(tokenize="none")
    score, peer, first = (
        bleu.corpus_score(lines, [references]).score for lines in (best, by_good, [lines[0] for lines in texts])
    )
    assert score > peer - 3  # `good` counts the errors, nearly
    assert score > first + 15


def test_a_loss_computed_elsewhere() -> None:
    assert pool_of(TEXTS, {"lm": LM}).compared is False


@pytest.mark.parametrize(
    ("texts", "features", "references", "message"),
    [
        (TEXTS, {"lm": LM[:4]}, REFERENCES, "4 values of the feature lm; expected 5, one for every hypothesis"),
        (TEXTS, {"lm": [LM[:3], LM[3:4]]}, REFERENCES, "4 values of the feature lm; expected 5"),
        (TEXTS, {"lm": [*LM[:4], np.nan]}, REFERENCES, "value 4 of the feature lm is nan; expected finite numbers"),
        (TEXTS, {"lm": LM}, ["a"], "hypotheses of 2 sentences; expected 1, as references"),
    ],
)
def test_what_does_not_fit(texts: object, features: object, references: object, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        pool_of(texts, features, references)  # type: ignore[arg-type]


def test_one_list_of_texts_is_none_of_lists() -> None:
    with pytest.raises(TypeError, match="a list of texts for every sentence"):
        pool_of(["a b", "c"], {}, ["a b", "c"])  # type: ignore[list-item]
    with pytest.raises(UserError, match="other"):
        rerank(TEXTS, {"lm": LM}, Weights.from_groups({"other": [1.0]}))


@pytest.mark.parametrize("values", [[[1, 2], [3, 4]], [[1], [2, 3]], ["x", "y", "z", "u"], [[1], 2], 3, [1, 2, 3]])
def test_values_that_are_not_those_of_the_hypotheses(values: object) -> None:
    """As many in all are not enough: they would be told of the wrong ones."""
    with pytest.raises(UserError, match="of the feature LM"):
        pool_of([["a"], ["b", "c", "d"]], {"LM": values})  # type: ignore[dict-item]
