"""Facts are linked to the entries that support them."""

from __future__ import annotations

from hindsight_core.identity import fact_id
from hindsight_core.memorize.evidence import link
from hindsight_core.memory import Fact
from hindsight_core.testing.transcripts import START, TranscriptBuilder


def linked(talk, text):
    return link(talk.window(), [Fact(id=fact_id(text), text=text)])[0]


def test_a_fact_names_its_entries_its_speaker_and_its_date():
    talk = TranscriptBuilder()
    talk.user("hello")
    said = talk.user("The export must be UTF-8 with BOM because customers open it in Excel")
    talk.assistant("Understood, I write the BOM.")
    fact = linked(talk, "The CSV export is UTF-8 with BOM for Excel")
    assert said.id in fact.provenance.entry_ids
    assert fact.provenance.speaker == "user"
    assert fact.timestamp == said.timestamp


def test_what_a_tool_alone_shows_has_no_speaker():
    talk = TranscriptBuilder()
    talk.user("which port?")
    talk.assistant("I look.", calls=[talk.call("bash", command="ss")])
    shown = talk.result("nginx listens on port 7443 of the edge host")
    fact = linked(talk, "nginx listens on port 7443 of the edge host")
    assert fact.provenance.entry_ids == (shown.id,)
    assert fact.provenance.speaker is None


def test_a_fact_without_support_gets_the_end_of_the_window():
    talk = TranscriptBuilder()
    talk.user("hello")
    last = talk.assistant("Good morning.")
    fact = linked(talk, "Zebras sleep in the barn")
    assert fact.provenance.entry_ids == ()
    assert fact.timestamp == last.timestamp


def test_a_date_that_is_known_stays():
    talk = TranscriptBuilder()
    talk.user("The barn is red")
    dated = Fact(id="x", text="The barn is red", timestamp=START)
    assert link(talk.window(), [dated])[0].timestamp == START
