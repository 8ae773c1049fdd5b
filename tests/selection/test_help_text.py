from __future__ import annotations

import random
from pathlib import Path

import pytest

from lasw.metrics import UserError
from lasw.selection import Pair, fingerprint_of_pages, read_help, split
from lasw.selection.pool.help_text import paragraphs, tokenised

ENGLISH = """<!DOCTYPE html><html><head><title>Trees</title></head><body>
<h1 id="hd_1" dir="auto"><a name="x"></a>Planting &amp; watering</h1>
<p id="par_1" class="paragraph" dir="auto">Dig a <span class="emph">deep</span> hole,<br>then wait.
It&#39;s a well-known rule: 3.5 metres.</p>
<p class="paragraph">No id here.</p>
<p id="twice">One.</p><p id="twice">Two.</p>
<p id="only_english">Alone it stands.</p>
<p id="image"><img src="a.png" alt="Spade"></p>
<p id="par_2">Press <span class="switchinline">\
<span hidden="true" id="MACx" class="MAC"><span class="key">Cmd</span></span>\
<span hidden="true" id="defaultx"><span class="key">Ctrl</span></span></span> + W now.</p>
</body></html>"""
GERMAN = """<html><body><h1 id="hd_1">Pflanzen und Gie\u00dfen</h1>
<p id="par_1">Graben Sie ein <b>tiefes</b> Loch, dann warten Sie.</p>
<p id="twice">Eins.</p><p id="image"></p>
<p id="par_2">Jetzt Strg + W dr\u00fccken.</p></body></html>"""


def test_paragraphs_by_id() -> None:
    found = paragraphs(ENGLISH)
    assert found == {
        "hd_1": "Planting & watering",
        "par_1": "Dig a deep hole, then wait. It's a well-known rule: 3.5 metres.",
        "only_english": "Alone it stands.",
        "image": "",
        "par_2": "Press Ctrl + W now.",
    }


def test_tokens() -> None:
    assert tokenised("It's a WELL-known rule: 3.5 m (max).") == "it's a well-known rule : 3.5 m ( max ) ."
    assert tokenised("Datei \u2013 \u00d6ffnen\u2026") == "datei \u2013 \u00f6ffnen \u2026"
    assert tokenised("") == ""


def test_pairs_of_two_languages(tmp_path: Path) -> None:
    for language, text in (("en-US", ENGLISH), ("de", GERMAN)):
        folder = tmp_path / "usr/share/help" / language / "text" / "garden"
        folder.mkdir(parents=True)
        (folder / "trees.html").write_text(text, encoding="utf-8")
    (tmp_path / "usr/share/help/en-US/text/garden/other.html").write_text(ENGLISH)
    before = fingerprint_of_pages(tmp_path)
    assert read_help(tmp_path) == [
        ("pflanzen und gie\u00dfen", "planting & watering"),
        (
            "graben sie ein tiefes loch , dann warten sie .",
            "dig a deep hole , then wait . it's a well-known rule : 3.5 metres .",
        ),
        ("jetzt strg + w dr\u00fccken .", "press ctrl + w now ."),
    ]
    (tmp_path / "usr/share/help/en-US/text/garden/other.html").write_text("")
    assert fingerprint_of_pages(tmp_path) != before
    with pytest.raises(UserError, match=r"no help pages in 'fr'.*libreoffice-help-fr"):
        read_help(tmp_path, source="fr")


def pairs(count: int, seed: int) -> list[Pair]:
    draw = random.Random(seed)
    words = [f"w{k}" for k in range(30)]
    return [
        (" ".join(draw.choices(words, k=draw.randint(1, 12))), " ".join(draw.choices(words[:4], k=draw.randint(1, 12))))
        for _ in range(count)
    ]


def test_parts_share_no_sentence_and_nothing_is_lost() -> None:
    given = pairs(2000, 1) + pairs(50, 1)  # the last 50 are repeated
    parts = split(given, dev=40, test=60, seed=3)
    assert (len(parts.dev), len(parts.test)) == (40, 60)
    assert len(parts.train) + 100 + sum(parts.dropped.values()) == len(given)
    assert parts.dropped["repeated source"] >= 20
    held_out = {side for pair in parts.dev + parts.test for side in pair}
    assert not held_out & {side for pair in parts.train for side in pair}
    sources = [pair[0] for pair in parts.train + parts.dev + parts.test]
    assert len(set(sources)) == len(sources)
    for source, target in parts.train + parts.dev + parts.test:
        lengths = len(source.split()), len(target.split())
        assert min(lengths) >= 4
        assert max(lengths) <= 2.5 * min(lengths)
        assert source != target


def test_same_parts_whatever_the_order_and_others_for_another_seed() -> None:
    given = pairs(1000, 2)
    shuffled = random.Random(5).sample(given, len(given))
    assert split(given, dev=20, test=20) == split(shuffled, dev=20, test=20)
    assert split(given, dev=20, test=20).test != split(given, dev=20, test=20, seed=2).test


def test_too_little_text() -> None:
    with pytest.raises(UserError, match=r"usable sentence pairs of 100; expected at least 80.*left out: \d+ length"):
        split(pairs(100, 3), dev=20, test=20)
