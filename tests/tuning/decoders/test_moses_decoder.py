"""Moses as a decoder, with a stand-in for the program: what it is given, what it gives, what is said when it fails."""

from __future__ import annotations

import copy
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build import rows_of
from moses_runs import made
from stand_in_moses import Candidate, system

from lasw.metrics import UserError, Vocabulary
from lasw.tuning import Moses, NBest, Weights, nbest_text, read_weights
from lasw.tuning.decoders.moses.features import parse_shown
from lasw.tuning.decoders.moses.flags import Flags, as_sections

GROUPS = {"LM0": 1, "WordPenalty0": 1, "TranslationModel0": 2}
INI = """\
# a system
[feature]
UnknownWordPenalty
WordPenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=2 path=none
KENLM name=LM0 path=none
[threads]
1
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1.25
TranslationModel0= 0.2 0.3
LM0= 0.5
"""
WORDS = ["ein", "haus", "&#124;", "klein", "<b>x</b>", "und"]


def candidates(sentences: int, seed: int = 1, *, sparse: bool = False) -> dict[str, list[Candidate]]:
    draw = random.Random(seed)
    made: dict[str, list[Candidate]] = {}
    for k in range(sentences):
        found = []
        for _ in range(8):
            words = [draw.choice(WORDS) for _ in range(draw.randint(1, 6))]
            dense = [round(draw.uniform(-9, 0), 3) for _ in range(3)]
            found.append((" ".join(words), [dense[0], -float(len(words)), *dense[1:]], {f"WT_{words[0]}~s": 1.0}))
        made[f"satz {k} {draw.choice(WORDS)}"] = [(t, d, s if sparse else {}) for t, d, s in found]
    return made


SENTENCES = candidates(7)
SOURCE = list(SENTENCES)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "moses.ini").write_text(INI, encoding="utf-8")
    system(tmp_path, SENTENCES, GROUPS)
    return tmp_path


def opened(place: Path, **settings: Any) -> Moses:
    return Moses(place / "moses.ini", moses=str(place / "moses"), folder=place, **settings)


def decoded(decoder: Moses, weights: Weights | None = None, n: int = 3, source: list[str] = SOURCE) -> NBest:
    return decoder.decode(source, weights or decoder.start_weights(), n, Vocabulary())


def test_lists_follow_the_weights_and_hold_the_best(place: Path) -> None:
    decoder = opened(place)
    start = decoder.start_weights()
    assert start.by_group() == {"LM0": [0.5], "WordPenalty0": [-1.25], "TranslationModel0": [0.2, 0.3]}
    weights = Weights(start.names, np.array([-1.0, 0.5, 0.25, -2.0]))
    nbest = decoded(decoder, weights, n=2)
    for k, sentence in enumerate(SOURCE):
        best = sorted({-float(np.dot(weights.dense, dense)): text for text, dense, _ in SENTENCES[sentence]}.items())
        mine = [text for owner, text, _, _ in rows_of(nbest) if owner == k]
        assert mine == [text for _, text in best][:2]


@pytest.mark.parametrize("jobs", [2, 3, 7, 20])
def test_any_number_of_processes_gives_the_same(place: Path, jobs: int) -> None:
    assert rows_of(decoded(opened(place, jobs=jobs))) == rows_of(decoded(opened(place)))


def test_sparse_features(place: Path) -> None:
    system(place, candidates(5, sparse=True), GROUPS, sparse=["WT"])
    decoder = opened(place)
    assert any("WT" in line for line in decoder.remarks)
    source = list(candidates(5, sparse=True))
    plain = decoded(decoder, source=source, n=8)
    start = decoder.start_weights()
    first = plain.hypotheses.text(7).split()[0]  # the last of the first list
    favoured = Weights(start.names, start.dense, {f"WT_{first}~s": 1000.0})
    changed = decoded(decoder, favoured, source=source, n=8)
    assert changed.hypotheses.text(0).split()[0] == first
    assert plain.sparse is not None


def test_sparse_weights_named_by_the_ini_or_an_option_are_where_it_starts(place: Path) -> None:
    system(place, candidates(5, sparse=True), GROUPS, sparse=["WT"])
    (place / "sparse").write_text("WT_a~b 0.25\n", encoding="utf-8")
    assert opened(place, flags="-weight-file sparse").start_weights().sparse == {"WT_a~b": 0.25}
    (place / "moses.ini").write_text(INI + "[weight-file]\nsparse\n", encoding="utf-8")
    assert opened(place).start_weights().sparse == {"WT_a~b": 0.25}


