"""A key has one name, whatever form it comes in."""

from __future__ import annotations

import pytest

from hindsight_core.panel.keys import Key, key


@pytest.mark.spec("pi/U-10")
@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("tab", "tab"), ("\t", "tab"), ("\x1b[Z", "shift+tab"), ("shift+tab", "shift+tab"),
        ("\x1b[A", "up"), ("\x1bOB", "down"), ("esc", "escape"), ("\x1b", "escape"),
        ("return", "enter"), ("\r", "enter"), ("pageUp", "pageup"), ("\x1b[6~", "pagedown"),
        ("\x1b[13u", "enter"), ("\x1b[9;2u", "shift+tab"), ("\x1b[27;1u", "escape"),
        ("\x03", "ctrl+c"), ("ctrl+h", "backspace"), ("\x1b[99;5u", "ctrl+c"), ("a", "a"),
        ("\x1b[97u", "a"), ("ß", "ß"), ("\x1b[?", "unknown"), ("", ""), ("\x00", "unknown"),
    ],
)  # fmt: skip
def test_names(given: str, name: str) -> None:
    assert key(given).name == name


def test_what_types_and_what_does_not() -> None:
    assert key("a").text == "a"
    assert key("space") == key(" ") == key("\x1b[32u") == Key(" ", " ")
    assert key("tab").text == ""
    assert key("text", text="two\nlines\x00") == Key("text", "two lines")
    assert key("\x1b[200~pasted\ttext\x1b[201~") == Key("text", "pasted text")
