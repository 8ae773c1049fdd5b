"""Commands are taken apart as by a shell, and what no system starts is refused before it takes time."""

from __future__ import annotations

import subprocess

import pytest

from lasw.metrics import UserError, command_words


@pytest.mark.parametrize("command", ["a b", "  a  'b c' \"d e\"", r"a\ b 'c\d' \'", "", "a ''", "é 'ü ß'"])
def test_words_are_those_of_a_shell(command: str) -> None:
    shell = subprocess.run(["sh", "-c", rf"printf '%s\0' {command or '_'}"], capture_output=True, check=True, text=True)
    assert command_words(command or "_") == shell.stdout.split("\0")[:-1]


def test_quotes_may_be_left() -> None:
    assert command_words("a '|' b", quotes=True) == ["a", "'|'", "b"]


def test_what_cannot_be_taken_apart() -> None:
    with pytest.raises(UserError) as caught:
        command_words("decode 'open", "decoder", path="file")
    assert str(caught.value) == 'file: decoder "decode \'open" (No closing quotation); expected quotes in pairs'
    with pytest.raises(UserError, match=r"^a --filtercmd of 131073 characters; expected 131072 at most"):
        command_words("'a' " * (1 << 15) + "b", "--filtercmd")
    assert len(command_words("a " * (1 << 16))) == 1 << 16
