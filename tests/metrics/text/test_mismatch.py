"""Texts that are not what they seem: what is said of which, and of which nothing."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from lasw.metrics import (
    Corpus,
    Preprocessing,
    References,
    UserError,
    Vocabulary,
    check_alike,
    check_pairs,
    check_texts,
    marked_list,
    read_corpus,
    refuse_or_warn,
)
from lasw.metrics.text.mismatch import MOST_TOKENS, Finding, sampled_rows
from lasw.tuning import read_pool

SENTENCES = [
    'the old man said : " it is n\'t his dog & cat , but hers . "',
    "in 2010 the price of oil was | as always | above 70 dollars a barrel .",
    "Peter and Mary live in New York , near the big river .",
    "do you know when the next train to Hamburg leaves ?",
    "there was no time to lose , so we took the car .",
    "It has been raining since Monday in all of the country .",
]


def noisy(lines: list[str], share: float = 0.25, seed: int = 1) -> list[str]:
    """What a system might say: some words in other places or left out."""
    draw = random.Random(seed)
    out = []
    for line in lines:
        words = [word for word in line.split(" ") if draw.random() > share / 2]
        if draw.random() < share and len(words) > 2:
            words[1], words[2] = words[2], words[1]
        out.append(" ".join(words))
    return out


def found(text: list[str], reference: list[str], *, lists: bool = False, words: bool = True) -> Finding | None:
    references = References.from_lines(reference)
    return check_texts(Corpus.from_lines(text, references.vocabulary), references, lists=lists, words=words)


def capital(line: str) -> str:
    return line[:1].upper() + line[1:]


REFERENCE = [capital(line) for line in SENTENCES] * 4
SYSTEM = noisy(REFERENCE)


def bpe(line: str) -> str:
    return " ".join(f"{word[:2]}@@ {word[2:]}" if len(word) > 4 else word for word in line.split(" "))


def pieces(line: str) -> str:
    return " ".join(f"▁{word[:3]} {word[3:]}".rstrip() for word in line.split(" "))


def escaped(line: str) -> str:
    for character, escape in (("&", "&amp;"), ("|", "&#124;"), ("'", "&apos;"), ('"', "&quot;")):
        line = line.replace(character, escape)
    return line


def marked(line: str) -> str:
    words = line.split(" ")
    ends = [min(k + 3, len(words)) for k in range(0, len(words), 3)]
    return " ".join(f"{' '.join(words[3 * k : end])} |{3 * k}-{end - 1}|" for k, end in enumerate(ends))


def enriched(line: str) -> str:
    return marked(line).replace("| ", ",wa=0-0 1-1 ,total=-2.5,Distortion0= 0 LM0= -9.1 | ", 1)


def factored(line: str) -> str:
    return " ".join(f"{word.replace('|', '&#124;')}|NN" for word in line.split(" "))


def detokenised(line: str) -> str:
    for mark in ",.?:":
        line = line.replace(f" {mark}", mark)
    return line


CHANGES = {
    "phrases": (marked, "are Moses' marks of phrases (|0-2|", "--strip-marks"),
    "enriched phrases": (enriched, "are Moses' marks of phrases", "--strip-marks"),
    "factors": (factored, "are words with factors", "--strip-marks"),
    "bpe": (bpe, "are sub-words (BPE) (", "--join bpe"),
    "pieces": (pieces, "are sub-words (SentencePiece) (▁", "--join sentencepiece"),
    "escapes": (escaped, "are escaped as Moses' tokeniser does it (&", "--unescape"),
    "tags": (lambda line: f'<seg id="1"> {line} </seg>', "are tags of SGML (</seg> <seg)", "between the tags"),
    "small": (str.lower, "have capitals (", "--lowercase"),
    "capitals": (str.upper, "are in capitals (", "--lowercase"),
    "detokenised": (detokenised, "end in a punctuation mark (", "--tokenize 13a"),
}


@pytest.mark.parametrize("side", ["system", "reference"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_mark_of_one_side_is_told_with_what_mends_it(name: str, side: str) -> None:
    change, what, remedy = CHANGES[name]
    changed = list(map(change, SYSTEM if side == "system" else REFERENCE))
    told = found(changed, REFERENCE) if side == "system" else found(SYSTEM, changed)
    assert told is not None
    assert what in str(told)
    assert told.remedy is not None
    assert remedy in told.remedy
    refused = found(changed, REFERENCE, lists=True) if side == "system" else found(SYSTEM, changed, lists=True)
    assert refused is not None
    of_lists = name in ("phrases", "enriched phrases", "factors", "bpe", "pieces")
    assert refused.beyond_doubt == (of_lists or refused.found.startswith("none of its"))


@pytest.mark.parametrize("name", CHANGES)
def test_a_mark_of_both_sides_is_none(name: str) -> None:
    change = CHANGES[name][0]
    assert found(list(map(change, SYSTEM)), list(map(change, REFERENCE)), lists=True) is None


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("phrases", Preprocessing(strip_marks=True)),
        ("enriched phrases", Preprocessing(strip_marks=True)),
        ("factors", Preprocessing(strip_marks=True, unescape=True)),
        ("bpe", Preprocessing(join="bpe")),
        ("pieces", Preprocessing(join="sentencepiece")),
        ("escapes", Preprocessing(unescape=True)),
        ("small", Preprocessing(lowercase=True)),
    ],
)
def test_what_is_named_gives_the_text_back(name: str, options: Preprocessing) -> None:
    mend = options.function()
    assert mend is not None
    want = [line.lower() for line in SYSTEM] if options.lowercase else SYSTEM
    assert [mend(CHANGES[name][0](line)) for line in SYSTEM] == want


@pytest.mark.parametrize("line", ["and|or", "a|b c", "x |0-2 y", "| |", "a||b c||d", "", "|0-2|x"])
def test_only_lines_of_factors_lose_them(line: str) -> None:
    mend = Preprocessing(strip_marks=True).function()
    assert mend is not None
    assert mend(line) == {"and|or": "and"}.get(line, line)


def test_signatures_say_what_was_mended() -> None:
    assert Preprocessing().settings() == {"case": "mixed", "tok": "spaces"}
    settings = Preprocessing(strip_marks=True, join="bpe", unescape=True).settings()
    assert settings == {"case": "mixed", "tok": "spaces", "marks": "stripped", "join": "bpe", "unescaped": "yes"}
    with pytest.raises(UserError, match=r"unknown kind of sub-words 'bpee'.*did you mean 'bpe'"):
        Preprocessing(join="bpee")


def test_a_literal_bar_of_both_sides_is_no_factor() -> None:
    reference = [f"{line} yes|no" for line in REFERENCE]
    assert found([f"{line} yes|no" for line in SYSTEM], reference, lists=True) is None
    # Nor is a system's own, as long as it is not the text that has them.
    assert found([f"{line} he|she" for line in SYSTEM], REFERENCE, lists=True) is None


def test_one_strange_token_is_no_evidence() -> None:
    for token in ("ca@@", "▁the", "|0-2|", "<seg", "&quot;", "NATO"):
        text = [*SYSTEM[:-1], f"{SYSTEM[-1]} {token}"]
        assert found(text, REFERENCE, lists=True) is None, token


CHINESE = [
    "我们 今天 去 北京 。",
    "他 说 : “ 你 好 ” ,",
    "天气 很 好 , 我 要 去 公园 。",
    "NBA 的 比赛 在 下 周 。",
] * 12
ARABIC = ["ذهب الرجل إلى السوق .", "قال إنه لن يأتي غدا ,", "الطقس جميل اليوم في iPhone ."] * 12
RUSSIAN = ["Он сказал , что не придёт .", "Сегодня хорошая погода в Москве !", "Это iPhone моей сестры ."] * 12


@pytest.mark.parametrize("text", [CHINESE, ARABIC, RUSSIAN], ids=["zh", "ar", "ru"])
def test_other_scripts_are_as_good(text: list[str]) -> None:
    assert found(noisy(text), text, lists=True) is None


def test_nothing_in_common_is_beyond_doubt() -> None:
    told = found(RUSSIAN, [line.replace("iPhone", "x").replace(".", "") for line in ARABIC])
    assert told is not None
    assert told.beyond_doubt
    assert "its letters are Cyrillic, those of the references Arabic" in told.found
    told = found(["ein Satz auf Deutsch , der ganz anders ist ."] * 6, ["une phrase en bon allemand , et autre ."] * 6)
    assert told is not None
    assert told.beyond_doubt
    assert told.found == ("none of its 48 words is in the references: another language, another text or other lines")
    # Five words are too few to say so, and a metric of characters has no words.
    assert found(["eins zwei drei vier fünf"], ["un deux trois quatre cinq"]) is None
    assert found(["ein Satz auf Deutsch"] * 20, ["une phrase de France"] * 20, words=False) is None


def test_little_in_common_is_a_warning() -> None:
    text = ["ein Satz auf Deutsch , der ganz anders ist am Ende in 2010 ."] * 20
    reference = ["une phrase en bon allemand , et autre am Ende encore ."] * 20
    told = found(text, reference)
    assert told is not None
    assert not told.beyond_doubt
    assert told.found.startswith("40 of its 240 words are in the references: another language")


def test_text_without_spaces() -> None:
    reference = [line.replace(" ", "") for line in CHINESE]
    text = [f"{line[:3]}也{line[3:]}" for line in reference]
    told = found(text, reference)
    assert told is not None
    assert told.beyond_doubt
    assert "no spaces between words; --tokenize zh" in str(told)


def test_placeholders() -> None:
    with_unknown = [f"{line} <unk>" for line in REFERENCE]
    told = found([f"{line} <unk>" for line in SYSTEM], with_unknown, lists=True)
    assert told is not None
    assert not told.beyond_doubt
    assert told.found == "24 of 24 references contain placeholders of unknown words (<unk>), which match each other"
    told = found([f"{line} <unk> <unk> <unk>" for line in SYSTEM], REFERENCE)
    assert told is not None
    assert "are placeholders of unknown words, which match nothing (<unk>)" in told.found
    assert found([f"{line} <unk>" for line in SYSTEM[:2]] + SYSTEM[2:], REFERENCE) is None


def test_lists_by_themselves() -> None:
    def of(change: object, lines: list[str]) -> Finding | None:
        return marked_list(Corpus.from_lines(map(change, lines)))  # type: ignore[arg-type]

    assert of(str, SYSTEM) is None
    assert of(lambda line: f"{line} and|or", SYSTEM) is None
    for name in ("phrases", "factors"):
        told = of(CHANGES[name][0], SYSTEM)
        assert told is not None
        assert told.beyond_doubt
        assert told.remedy is not None
        assert told.remedy.startswith("--strip-marks")


def test_refusals_and_warnings() -> None:
    doubt, sure = Finding("a", "odd", "mend", False), Finding("b", "wrong", "mend", True)
    assert refuse_or_warn([doubt, None, doubt]) == ["a: odd; mend"]
    with pytest.raises(UserError, match=r"^b: wrong; mend; --force goes on as it is$"):
        refuse_or_warn([doubt, sure])
    with pytest.raises(UserError, match=r"^c: odd; join=bpe, or strip_marks=true; force=true goes on as it is$"):
        refuse_or_warn(
            [Finding("c", "odd", "--join bpe, or --strip-marks", True)],
            wording=lambda name, value: f"{name.replace('-', '_')}={value or 'true'}",
        )
    assert refuse_or_warn([doubt, sure], force=True) == ["a: odd; mend", "b: wrong; mend"]


def test_a_sample_is_of_all_parts() -> None:
    corpus = Corpus.from_lines(["a b c d"] * (MOST_TOKENS // 2) + [""] * 10)
    rows = sampled_rows(corpus)
    assert corpus.lengths[rows].sum() == pytest.approx(MOST_TOKENS, rel=0.01)
    assert np.diff(rows).max() <= 3
    assert rows[0] == 0
    assert rows[-1] == len(corpus) - 1


def test_a_hypothesis_is_compared_with_its_own_segment() -> None:
    references = References.from_lines(["a b c d e f g h"] * 9 + ["one two three four five six seven eight"] * 9)
    text = Corpus.from_lines(["one two three four five six seven eight"] * 9, references.vocabulary)
    assert check_texts(text, references, np.arange(9, 18)) is None
    told = check_texts(text, references, np.arange(9))
    assert told is not None
    assert told.beyond_doubt


GERMAN = [
    'der alte Mann sagte : " das ist nicht sein Hund & keine Katze , sondern ihre . "',
    "2010 lag der Preis von Öl | wie immer | über 70 Dollar je Fass .",
    "Peter und Maria leben in New York , nahe am großen Fluss .",
    "weißt du , wann der nächste Zug nach Hamburg fährt ?",
    "wir hatten keine Zeit zu verlieren , und nahmen das Auto .",
    "Es regnet seit Montag im ganzen Land .",
] * 4


@pytest.mark.parametrize("name", CHANGES)
def test_a_mark_of_one_side_of_a_translation(name: str) -> None:
    change, what, _ = CHANGES[name]
    for sides in ((map(change, REFERENCE), GERMAN), (GERMAN, map(change, REFERENCE))):
        told = check_pairs(*map(Corpus.from_lines, sides))
        if name in ("small", "capitals"):  # languages have capitals in unlike places, or none
            assert told is None
        else:
            assert told is not None
            assert not told.beyond_doubt
            assert what in told.found
    assert check_pairs(Corpus.from_lines(map(change, REFERENCE)), Corpus.from_lines(map(change, GERMAN))) is None


def test_translations_are_as_they_are() -> None:
    for source in (CHINESE, ARABIC, RUSSIAN):
        for text in (REFERENCE, [escaped(line) for line in REFERENCE]):
            assert check_pairs(Corpus.from_lines(source[:24]), Corpus.from_lines(text)) is None
    # French has more apostrophes than other languages.
    french = ["l &apos; homme qu &apos; il a vu n &apos; est pas ici ."] * 24
    assert check_pairs(Corpus.from_lines(french), Corpus.from_lines(["he saw the man who is not here ."] * 24)) is None
    told = check_pairs(Corpus.from_lines(REFERENCE), Corpus.from_lines(SYSTEM))
    assert told is not None
    assert "one language twice?" in told.found


def test_texts_of_one_language() -> None:
    vocabulary = Vocabulary()

    def told(text: list[str], other: list[str]) -> Finding | None:
        return check_alike(Corpus.from_lines(text, vocabulary), Corpus.from_lines(other, vocabulary))

    assert told(REFERENCE, SYSTEM[::-1][:7]) is None
    of_case = told([line.lower() for line in REFERENCE], SYSTEM[:12])
    assert of_case is not None
    assert "have capitals" in of_case.found
    assert of_case.remedy == "prepare both alike"
    nothing = told(RUSSIAN, REFERENCE)
    assert nothing is not None
    assert not nothing.beyond_doubt


def test_nothing_is_said_of_real_text(shared_data: Path) -> None:
    """Of lists and references, systems and references, a text and its translation."""
    references = References.read([shared_data / "multi30k" / "dev.en.gz"])
    for path in sorted((shared_data / "moses" / "de-en").glob("run[18].best100.out.gz")):
        pool, warnings = read_pool([path], references)
        assert len(pool) > 1000
        assert warnings == []
    vocabulary = Vocabulary()
    sides = [read_corpus(shared_data / "multi30k" / f"train.{side}.gz", vocabulary) for side in ("de", "en")]
    assert check_pairs(*sides) is None
    assert check_alike(sides[0], read_corpus(shared_data / "multi30k" / "test.de.gz", vocabulary)) is None
    for tokeniser in (None, "13a"):
        how = Preprocessing(tokeniser).function()
        folder = shared_data / "wmt13" / "cs-en"
        references = References.read([folder / "ref.txt.gz"], preprocess=how)
        for path in sorted((folder / "hyp").iterdir())[:3]:
            system = read_corpus(path, references.vocabulary, preprocess=how)
            assert all(check_texts(system, references, of=of) is None for of in (1, 50))
            shouted = Corpus.from_lines([system.text(k).upper() for k in range(len(system))], references.vocabulary)
            told = [check_texts(shouted, references, of=of) for of in (1, 50)]
            assert all(finding is not None and "are in capitals" in finding.found for finding in told)
