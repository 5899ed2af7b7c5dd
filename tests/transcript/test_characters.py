"""Characters that no store and no terminal should see; long text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.transcript.characters import clip, cut, drop_encoded, repair


@pytest.mark.spec("br/BR-46")
def test_nul_surrogates_and_terminal_codes_go_and_words_stay() -> None:
    dirty = "W\0s\0l\0 works; price \ud83d; tail \x07\x1b[31mred\x1b[0m"
    assert repair(dirty) == "Wsl works; price \ufffd; tail red"


@pytest.mark.spec("br/BR-46")
@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("\ud83d\ude00 pair", "\U0001f600 pair"),
        ("a\r\nb\rc\u2028d\u0085e\x0bf", "a\nb\nc\nd\ne\nf"),
        ("tab\tstays", "tab\tstays"),
        ("pay\u202egnp.exe\u202c now", "paygnp.exe now"),
        ("zero\u200bwidth \u2066iso\u2069 \ufeffbom", "zerowidth iso bom"),
        ("tags\U000e0041\U000e0042", "tags"),
        ("\x1b]0;title\x07words", "words"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("cut \x1b]0;words without an end", "cut 0;words without an end"),
        ("c1 \x9b31m\x80x", "c1 31mx"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
    ],
)  # fmt: skip
def test_repairs(dirty: str, clean: str) -> None:
    assert repair(dirty) == clean


@pytest.mark.spec("br/BR-46")
@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_repaired_text_can_be_stored_and_repairing_again_changes_nothing(text: str) -> None:
    clean = repair(text)
    assert repair(clean) == clean
    assert clean.encode().decode() == clean
    assert not set(clean) & {*map(chr, range(9)), *map(chr, range(0xB, 0x20)), "\x7f"}


@pytest.mark.spec("br/BR-59")
def test_a_cut_keeps_head_and_tail_and_says_what_is_missing() -> None:
    text = "error was: " + "x" * 3_000_000 + " -- fix: raise ulimit"
    short = cut(text, 8_000)
    assert len(short) <= 8_000
    assert short.startswith("error was: ") and short.endswith("-- fix: raise ulimit")
    head, _, tail = short.partition("\n[... ")
    missing, _, tail = tail.partition(" characters cut ...]\n")
    assert int(missing) + len(head) + len(tail) == len(text)
    assert cut(short, 8_000) is short
    assert cut("short", 8_000) == "short"
    assert cut("x" * 500, 100) == "x" * 99 + "…"
    assert cut("x", 0) == ""


@pytest.mark.spec("br/BR-59")
def test_encoded_data_is_replaced_by_a_note() -> None:
    image = "data:image/png;base64," + "QUJD" * 400_000
    assert drop_encoded(f"see {image} above") == (
        "see image/png [1600000 characters of encoded data] above"
    )
    words = "a sentence of ordinary words " * 100
    assert drop_encoded(words) == words


@given(st.text(max_size=700), st.integers(0, 600))
def test_a_cut_is_never_longer_than_allowed(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit or len(text) <= limit
    assert len(clip(text, limit)) <= max(limit, 1)
