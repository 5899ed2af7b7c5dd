"""What of a session is new: exactly once over resume, branch, fork, edit and restart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_core.memorize.transcript.cursor import TAIL, Trail, by_chain, by_entry, fingerprint
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Entry, Text


def message(number: int, text: str | None = None) -> Entry:
    when = datetime(2030, 1, 1, tzinfo=UTC)
    return Entry(f"m{number}", "user", (Text(text or f"text {number}"),), timestamp=when)


def path(count: int) -> list[Entry]:
    return [message(number) for number in range(count)]


def known(entries: list[Entry]) -> dict:
    return {link.entry.id: link.row("d") for link in Trail().follow(entries)}


def new(entries: list[Entry], rows: dict) -> list[str]:
    links = Trail().follow(entries)
    fresh = by_chain(links, rows) or by_entry(links, rows)
    return [link.entry.id for link in fresh.new]


@pytest.mark.spec("s1/S-CUR-1")
def test_the_recorded_chain_leaves_only_what_follows_it():
    assert new(path(6), known(path(4))) == ["m4", "m5"]


@pytest.mark.spec("s1/S-CUR-1")
def test_a_long_session_is_known_by_the_end_of_it_alone():
    entries = path(2500)
    rows = known(entries)
    tail = {entry.id: rows[entry.id] for entry in entries[-TAIL:]}

    assert TAIL <= 200
    fresh = by_chain(Trail().follow(entries), tail)
    assert fresh is not None
    assert fresh.new == ()


@pytest.mark.spec("s1/S-CUR-2")
def test_an_edited_message_is_the_one_that_is_new():
    entries = path(4)
    edited = [*entries[:2], message(2, "other words"), entries[3]]
    assert new(edited, known(entries)) == ["m2"]


@pytest.mark.spec("s1/S-CUR-2")
def test_a_branch_is_new_from_where_it_leaves_the_path():
    rows = known(path(5))
    branched = [*path(3), message(13), message(14)]
    assert new(branched, rows) == ["m13", "m14"]


@pytest.mark.spec("s1/S-CUR-2")
def test_an_edit_far_before_the_end_is_seen_as_well():
    entries = path(TAIL + 50)
    edited = [message(0, "changed"), *entries[1:], message(999)]
    assert new(edited, known(entries)) == ["m0", "m999"]


@pytest.mark.spec("s1/S-CUR-3")
def test_a_shorter_transcript_gives_nothing_and_what_is_added_to_it_is_new():
    rows = known(path(6))
    assert new(path(6)[3:], rows) == []
    assert new([*path(6)[3:], message(20)], rows) == ["m20"]


@pytest.mark.spec("s1/S-CUR-3")
def test_a_message_that_is_not_in_the_transcript_changes_nothing():
    rows = {**known(path(2)), **known([message(50)])}
    assert new(path(3), rows) == ["m2"]


def test_a_trail_hashes_only_what_it_has_not_seen():
    trail, entries = Trail(), path(5)
    first = trail.follow(entries[:3])
    again = trail.follow(entries)
    assert [a is b for a, b in zip(first, again, strict=False)] == [True] * 3


def test_a_moved_date_is_no_other_message():
    entry = message(1)
    assert fingerprint(entry) == fingerprint(replace(entry, timestamp=None))


@given(st.lists(st.sampled_from("abcdef"), max_size=12), st.integers(0, 12))
def test_what_was_sent_and_what_is_new_are_the_whole_path(words, at):
    entries = [message(number, word) for number, word in enumerate(words)]
    rows = known(entries[:at])
    assert new(entries, rows) == [entry.id for entry in entries[at:]]


@pytest.mark.spec("s1/S-CUR-1", "oc/O-CA-3")
async def test_a_resumed_session_sends_nothing_and_a_longer_one_the_rest(sender, server, spoken):
    talk = spoken(2)
    await sender(bank=server).remember(talk)
    again = sender(bank=server)

    assert await again.remember(talk) == []
    await again.remember(spoken(1, talk=talk))

    assert [document.text for document in server.got] == [
        "User: question 1\n\nAssistant: answer 1\n\nUser: question 2\n\nAssistant: answer 2",
        "User: question 3\n\nAssistant: answer 3",
    ]


async def test_a_fork_sends_only_what_its_parent_did_not(sender, server, spoken):
    talk = spoken(2)
    kit = sender(bank=server)
    await kit.remember(talk)
    fork = TranscriptBuilder("s2")
    fork.entries = list(talk.entries)
    fork.branch(talk.entries[-1].id)
    spoken(1, talk=fork)

    await kit.remember(fork)

    assert server.got[-1].text == "User: question 3\n\nAssistant: answer 3"


async def test_two_sessions_that_begin_alike_are_both_sent(sender, server):
    kit = sender(bank=server)
    for session in ("s1", "s2"):
        entries = (Entry("1", "user", (Text("hello"),)),)
        talk = TranscriptBuilder(session)
        talk.entries, talk._leaf = list(entries), "1"
        await kit.remember(talk)
    assert [document.text for document in server.got] == ["User: hello", "User: hello"]


@pytest.mark.spec("s1/S-CUR-3")
async def test_a_compaction_repeats_nothing_and_loses_nothing(sender, server, spoken):
    talk = spoken(3)
    kit = sender(bank=server)
    await kit.remember(talk)
    talk.compact()
    after = talk.path[4:]
    spoken(1, talk=talk)

    await kit.remember([*after, *talk.path[-2:]])

    assert server.got[-1].text == "User: question 4\n\nAssistant: answer 4"


@pytest.mark.spec("s1/S-CUR-5")
async def test_a_cursor_that_cannot_be_read_is_a_failure_and_sends_nothing(
    sender, server, spoken, tmp_path
):
    kit = sender(bank=server)
    await kit.remember(spoken(1))
    await kit.queue.database.write(lambda c: c.execute("DROP TABLE retained").rowcount)

    with pytest.raises(Exception, match="retained"):
        await kit.remember(spoken(2))
    assert len(server.got) == 1
