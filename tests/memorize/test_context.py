"""Who speaks in a write, and its metadata."""

from __future__ import annotations

import pytest

from hindsight_core.memorize.context import retain_context, retain_metadata

PROJECT = ("session-note", "agent-note", "user-edit")


@pytest.mark.spec("pi/W-02", "pi/W-03")
@pytest.mark.parametrize("source", PROJECT)
def test_what_a_context_must_say(prompts, source):
    text = retain_context(prompts, project="shop", source=source, language="Russian")
    assert 'software project "shop"' in text
    assert "knowledge base" in text
    assert "SPEAKER:" in text
    assert "third person" in text
    assert "The AI coding assistant is NOT the speaker" in text
    assert "nothing here is an experience of the assistant" in text
    assert "write every extracted fact in Russian" in text
    assert "whatever language this note happens to be in" in text
    assert "verbatim" in text


@pytest.mark.spec("pi/W-02")
def test_the_sources_read_differently(prompts):
    texts = {retain_context(prompts, project="shop", source=s, language="en") for s in PROJECT}
    assert len(texts) == 3


@pytest.mark.spec("pi/W-05")
def test_a_note_about_the_person_names_no_project(prompts):
    text = retain_context(prompts, project="shop", source="user-note", language="ru")
    assert "shop" not in text
    assert "project" not in text
    assert "about the person" in text
    assert "SPEAKER:" in text
    assert "The AI coding assistant is NOT the speaker" in text
    assert "write every extracted fact in ru" in text
    made = retain_metadata(source="user-note", project="shop", language="ru", host="pi")
    assert made == {"source": "pi-hindsight/user-note", "scope": "user", "language": "ru"}


@pytest.mark.spec("pi/W-04")
@pytest.mark.parametrize("source", PROJECT)
def test_metadata_is_text_and_names_a_session_only_when_known(source):
    made = retain_metadata(source=source, project="shop", language="en", host="pi")
    assert made == {"source": f"pi-hindsight/{source}", "project": "shop", "language": "en"}
    told = retain_metadata(source=source, project="shop", language="en", session_id="s1", host="pi")
    assert told == {**made, "session": "s1"}
    assert all(isinstance(value, str) for value in told.values())


def test_markup_in_a_name_is_printed_as_it_is(prompts):
    text = retain_context(prompts, project="{{ 7 * 7 }}", source="agent-note", language="en")
    assert '"{{ 7 * 7 }}"' in text


@pytest.mark.spec("pi/W-01")
async def test_every_path_writes_the_same_kind_of_context(kit, talk, script, answer, prompts):
    made = kit(script(extract=answer("Redis 7 is the cache")))
    talk.user("hello")
    reports = [await made.one(talk)]
    for source in ("agent-note", "user-edit", "user-note"):
        reports.append(
            await made.memorizer.retain_note(
                f"The {source} port is 80 in {source}", source=source, host="pi"
            )
        )
    for report, source in zip(reports, (*PROJECT, "user-note"), strict=True):
        document = made.bank.documents[report.document_id]
        assert document.context == retain_context(
            prompts, project="shop", source=source, language="en"
        )
        host = "generic" if source == "session-note" else "pi"
        assert document.metadata["source"] == f"{host}-hindsight/{source}"


async def test_outside_of_a_project_the_bank_is_named(kit, talk, script, answer):
    made = kit(script(extract=answer("Redis 7 is the cache")), project=None)
    talk.user("hello")
    report = await made.one(talk)
    document = made.bank.documents[report.document_id]
    assert document.metadata["project"] == "shop-bank"
    assert 'project "shop-bank"' in document.context
