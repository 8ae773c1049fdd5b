"""Thot: systems trained on a small language of our own, decoded with, and everything the decoder promises."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from build import rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from lasw.metrics import Corpus, UserError, Vocabulary
from lasw.scripts.parallel_text.train import train_thot
from lasw.tuning import FeatureNames, Thot, Weights
from lasw.tuning.decoders.thot.decoder import DEFAULT_WEIGHTS, FEATURES, NAMES
from lasw.tuning.decoders.thot.language_model import LanguageModel, train_language_model
from lasw.tuning.decoders.thot.phrase_extraction import extract, phrase_texts, spans
from lasw.tuning.decoders.thot.phrase_table import filter_phrase_table, write_phrase_table

ONES = Weights.constant(NAMES, 1.0)

# --- phrases ---------------------------------------------------------------------------------------------------------

Pair = tuple[list[str], list[str], set[tuple[int, int]]]


def consistent(
    source: list[str], target: list[str], points: set[tuple[int, int]], longest: int
) -> list[tuple[str, str]]:
    """Every pair of spans with a point inside and none that leads out."""
    found = []
    for i1, j1 in itertools.product(range(len(source)), range(len(target))):
        for i2 in range(i1, min(i1 + longest, len(source))):
            for j2 in range(j1, min(j1 + longest, len(target))):
                inside = [(i1 <= i <= i2, j1 <= j <= j2) for i, j in points]
                if any(all(p) for p in inside) and all(p[0] == p[1] for p in inside):
                    found.append((" ".join(source[i1 : i2 + 1]), " ".join(target[j1 : j2 + 1])))
    return found


words = st.lists(st.sampled_from("abc"), max_size=5)


@st.composite
def aligned(draw: st.DrawFn) -> Pair:
    source, target = draw(words), draw(words)
    every = [(i, j) for i in range(len(source)) for j in range(len(target))]
    return source, target, set(draw(st.lists(st.sampled_from(every), max_size=7)) if every else [])


def columns(pairs: list[Pair]) -> tuple[Corpus, Corpus, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    source = Corpus.from_lines(map(" ".join, [pair[0] for pair in pairs]))
    target = Corpus.from_lines(map(" ".join, [pair[1] for pair in pairs]))
    points = np.array([p for pair in pairs for p in sorted(pair[2])], dtype=np.int32).reshape(-1, 2)
    return source, target, points, np.cumsum([0, *(len(pair[2]) for pair in pairs)])


@settings(deadline=None, max_examples=40)
@given(st.lists(aligned(), min_size=1, max_size=6), st.integers(1, 4))
def test_phrase_pairs_are_the_consistent_ones(pairs: list[Pair], longest: int) -> None:
    source, target, points, offsets = columns(pairs)
    sides = (source, spans(source, longest)), (target, spans(target, longest))
    found = extract(*sides, points, offsets)
    texts = list(zip(phrase_texts(*sides[0], found.source), phrase_texts(*sides[1], found.target), strict=True))
    expected = Counter(p for pair in pairs for p in consistent(*pair, longest))
    assert dict(zip(texts, found.count.tolist(), strict=True)) == expected
    for (s, t), of_source, of_target in zip(texts, found.source_count, found.target_count, strict=True):
        assert of_source == sum(c for (s2, _), c in expected.items() if s2 == s)
        assert of_target == sum(c for (_, t2), c in expected.items() if t2 == t)


def test_phrase_table_lines_and_their_filter(tmp_path: Path) -> None:
    pairs: list[Pair] = [(["a", "b"], ["x", "y"], {(0, 0), (1, 1)})] * 2 + [(["a"], ["z"], {(0, 0)})]
    corpora = columns(pairs)
    table = tmp_path / "t"
    assert write_phrase_table(table, *corpora, longest=2, best=20) == 4
    assert table.read_text(encoding="utf-8").splitlines() == [
        "x ||| a ||| 2 2",
        "z ||| a ||| 1 1",
        "y ||| b ||| 2 2",
        "x y ||| a b ||| 2 2",
    ]
    assert write_phrase_table(tmp_path / "u", *corpora, longest=2, best=1) == 3
    assert "z" not in (tmp_path / "u").read_text(encoding="utf-8")
    assert filter_phrase_table(table, [["b"], ["b", "a"]], tmp_path / "f", 2) == 3
    assert [line.split(" ||| ")[1] for line in (tmp_path / "f").read_text(encoding="utf-8").splitlines()] == [
        "a",
        "a",
        "b",
    ]


# --- language model --------------------------------------------------------------------------------------------------


def probability(model: LanguageModel, history: list[str], word: str) -> float:
    """The interpolated probability by its definition, from a dictionary of counts."""
    counts: Counter[tuple[str, ...]] = Counter()
    below: list[tuple[str, ...]] = [()]
    for order in model.orders:
        texts = [(*below[h], model.words[w]) for h, w in zip(order.history.tolist(), order.word.tolist(), strict=True)]
        for text, count in zip(texts, order.count.tolist(), strict=True):
            if text[-1] != "<s>":
                counts[text] += count
        below = texts
    vocabulary = {w for text in counts for w in text} | {"<s>"}
    p = 1 / (len(vocabulary) + 1)  # Thot has one symbol more
    for n in range(1, len(history) + 2):
        h = tuple(history[len(history) - n + 1 :])
        total = sum(c for text, c in counts.items() if len(text) == n and text[:-1] == h)
        share = model.weights[n - 1, min(total // 10, 2)]
        p = share * (counts[(*h, word)] / total if total else 0) + (1 - share) * p
    return p


def log_probability(model: LanguageModel, sentence: list[str], order: int, known: set[str]) -> float:
    full = ["<s>", *(w if w in known else "<unk>" for w in sentence), "</s>"]
    return sum(np.log(probability(model, full[max(0, k - order + 1) : k], full[k])) for k in range(1, len(full)))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 20])  # no sentence has 20 words
def test_language_model_is_what_thot_computes(tmp_path: Path, order: int) -> None:
    common = pytest.importorskip("thot.common", reason="sil-thot is not installed")
    draw = random.Random(order)
    vocabulary = Vocabulary()
    sentences = [[draw.choice("aaabbcde") for _ in range(draw.randint(1, 6))] for _ in range(40)]
    text = Corpus.from_lines(map(" ".join, sentences), vocabulary)
    held_out = Corpus.from_lines(
        map(" ".join, [[draw.choice("abcdefg") for _ in range(4)] for _ in range(20)]), vocabulary
    )
    model = train_language_model(text, order, held_out)
    model.write(tmp_path / "lm")
    (tmp_path / "lm.wp").write_text("", encoding="utf-8")
    loaded = common.NGramLanguageModel()
    assert loaded.load(str(tmp_path / "lm"))
    seen = Counter(w for s in sentences for w in s)
    known = {w for w, count in seen.items() if count > 1}  # the first of each counts as unknown
    for sentence in (["a", "b", "c"], ["e", "e", "d", "a"], ["a"], ["zz", "a"]):
        expected = log_probability(model, sentence, order, known) / np.log(10)
        assert loaded.get_sentence_log_probability(sentence) == pytest.approx(expected, abs=1e-4)


def test_interpolation_weights_fit_the_held_out_text() -> None:
    draw = random.Random(5)
    vocabulary = Vocabulary()

    def sentences(n: int) -> list[list[str]]:
        return [[f"w{(draw.randrange(6) + 3 * k) % 12}" for k in range(6)] for _ in range(n)]

    text, held_out = sentences(60), sentences(30)
    corpora = Corpus.from_lines(map(" ".join, text), vocabulary), Corpus.from_lines(map(" ".join, held_out), vocabulary)
    plain, tuned = train_language_model(corpora[0], 3), train_language_model(corpora[0], 3, corpora[1])
    known = {w for w, count in Counter(w for s in text for w in s).items() if count > 1}

    def likelihood(model: LanguageModel) -> float:
        return sum(log_probability(model, sentence, 3, known) for sentence in held_out[:10])

    whole = likelihood(tuned)
    assert whole > likelihood(plain)
    assert np.all((tuned.weights >= 0) & (tuned.weights <= 1))


# --- decoder ---------------------------------------------------------------------------------------------------------

NOUNS = [
    ("haus", "house"),
    ("hund", "dog"),
    ("baum", "tree"),
    ("buch", "book"),
    ("garten", "garden"),
    ("brief", "letter"),
]
ADJECTIVES = [("kleine", "small"), ("alte", "old"), ("rote", "red"), ("gute", "good")]
VERBS = [("sieht", "sees"), ("findet", "finds"), ("kauft", "buys")]


def sentence(draw: random.Random) -> tuple[str, str]:
    def phrase() -> tuple[str, str]:
        noun = draw.choice(NOUNS)
        adjective = draw.choice(ADJECTIVES) if draw.random() < 0.6 else ("", "")
        article = draw.choice([("das", "the"), ("ein", "a"), ("dieses", "this")])
        return tuple(" ".join(filter(None, x)) for x in zip(article, adjective, noun, strict=True))  # type: ignore[return-value]

    parts = [phrase(), draw.choice(VERBS), phrase(), (".", ".")]
    return " ".join(p[0] for p in parts), " ".join(p[1] for p in parts)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("thot", reason="sil-thot is not installed")
    folder = tmp_path_factory.mktemp("thot")
    draw = random.Random(1)
    pairs = [sentence(draw) for _ in range(400)]
    for k, name in enumerate(("train.de", "train.en")):
        (folder / name).write_text("".join(pair[k] + "\n" for pair in pairs), encoding="utf-8")
    train_thot(folder / "train.de", folder / "train.en", folder / "model", quiet=True)
    return folder / "model"


SOURCE = [
    "das kleine haus sieht ein buch .",
    "",
    "ein unbekanntes wort findet dieses alte haus .",
    "hund",
    "das haus kauft das haus ||| <unk> <s> .",
]


def test_it_translates(system: Path) -> None:
    draw = random.Random(99)
    pairs = [sentence(draw) for _ in range(30)]
    decoder = Thot(system)
    nbest = decoder.decode([pair[0] for pair in pairs], ONES, 1, Vocabulary())
    assert len(nbest) == 30
    right = sum(nbest.hypotheses.text(k) == pair[1] for k, pair in enumerate(pairs))
    assert right >= 25, f"{right} of 30"


def test_scores_are_weighted_features_and_a_constant(system: Path) -> None:
    weights = Weights(NAMES, np.array([0.2, 1.1, 0.3, 0.5, 0.1, 0.9, 0.4, 0.7]))
    nbest = Thot(system).decode(SOURCE, weights, 50, Vocabulary())
    rest = nbest.score - nbest.model_scores(weights.dense)
    for s in range(len(SOURCE)):
        rows = nbest.owner == s
        assert np.ptp(rest[rows]) < 1e-4 * max(1.0, np.abs(nbest.score[rows]).max())
        assert np.all(np.diff(nbest.score[rows]) <= 1e-9)
    assert nbest.names.components == FEATURES
    assert len(set(rows_of(nbest))) == len(nbest)


def test_totals_that_are_no_numbers_become_weighted_features(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nan = float("nan")
    answers = [[("x", (1.0,) * 8, nan), ("y", (2.0,) * 8, nan)], [("z", (3.0,) * 8, -7.0)], []]
    monkeypatch.setattr("lasw.tuning.decoders.thot.decoder.ask_all", lambda workers, requests, told: answers)
    nbest = Thot(system).decode(["a", "b", "c"], Weights.constant(NAMES, 0.5), 2, Vocabulary())
    assert nbest.score.tolist() == [8.0, 4.0, -7.0]
    assert nbest.dense[:, 0].tolist() == [2.0, 1.0, 3.0]
    assert nbest.owner.tolist() == [0, 0, 1]


def test_the_empty_sentence_has_one_empty_hypothesis(system: Path) -> None:
    nbest = Thot(system).decode(SOURCE, ONES, 5, Vocabulary())
    rows = np.flatnonzero(nbest.owner == 1)
    assert [rows_of(nbest)[k] for k in rows] == [(1, "", (0.0,) * 8, 0.0)]
    only = Thot(system).decode([""], ONES, 5, Vocabulary())
    assert rows_of(only) == [(0, "", (0.0,) * 8, 0.0)]
    assert len(Thot(system).decode([], ONES, 5, Vocabulary())) == 0


def test_unknown_words_are_copied(system: Path) -> None:
    nbest = Thot(system).decode(SOURCE, ONES, 1, Vocabulary())
    assert {"unbekanntes", "wort"} <= set(nbest.hypotheses.text(2).split())
    assert "|||" in nbest.hypotheses.text(4).split()


def test_neither_processes_nor_earlier_calls_matter(system: Path) -> None:
    draw = random.Random(8)
    source = [*SOURCE, *(sentence(draw)[0] for _ in range(20))]
    other = Weights(NAMES, np.array([0.3, 0.6, 0.2, 0.1, 0.5, 1.5, 0.4, 0.2]))
    one, three = Thot(system, jobs=1), Thot(system, jobs=3)
    expected = rows_of(one.decode(source, ONES, 30, Vocabulary()))
    three.decode(source[::-1], other, 10, Vocabulary())
    three.decode(source, other, 10, Vocabulary())
    vocabulary = Vocabulary()
    vocabulary.add("before")
    assert rows_of(three.decode(source, ONES, 30, vocabulary)) == expected
    assert rows_of(one.decode(source, other, 30, Vocabulary())) != expected
    assert rows_of(one.decode(source, ONES, 30, Vocabulary())) == expected


def test_distinct_texts(system: Path) -> None:
    by_features = Thot(system).decode(SOURCE[:1], ONES, 40, Vocabulary())
    by_text = Thot(system, distinct="text", candidates=5).decode(SOURCE[:1], ONES, 40, Vocabulary())
    texts = [row[1] for row in rows_of(by_text)]
    assert len(set(texts)) == len(texts)
    assert len({row[1] for row in rows_of(by_features)}) < len(by_features)


def test_a_dead_process_is_an_error_and_the_next_call_works(system: Path) -> None:
    decoder = Thot(system)
    expected = rows_of(decoder.decode(SOURCE, ONES, 3, Vocabulary()))
    decoder._workers[0]._process.send_signal(signal.SIGKILL)
    decoder._workers[0]._process.wait()
    with pytest.raises(UserError, match=r"the Thot decoder died \(code -9\); its last lines: none"):
        decoder.decode(SOURCE, ONES, 3, Vocabulary())
    assert rows_of(decoder.decode(SOURCE, ONES, 3, Vocabulary())) == expected


def test_processes_end_with_the_decoder(system: Path) -> None:
    decoder = Thot(system, jobs=2)
    decoder.decode(SOURCE, ONES, 1, Vocabulary())
    processes: list[subprocess.Popen[bytes]] = [worker._process for worker in decoder._workers]
    assert len(processes) == 2
    decoder.close()
    assert all(process.poll() is not None for process in processes)


def test_weights_of_others_are_refused(system: Path) -> None:
    names = FeatureNames((("LM", 1), ("TM", 4)))
    with pytest.raises(UserError, match=r"weights for the features LM TM_0 .*; expected Thot's: wpw lmw"):
        Thot(system).decode(["a"], Weights.constant(names, 1.0), 1, Vocabulary())


def test_default_weights_are_thots_own(system: Path) -> None:
    from thot.alignment import AlignmentModelType
    from thot.translation import SmtModel

    model = SmtModel(AlignmentModelType.FAST_ALIGN)
    assert model.load_translation_model(str(system / "tm/src_trg"))
    assert model.weights == pytest.approx(DEFAULT_WEIGHTS, rel=1e-6)
    assert Thot(system).start_weights().dense.tolist() == list(DEFAULT_WEIGHTS)


def test_configuration_file(system: Path, tmp_path: Path) -> None:
    weights = Weights(NAMES, np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1 / 3]))
    decoder = Thot(system, stack=20)
    assert decoder.write_configuration(tmp_path / "thot.cfg", weights, ["BLEU 0.4"])
    lines = (tmp_path / "thot.cfg").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# BLEU 0.4"
    assert f"-tm {system.resolve()}/tm/src_trg" in lines
    assert "-S 20" in lines
    assert lines[-1] == "-tmw 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.3333333333333333"


def test_what_is_no_system(system: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        Thot(tmp_path / "none")
    with pytest.raises(UserError, match=r"no Thot system here; .* make one with 'lasw train'"):
        Thot(tmp_path)
    (tmp_path / "system.json").write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(UserError, match=r"system\.json: no description of a Thot system"):
        Thot(tmp_path)
    broken = tmp_path / "broken"
    shutil.copytree(system, broken)
    (broken / "lm/trg.lm").write_bytes(b"")
    with pytest.raises(UserError, match=r"/lm/trg\.lm: 0 bytes; expected \d+ bytes, as when .*; make it again"):
        Thot(broken)
    shutil.copy(system / "lm/trg.lm", broken / "lm/trg.lm")
    (broken / "tm/src_trg_swm.svcb").unlink()
    with pytest.raises(UserError, match=r"/tm/src_trg_swm\.svcb: the file is missing; expected \d+ bytes"):
        Thot(broken)
    described = json.loads((broken / "system.json").read_text(encoding="utf-8"))
    del described["bytes"]["tm/src_trg_swm.svcb"]
    (broken / "system.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(UserError, match=r"^[^ ]*/broken: Thot cannot load the models"):
        Thot(broken).decode(["haus"], ONES, 1, Vocabulary())
    described = json.loads((broken / "system.json").read_text(encoding="utf-8"))
    del described["phrase_length"]
    (broken / "system.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(UserError, match=r"system\.json: no description of a Thot system"):
        Thot(broken)


@pytest.mark.parametrize(("text", "line"), [("x ||| a ||| 2 2\nz |", 2), ("x ||| a ||| 2 2\nz ||| a ||| 1", 2)])
def test_a_phrase_table_that_is_cut_off(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "t").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=rf"t:{line}: this phrase table is damaged or cut off here; train again"):
        filter_phrase_table(tmp_path / "t", [["a"]], tmp_path / "f", 2)
    assert not (tmp_path / "f").exists()


def test_settings_out_of_range(system: Path) -> None:
    for wrong in ({"jobs": 0}, {"stack": 0}, {"options": 0}, {"reordering": -1}, {"candidates": 0}):
        with pytest.raises(ValueError, match="must be at least"):
            Thot(system, **wrong)
    with pytest.raises(ValueError, match="heuristic 'x'; expected one of none, phrase, phrase-distance"):
        Thot(system, heuristic="x")
    with pytest.raises(ValueError, match="distinct 'x'"):
        Thot(system, distinct="x")