def test_the_written_ini_is_accepted_and_has_the_options(place: Path) -> None:
    decoder = opened(place, flags="-th 4 -drop-unknown -v 0")
    weights = Weights(decoder.start_weights().names, np.array([0.1, 0.2, 0.3, 0.4]))
    decoder.write_configuration(place / "tuned.ini", weights, ["BLEU 0.4"])
    text = (place / "tuned.ini").read_text(encoding="utf-8")
    assert text.startswith("# BLEU 0.4\n# a system\n")
    assert "[threads]\n4\n" in text
    assert text.count("[threads]") == 1
    assert "[drop-unknown]\ntrue\n" in text
    assert read_weights(place / "tuned.ini").by_group()["TranslationModel0"] == [0.3, 0.4]
    again = Moses(place / "tuned.ini", moses=str(place / "moses"), folder=place)
    assert rows_of(decoded(again)) == rows_of(decoded(decoder, weights))


def test_an_old_moses(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN", "old")
    system(place, SENTENCES, {"d": 1, "lm": 1, "tm": 2})
    (place / "moses.ini").write_text("[weight-d]\n0.3\n[weight-l]\n0.5\n[weight-t]\n0.2\n0.4\n", encoding="utf-8")
    decoder = opened(place)
    assert any("does not tell its features" in line for line in decoder.remarks)
    nbest = decoded(decoder)
    assert nbest.names.groups == (("d", 1), ("lm", 1), ("tm", 2))
    assert nbest.score[0] == pytest.approx(nbest.dense[0] @ decoder.start_weights().dense, rel=1e-4)


def test_an_old_ini_of_a_new_moses(place: Path) -> None:
    shown = "Distortion0= 0.3\nLM0= 0.5\nWordPenalty0= -1\nTranslationModel0= 0.2 0.4\nUnknownWordPenalty0 UNTUNEABLE\n"
    (place / "moses").write_text(f"#!{sys.executable}\nprint({shown!r}, end='')\n")
    old = "[weight-d]\n0.3\n[weight-l]\n0.5\n[weight-t]\n0.2\n0.4\n[weight-w]\n-1\n"
    (place / "moses.ini").write_text(old)
    decoder = opened(place)
    start = decoder.start_weights()
    assert start.names.groups == (("Distortion0", 1), ("LM0", 1), ("WordPenalty0", 1), ("TranslationModel0", 2))
    assert start.dense.tolist() == [0.3, 0.5, -1.0, 0.2, 0.4]
    assert decoder.remarks == ()
    decoder.write_configuration(place / "tuned.ini", Weights(start.names, np.array([1.0, 2.0, 3.0, 4.0, 5.0])))
    assert read_weights(place / "tuned.ini").by_group() == {"d": [1.0], "lm": [2.0], "tm": [4.0, 5.0], "w": [3.0]}


def test_confusion_networks_are_cut_between_sentences(place: Path) -> None:
    texts = [text for _, text, _, _ in rows_of(decoded(opened(place)))]
    networks = {f"ein{k} 0.5 der 0.5\nhaus 1": found for k, found in enumerate(SENTENCES.values())}
    system(place, networks, GROUPS)
    source = [network + "\n" for network in networks]  # the line that ends it is blank
    one = decoded(opened(place, inputtype=1), source=source)
    assert rows_of(one) == rows_of(decoded(opened(place, inputtype=1, jobs=3), source=source))
    assert [text for _, text, _, _ in rows_of(one)] == texts


def test_lists_go_through_a_command(place: Path) -> None:
    sentences = {sentence: [(f"a@@ b c{k}", [0.0] * 4, {})] for k, sentence in enumerate(SOURCE)}
    system(place, sentences, GROUPS)
    assert decoded(opened(place, transform="bpe")).hypotheses.text(2) == "ab c2"
    assert decoded(opened(place, transform="sed s/@@//", jobs=2)).hypotheses.text(6) == "a b c6"
    piped = "sh -c \"sed 's/@@//' | sed 's/ b / d /'\""
    assert decoded(opened(place, transform=piped)).hypotheses.text(6) == "a d c6"
    with pytest.raises(UserError, match=r"'|' in the command, which no shell reads; write sh -c"):
        opened(place, transform="sed s/@@// | cat")
    with pytest.raises(UserError, match="no program 'no-such-program'"):
        opened(place, transform="no-such-program")
    with pytest.raises(UserError, match=r"'cat nowhere' ended with code 1.*nowhere"):
        decoded(opened(place, transform="cat nowhere"))


def test_untuneable_components_keep_their_weights(place: Path) -> None:
    shown = "LM0= 0.5\nWordPenalty0= -1\nTranslationModel0= 0.2 UNTUNEABLECOMPONENT\nUnknownWordPenalty0 UNTUNEABLE\n"
    program = place / "moses"
    program.write_text(f"#!{sys.executable}\nprint({shown!r}, end='')\n")
    decoder = opened(place)
    start = decoder.start_weights()
    assert start.by_group() == {"LM0": [0.5], "WordPenalty0": [-1.25], "TranslationModel0": [0.2]}
    decoder.write_configuration(place / "tuned.ini", Weights(start.names, np.array([1.0, 2.0, 3.0])))
    assert read_weights(place / "tuned.ini").by_group()["TranslationModel0"] == [3.0, 0.3]


def test_what_show_weights_prints() -> None:
    shown = parse_shown("LM0= 0.5\nT= 1e-05 -2 UNTUNEABLECOMPONENT\nWT=\nU UNTUNEABLE\nDefined parameters:\n")
    assert shown is not None
    assert shown.groups == {"LM0": [0.5], "T": [1e-05, -2.0, None]}
    assert shown.untuneable == ("U",)
    assert shown.sparse == ("WT",)
    assert parse_shown("hello\n") is None


def test_a_weight_that_the_ini_lacks_starts_with_1(place: Path) -> None:
    (place / "moses.ini").write_text(INI.replace("LM0= 0.5\n", ""), encoding="utf-8")
    decoder = opened(place)
    assert decoder.start_weights().by_group()["LM0"] == [1.0]
    assert any("no weight for LM0" in line for line in decoder.remarks)
    decoder.write_configuration(place / "tuned.ini", decoder.start_weights())
    assert read_weights(place / "tuned.ini").by_group()["LM0"] == [1.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("LM0= 0.5", "LM0= 0.5 0.1"), "2 weights for LM0; expected 1"),
        (("LM0= 0.5", "LM0= 0.5\nOther= 1"), "weights for Other, which this Moses does not have"),
    ],
)
def test_features_that_do_not_fit_are_named(place: Path, change: tuple[str, str], message: str) -> None:
    (place / "moses.ini").write_text(INI.replace(*change), encoding="utf-8")
    (place / "lenient").write_text(
        f"#!{sys.executable}\nprint('LM0= 0.5\\nWordPenalty0= 1\\nTranslationModel0= 1 1')\n"
    )
    (place / "lenient").chmod(0o755)
    with pytest.raises(UserError, match=message):
        Moses(place / "moses.ini", moses=str(place / "lenient"))


