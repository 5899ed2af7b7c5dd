from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact, Provenance
from hindsight_core.sharing.accept import taken
from hindsight_core.sharing.fact_file import FactFile, deleted_form, parse, render, shared_form

SAID = datetime(2030, 3, 4, 9, 30, tzinfo=UTC)
FACT = Fact(
    id="f1",
    text="CART_TTL is 72 h",
    kind="decision",
    category="config",
    timestamp=SAID.replace(microsecond=5),
    created_at=SAID,
    tags=("ttl", "cart"),
    metadata={"session": "s1", "note": "internal"},
    provenance=Provenance(
        source="session-note", session_id="s1", entry_ids=("e1",), speaker="user", quote="make it"
    ),
)
LINE = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).map(
    lambda text: " ".join(text.split())
)


def test_the_file_is_a_field_a_line_and_the_text():
    assert render(replace(shared_form(FACT), changed=SAID)) == (
        "---\nid: f1\nkind: decision\ncategory: config\nstate: valid\n"
        "said: 2030-03-04T09:30:00Z\nspeaker: user\ntag: cart\ntag: ttl\n"
        "changed: 2030-03-04T09:30:00Z\n---\nCART_TTL is 72 h\n"
    )


def test_sessions_quotes_and_metadata_are_not_shared():
    text = render(shared_form(FACT))
    for private in ("s1", "e1", "make it", "internal"):
        assert private not in text


def test_a_fact_taken_over_keeps_what_only_its_bank_knows():
    form = replace(shared_form(FACT), text="CART_TTL is 96 h")
    assert taken(form, FACT) == replace(FACT, text="CART_TTL is 96 h")
    new = taken(form, None)
    assert (new.id, new.provenance.source, new.provenance.speaker) == ("f1", "shared", "user")
    assert shared_form(new) == form


@given(text=LINE.filter(bool), tags=st.lists(LINE.filter(bool)), reason=LINE | st.none())
def test_what_is_written_is_read_back(text, tags, reason):
    form = FactFile(id="f1", text=text, tags=tuple(sorted(set(tags))), reason=reason or None)
    assert parse(render(form), stem="f1") == form


def test_a_person_writes_the_text_alone():
    form = parse("\ufeffNever deploy\r\non Friday.\r\n", stem="our-rule")
    assert form == FactFile(id=fact_id("Never deploy on Friday."), text="Never deploy on Friday.")
    assert parse("Edited\n", stem="a" * 20).id == "a" * 20


def test_fields_of_a_later_version_are_kept():
    text = "---\nid: f1\nkind: fact\nstate: valid\nmood: calm\n---\nA fact\n"
    form = parse(text, stem="f1")
    assert form.more == (("mood", "calm"),)
    assert render(form) == text


def test_a_deleted_fact_leaves_no_words():
    text = render(deleted_form("f1"))
    assert text == "---\nid: f1\nstate: deleted\n---\n"
    assert parse(text, stem="f1") == deleted_form("f1")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no text"),
        ("---\nid: f1\n---\n", "no text"),
        ("---\nid: f1\nA fact\n", "no `key: value`"),
        ("---\nid: f1\n", "have no end"),
        ("---\nstate: gone\n---\nA fact", "none of valid"),
        ("---\nsaid: yesterday\n---\nA fact", "ISO 8601"),
        ("---\nversion: 2\n---\nA fact", "newer than this program"),
    ],
)
def test_what_is_wrong_is_said(text, says):
    with pytest.raises(ValueError, match=says):
        parse(text, stem="x")


def test_the_digest_is_of_the_content():
    form = shared_form(FACT)
    assert replace(form, changed=SAID).digest == form.digest
    assert replace(form, text="other").digest != form.digest


@pytest.mark.parametrize(
    "fact_id_", ["../../etc/passwd", "Ab", "a/b", ".x", "x" * 300, "con fusion"]
)
def test_every_id_has_a_harmless_file_name(fact_id_):
    name = FactFile(id=fact_id_, text="x").name
    assert name.startswith("x-")
    assert name.removesuffix(".md").replace("-", "").isalnum()
