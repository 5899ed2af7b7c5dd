"""Names from folders."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.config.slugs import remote_slug, slug


@pytest.mark.spec("pi/C-12")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("My Project Bank", "my-project-bank"),
        ("--a__b..c--", "a-b-c"),
        ("x" * 70, "x" * 64),
        ("x..y", "x-y"),
        ("100% done", "100-done"),
        ("a::b", "a-b"),
        ("CON", "con"),
        ("trailing. ", "trailing"),
        ("", "default"),
        ("!!!", "default"),
    ],
)
def test_ascii(name, expected):
    assert slug(name) == expected


@pytest.mark.spec("pi/D-21", "br/BR-70")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("проект", "проект"),
        ("Проект Икс", "проект-икс"),
        ("日本語 プロジェクト", "日本語-プロジェクト"),
        ("हिन्दी", "हिन्दी"),
        ("emoji-🚀", "emoji"),
    ],
)
def test_other_scripts_keep_their_letters(name, expected):
    assert slug(name) == unicodedata.normalize("NFC", expected)


@pytest.mark.spec("br/BR-70")
def test_composed_and_decomposed_names_are_one():
    assert slug(unicodedata.normalize("NFD", "Café")) == slug("café") == "café"


@given(st.text())
def test_a_slug_is_its_own_slug_and_names_no_other_folder(name):
    made = slug(name)
    assert slug(made) == made
    assert 1 <= len(made) <= 64
    assert not set(made) & set("/\\:. \x00")


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_follows_the_older_rule_exactly(name):
    import re

    older = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:64].strip("-") or "default"
    assert slug(name) == older


@pytest.mark.spec("s1/S-ID-2")
def test_the_shorter_form():
    assert slug("A.B" * 40, limit=48, empty="repo") == ("a-b" * 40)[:48].strip("-")
    assert slug("--", limit=48, empty="repo") == "repo"


@pytest.mark.spec("s1/S-ID-3")
@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:luxus/finalform.git",
        "https://tok@github.com/luxus/finalform",
        "ssh://git@github.com/luxus/finalform.git",
        "https://github.com/luxus/finalform.git/",
    ],
)
def test_a_remote_is_the_same_in_every_form(url):
    assert remote_slug(url) == "github-com-luxus-finalform"