def test_an_ini_that_moses_does_not_take(place: Path) -> None:
    (place / "moses.ini").write_text(INI + "Other= 1\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"does not take .*moses.ini .*no feature function.*Other"):
        opened(place)


def test_of_what_moses_said_the_reason_is_shown(place: Path) -> None:
    """A wrong option is no old Moses, though it prints all options, show-weights among them."""
    with pytest.raises(UserError, match=r"does not take .*code 1\); its last lines: illegal switch: -nosuch$"):
        opened(place, flags="-nosuch 3")
    (place / "moses.ini").write_text(INI.replace("LM0= 0.5", "LM0= 0.5 2"), encoding="utf-8")
    with pytest.raises(UserError, match=r"its last lines: Exception: \S+ / FATAL ERROR: .*LM0 \(features: 1 vs"):
        opened(place)


def test_blank_lines_have_lists_of_nothing(place: Path) -> None:
    source = [SOURCE[0], "", "  ", SOURCE[1]]
    for jobs in (1, 4):
        found = rows_of(decoded(opened(place, jobs=jobs), source=source))
        assert [(k, text) for k, text, _, _ in found if k in (1, 2)] == [(1, ""), (2, "")]
        assert {k for k, *_ in found} == {0, 1, 2, 3}


def test_bytes_of_another_encoding_in_the_ini(place: Path) -> None:
    latin = INI.replace("# a system", "# gr\xfc\xdfe").encode("latin-1")
    assert b"\xfc" in latin
    (place / "moses.ini").write_bytes(latin)
    decoder = opened(place)
    assert decoder.start_weights().by_group()["LM0"] == [0.5]
    decoder.write_configuration(place / "tuned.ini", decoder.start_weights())
    assert b"# gr\xfc\xdfe\n" in (place / "tuned.ini").read_bytes()
    (place / "moses.ini").write_bytes(latin.replace(b"LM0", b"LM\xfc"))
    with pytest.raises(UserError, match="no UTF-8"):
        opened(place)


@pytest.mark.parametrize(
    ("ini", "moses", "message"),
    [
        ("moses.ini", "moses.ini", "configuration file|name the program first"),
        ("moses", "moses", "a program, no moses.ini"),
        ("nowhere.ini", "moses", "no such file"),
        ("moses.ini", "nowhere", "no program"),
        ("stand-in.pool", "moses", "no moses.ini"),
        ("blank.ini", "moses", "no weights in it"),
    ],
)
def test_programs_and_configurations_that_are_none(place: Path, ini: str, moses: str, message: str) -> None:
    (place / "blank.ini").write_text("[feature]\nKENLM\n")
    with pytest.raises(UserError, match=message):
        Moses(place / ini, moses=str(place / moses))


def test_an_input_type_that_is_none(place: Path) -> None:
    with pytest.raises(ValueError, match="inputtype is -1, expected at least 0"):
        Moses(place / "moses.ini", moses=str(place / "moses"), inputtype=-1)


@pytest.mark.parametrize(
    ("knob", "jobs", "message"),
    [
        ("crash=5", 1, r"killed by signal SIGSEGV at sentence 5 of 7 \('satz 4 .*about to translate satz 4"),
        ("crash=5", 2, r"SIGSEGV at sentence 5 of 7"),
        ("crash=1", 1, "before it had translated a sentence"),
        ("crash=4", 2, "before it had translated any of the sentences 4-7"),
        ("fewer=4", 1, r"lists of 4 sentences, expected 7; the first without is sentence 5 \('satz 4"),
        ("fewer=5", 3, "lists of 1 sentences, expected 3; the first without is sentence 6"),
        ("rename=LM0:LM1", 1, "LM"),
        ("extra=New0", 1, "New0"),
    ],
)
def test_failures_name_the_sentence_or_the_feature(
    place: Path, monkeypatch: pytest.MonkeyPatch, knob: str, jobs: int, message: str
) -> None:
    decoder = opened(place, jobs=jobs)
    monkeypatch.setenv("STAND_IN", knob)
    with pytest.raises(UserError, match=message):
        decoded(decoder)


def test_a_sentence_without_translation_is_no_failure(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN", "silent=3")
    assert set(decoded(opened(place)).owner.tolist()) == {0, 1, 3, 4, 5, 6}
    assert set(decoded(opened(place, jobs=7)).owner.tolist()) == {0, 1, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("-f other.ini", "-f among the options of the decoder"),
        ("--config x", "-config among"),
        ("-n-best-list a 3", "-n-best-list among"),
        ("-t", "-t among .*more than words"),
        ("-report-segmentation", "more than words"),
        ("4 -threads", "'4' belongs to no option"),
        ("-x 'a", "No closing quotation"),
    ],
)
def test_options_that_are_not_to_be_given(place: Path, flags: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        opened(place, flags=flags)


def test_options_as_sections() -> None:
    flags = Flags.parsed("-threads 4 -dl -1 --xml-input exclusive -dd")
    assert flags.words() == ["-threads", "4", "-dl", "-1", "-xml-input", "exclusive", "-dd"]
    lines = as_sections(["[threads] # many", "1", "", "[a]", "x", "# end", ""], flags)
    assert lines == [
        "[a]", "x", "# end",
        "", "[disable-discarding]", "true", "", "[distortion-limit]", "-1",
        "", "[threads]", "4", "", "[xml-input]", "exclusive", "",
    ]  # fmt: skip
    assert as_sections(["a", ""], Flags()) == ["a", ""]


def test_an_interrupt_stops_what_runs(place: Path) -> None:
    body = (
        "import sys; from lasw.tuning import Moses; from lasw.metrics import Vocabulary\n"
        f"d = Moses({str(place / 'moses.ini')!r}, moses={str(place / 'moses')!r})\n"
        f"d.decode({SOURCE!r}, d.start_weights(), 3, Vocabulary())\n"
    )
    child = place / "child"
    environment = {**os.environ, "STAND_IN": f"sleep=5,child={child}"}
    running = subprocess.Popen(
        [sys.executable, "-c", body],
        env=environment,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # where the tests run it may be ignored
    )
    deadline = time.monotonic() + 60
    while not (child.exists() and child.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait(30)
    number = int(child.read_text())
    deadline = time.monotonic() + 10
    while Path(f"/proc/{number}").exists() and "Z" not in Path(f"/proc/{number}/stat").read_text().rsplit(")")[1][:3]:
        assert time.monotonic() < deadline, "the decoder's own child is still there"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "flags", ["-x '[weight]'", "-x 'a\n[weight]\nLM0= 1'", "'-a]' 1", "-x '#'", "-x ''", "-x 'a\rb'", "-x '[a'"]
)
def test_options_open_no_section_of_a_moses_ini(flags: str) -> None:
    with pytest.raises(UserError, match=r"expected what can stand on a line of a moses.ini"):
        Flags.parsed(flags)


def test_options_with_values_stay_what_they_are() -> None:
    text = "-threads 4 -beam-threshold 1e-05 -factor-delimiter '|' -mark-unknown-prefix 'a b' -drop-unknown"
    words = ["-threads", "4", "-beam-threshold", "1e-05", "-factor-delimiter", "|", "-mark-unknown-prefix", "a b"]
    assert Flags.parsed(text).words() == [*words, "-drop-unknown"]


@pytest.mark.parametrize("flags", ["", "-threads 4"])
class TestKept:
    """A process that goes on from part to part."""

    def test_it_gives_what_a_new_one_would_and_loads_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str
    ) -> None:
        source, new, kept = self.opened(tmp_path, flags)
        monkeypatch.setenv("STAND_IN", f"loads={tmp_path / 'loads'}")
        other = Weights(new.start_weights().names, -new.start_weights().dense)
        for weights in (new.start_weights(), other):
            before = len(self.loads(tmp_path))
            for part in ([0, 3, 5], [1, 2], list(range(6, 16)), [4]):
                lists = kept.decode_some(source, np.array(part), weights, 5, Vocabulary())
                expected = new.decode_some(source, np.array(part), weights, 5, Vocabulary())
                assert "".join(nbest_text(lists)) == "".join(nbest_text(expected))
            assert len(self.loads(tmp_path)) == before + 1 + 4

    def test_failures_name_the_sentence_among_all(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str
    ) -> None:
        source, _, kept = self.opened(tmp_path, flags)
        monkeypatch.setenv("STAND_IN", "crash=5")
        weights = kept.start_weights()
        assert len(kept.decode_some(source, np.array([0, 1]), weights, 5, Vocabulary())) == 10
        with pytest.raises(UserError, match=r"signal SIGSEGV at sentence 5 of 16 \('satz 4"):
            kept.decode_some(source, np.array([2, 3, 4]), weights, 5, Vocabulary())
        monkeypatch.setenv("STAND_IN", "fewer=5")
        with pytest.raises(UserError, match="ended with code 0 at sentence 6 of 16"):
            kept.decode_some(source, np.array([3, 4, 5, 6]), weights, 5, Vocabulary())

    def test_a_sentence_without_a_translation(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str
    ) -> None:
        source, _, kept = self.opened(tmp_path, flags)
        monkeypatch.setenv("STAND_IN", "silent=5")
        monkeypatch.setattr("lasw.tuning.decoders.moses.kept._PATIENCE", 0.1)
        for _ in range(2):  # its own list does not tell that it is complete
            lists = kept.decode_some(source, np.array([3, 4]), kept.start_weights(), 5, Vocabulary())
            assert lists.owner.tolist() == [0] * 5

    def test_what_tells_that_a_part_is_complete_is_the_shortest_sentence_of_all(
        self, tmp_path: Path, flags: str
    ) -> None:
        source, new, kept = self.opened(tmp_path, flags)
        assert len(source[0]) == min(map(len, source)) < len(source[12])
        kept.decode_some(source, np.array([12, 13]), kept.start_weights(), 5, Vocabulary())
        assert kept._kept is not None
        printed = kept._kept[1].whole_list().read_text(encoding="utf-8").splitlines()
        again = new.decode_some(source, np.array([0]), new.start_weights(), 5, Vocabulary())
        assert [line.split(" ||| ")[1].split() for line in printed if line.startswith("2 ")][:1] == [
            again.hypotheses.tokens(0)
        ]

    @staticmethod
    def opened(folder: Path, flags: str) -> tuple[list[str], Moses, Moses]:
        made(folder)
        source = (folder / "dev.de").read_text(encoding="utf-8").splitlines()
        new = Moses(folder / "moses.ini", moses=str(folder / "moses"), folder=folder, flags=flags)
        kept = copy.copy(new)
        kept.hold(source)
        return source, new, kept

    @staticmethod
    def loads(folder: Path) -> list[str]:
        path = folder / "loads"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
