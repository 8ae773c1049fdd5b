"""What every decoder promises, whichever it is: each one is made here with little behind it.

A decoder that can be made without settings needs nothing here; another one gets a line in `MADE`, which makes it.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build import everything
from stand_in_moses import system

from lasw.metrics import Registry, UserError, Vocabulary, parameters
from lasw.tuning import DECODERS, Decoder, Weights, read_weights

SOURCE = ["ein haus", "", "zwei"]
LIST = """\
0 ||| a house ||| LM0= -1 TM0= -1 0 ||| -1
0 ||| one house ||| LM0= -2 TM0= 0 -1 ||| -2
0 ||| a hut ||| LM0= -3 TM0= -1 -1 ||| -3
2 ||| two ||| LM0= -1 TM0= 1 0 ||| 0
2 ||| a pair ||| LM0= -1 TM0= -1 -1 ||| -1
"""
INI = """\
[feature]
UnknownWordPenalty
KENLM name=LM0
PhraseDictionaryMemory name=TranslationModel0 num-features=2
[weight]
UnknownWordPenalty0= 1
LM0= 0.5
TranslationModel0= 0.2 0.25
"""


def lists(folder: Path) -> tuple[str, ...]:
    (folder / "list").write_text(LIST, encoding="utf-8")
    return (str(folder / "list"),)


def command(folder: Path, _: pytest.MonkeyPatch) -> dict[str, Any]:
    lists(folder)
    (folder / "weights.json").write_text('{"dense": {"LM0": [1], "TM0": [0.5, 0.25]}}', encoding="utf-8")
    (folder / "decode").write_text(f"#!{sys.executable}\nprint(open('list').read(), end='')\n", encoding="utf-8")
    (folder / "decode").chmod(0o755)
    return {"command": "./decode {weights}", "initial": folder / "weights.json", "folder": folder}


def moses(folder: Path, _: pytest.MonkeyPatch) -> dict[str, Any]:
    (folder / "moses.ini").write_text(INI, encoding="utf-8")
    candidates = {
        "ein haus": [("a house", [-1.0, -1.0, 0.0], {}), ("one house", [-2.0, 0.0, -1.0], {})],
        "zwei": [("two", [-1.0, 1.0, 0.0], {}), ("a pair", [-1.0, -1.0, -1.0], {})],
        "": [("", [0.0, 0.0, 0.0], {})],
    }
    # With weights for every sentence it gets sentences that name theirs; all are equal here.
    candidates |= {f'<seg weight-setting="{k}">{s}</seg>': candidates[s] for k, s in enumerate(SOURCE)}
    system(folder, candidates, {"LM0": 1, "TranslationModel0": 2})
    return {"ini": folder / "moses.ini", "moses": str(folder / "moses"), "folder": folder}


def thot(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    described = {"format": 1, "decoder": "thot", "phrase_length": 7, "alignment_model": "fast_align"}
    (folder / "system.json").write_text(json.dumps(described), encoding="utf-8")

    def answers(
        _workers: object, requests: list[tuple[str, list[float], int, int, bool]], _told: object
    ) -> list[list[Any]]:
        features = [((-1.0, *[0.5] * 7), "a"), ((-2.0, *[0.25] * 7), "b")]
        return [
            [(f"{s} {text}", h, float(np.dot(w, h))) for h, text in features][:keep] for s, w, _, keep, _ in requests
        ]

    monkeypatch.setattr("lasw.tuning.decoders.thot.decoder.ask_all", answers)
    monkeypatch.setattr(DECODERS.find("thot"), "_load", lambda self, sentences: None)
    return {"model": folder}


MADE: dict[str, Callable[[Path, pytest.MonkeyPatch], dict[str, Any]]] = {
    "thot": thot,
    "moses": moses,
    "command": command,
    "fixed": lambda folder, _: {"lists": lists(folder)},
    "replay": lambda folder, _: {"lists": lists(folder)},
}


@pytest.mark.parametrize("name", list(DECODERS))
class TestDecoders:
    @pytest.fixture
    def decoder(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Decoder:
        return DECODERS.find(name)(**MADE.get(name, lambda *_: {})(tmp_path, monkeypatch))

    def test_the_class(self, name: str) -> None:
        decoder = DECODERS.find(name)
        assert issubclass(decoder, Decoder)
        assert not inspect.isabstract(decoder)
        assert decoder.name == name
        settings = parameters(decoder)
        assert set(settings) == set(inspect.signature(decoder).parameters)
        assert [key for key, setting in settings.items() if not setting.help] == []
        required = [key for key, setting in settings.items() if setting.required]
        assert name in MADE or not required, f"a line in MADE is missing, which gives {required}"

    def test_lists_have_the_features_of_the_start_weights_best_first(self, decoder: Decoder) -> None:
        start, vocabulary = decoder.start_weights(), Vocabulary()
        nbest = decoder.decode(SOURCE, start, 2, vocabulary)
        assert nbest.names == start.names
        assert nbest.hypotheses.vocabulary is vocabulary
        assert np.isfinite(nbest.dense).all()
        assert {0, 2} <= set(nbest.owner.tolist()) <= {0, 1, 2}
        assert (np.diff(nbest.owner) >= 0).all()
        scores = nbest.model_scores(start.dense)
        assert (np.diff(scores)[np.diff(nbest.owner) == 0] <= 0).all()
        assert everything(decoder.decode(SOURCE, start, 2, Vocabulary())) == everything(nbest)

    def test_weights_for_every_sentence_or_one_line_that_it_cannot(self, decoder: Decoder) -> None:
        start = decoder.start_weights()
        if type(decoder)._decode_each is Decoder._decode_each:
            with pytest.raises(UserError, match=f"{decoder.name} cannot translate with other weights for every sent"):
                decoder.decode_each(SOURCE, [start] * 3, 2, Vocabulary())
            return
        nbest = decoder.decode_each(SOURCE, [start] * 3, 2, Vocabulary())
        assert everything(nbest) == everything(decoder.decode(SOURCE, start, 2, Vocabulary()))
        with pytest.raises(ValueError, match="2 weights for 3 sentences"):
            decoder.decode_each(SOURCE, [start] * 2, 2, Vocabulary())

    def test_its_configuration_holds_the_weights(self, decoder: Decoder, tmp_path: Path) -> None:
        start = decoder.start_weights()
        weights = Weights(start.names, np.linspace(1 / 3, 0.5, len(start.dense)))
        path = tmp_path / f"new.{decoder.configuration_name}"
        assert decoder.write_configuration(path, weights, ["BLEU 0.4"]) == path.exists()
        if path.exists():
            text = path.read_text(encoding="utf-8")
            assert all(repr(value) in text for value in weights.dense.tolist())
        if path.suffix in (".ini", ".json"):
            groups = read_weights(path).by_group()
            assert {name: groups[name] for name in start.names.slices} == weights.by_group()

    def test_its_files_are_there(self, decoder: Decoder) -> None:
        assert decoder.input_files() or decoder.name not in MADE
        assert all(Path(path).exists() for path in decoder.input_files())


def test_every_decoder_is_held_to_this() -> None:
    assert isinstance(DECODERS, Registry)
    assert set(MADE) <= set(DECODERS)
    with pytest.raises(UserError, match=r"unknown decoder 'mose'.*moses"):
        DECODERS.find("mose")
