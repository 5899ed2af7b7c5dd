"""Which documents a session becomes, when, and each entry once whatever happens."""

from __future__ import annotations

import json

import pytest

from hindsight_core.errors import BankError, MemoryOff, WriteVetoed
from hindsight_core.state.retention import prune
from hindsight_core.testing.transcripts import TranscriptBuilder


def ids(server) -> list[str]:
    return [document.id for document in server.got]


@pytest.mark.spec("oc/O-RET-1")
async def test_nothing_before_enough_turns_of_the_user(sender, server, spoken):
    kit, talk, sent = sender(bank=server, every_turns=3), TranscriptBuilder(), []
    for _ in range(6):
        spoken(1, talk=talk)
        await kit.remember(talk, reason="idle")
        sent.append(len(server.got))
    assert sent == [0, 0, 1, 1, 1, 2]


@pytest.mark.spec("oc/O-RET-1")
async def test_the_count_of_turns_outlives_the_process(sender, server, spoken):
    talk = spoken(2)
    await sender(bank=server, every_turns=3).remember(talk, reason="idle")
    spoken(1, talk=talk)
    await sender(bank=server, every_turns=3).remember(talk, reason="idle")
    assert len(server.got) == 1


@pytest.mark.parametrize("reason", ["shutdown:quit", "compact", "manual", "recover"])
async def test_an_end_sends_what_there_is(sender, server, spoken, reason):
    await sender(bank=server, every_turns=3).remember(spoken(1), reason=reason)
    assert len(server.got) == 1


@pytest.mark.spec("oc/O-RET-2", "oc/O-CMP-1")
async def test_the_whole_session_is_one_document_that_is_replaced(sender, server, spoken):
    kit = sender(
        bank=server,
        every_turns=2,
        retain={"document": "session", "document_name": "{session}", "update_mode": "replace"},
    )
    talk = spoken(2)
    await kit.remember(talk, reason="idle")
    spoken(1, talk=talk)
    assert await kit.remember(talk, reason="idle") == []
    await kit.remember(talk, reason="compact")

    assert ids(server) == ["s1", "s1"]
    assert server.documents["s1"].text.count("question") == 3
    assert server.documents["s1"].text.startswith("User: question 1")


@pytest.mark.spec("oc/O-RET-2")
async def test_the_last_turns_have_a_document_and_so_have_those_before_them(sender, server, spoken):
    kit = sender(bank=server, every_turns=2, retain={"document": "turns"})

    await kit.remember(spoken(3), reason="idle")

    assert [document.text.count("question") for document in server.got] == [1, 2]
    assert "question 1" not in server.got[1].text
    assert len(set(ids(server))) == 2
    assert all(name.startswith("s1-") for name in ids(server))


@pytest.mark.spec("oc/O-RET-3", "s1/S-RET-4")
async def test_what_cannot_be_queued_is_tried_again_next_time(sender, server, spoken):
    class Blocking:
        open = False

        async def __call__(self, bank, document):
            if not self.open:
                raise MemoryOff("blocked")

    gate, talk = Blocking(), spoken(3)
    kit = sender(bank=server, every_turns=3, gate=gate)
    (report,) = await kit.remember(talk, reason="idle")
    assert (report.outcome, report.reason) == ("failed", "blocked")
    assert server.got == []

    gate.open = True
    await kit.remember(talk, reason="idle")
    assert server.got[0].text.count("question") == 3


@pytest.mark.spec("s1/S-RET-6")
@pytest.mark.parametrize("mode", ["append", "replace"])
async def test_a_veto_is_remembered_and_only_for_what_it_was_about(
    sender, growing, spoken, occurrences, mode
):
    class Choosy:
        asked = 0

        async def __call__(self, bank, document):
            self.asked += 1
            if "question 2" in document.text:
                raise WriteVetoed("not this")

    gate, talk = Choosy(), TranscriptBuilder()
    kit = sender(bank=growing, gate=gate, retain={"document": "session", "update_mode": mode})
    outcomes = []
    for _ in range(3):
        spoken(1, talk=talk)
        outcomes += [report.outcome for report in await kit.remember(talk)]
        outcomes += [report.outcome for report in await kit.remember(talk)]

    assert [outcome == "skipped" for outcome in outcomes] == [False, True, False]
    assert gate.asked == 3
    assert occurrences(growing.documents.values(), *(f"question {n}" for n in (1, 2, 3))) == [
        1,
        0,
        1,
    ]


@pytest.mark.spec("s1/S-ID-5")
async def test_a_session_has_one_document_in_every_process(sender, growing, spoken):
    options = {
        "document": "session",
        "update_mode": "append",
        "document_name": "{host}-session:{sessionHash}",
    }
    talk = spoken(1)
    await sender(bank=growing, retain=options).remember(talk)
    await sender(bank=growing, retain=options).remember(spoken(1, talk=talk))

    name, other = ids(growing)
    assert name == other
    assert name.startswith("generic-session:")
    assert len(name.removeprefix("generic-session:")) == 16


@pytest.mark.spec("oc/O-CA-3")
async def test_a_server_that_adds_once_gets_only_what_is_new(sender, growing, spoken):
    kit = sender(bank=growing, retain={"document": "session", "update_mode": "append"})
    talk = spoken(3)
    await kit.remember(talk)
    spoken(2, talk=talk)
    await kit.remember(talk)

    assert [document.text.count("question") for document in growing.got] == [3, 2]
    assert all(document.append for document in growing.got)
    assert len(set(growing.operations)) == 2
    assert [
        growing.documents[ids(growing)[0]].text.count(f"question {n}") for n in range(1, 6)
    ] == [1] * 5


@pytest.mark.spec("oc/O-CA-3")
async def test_a_server_that_does_not_gets_documents_named_by_their_content(sender, server, spoken):
    kit = sender(bank=server, retain={"document": "session", "update_mode": "append"})
    talk = spoken(3)
    await kit.remember(talk)
    await kit.remember(spoken(2, talk=talk))

    assert [document.append for document in server.got] == [False, False]
    assert len(set(ids(server))) == 2
    assert [document.text.count("question") for document in server.got] == [3, 2]


@pytest.mark.spec("oc/O-CA-3")
async def test_nothing_new_is_no_write_and_another_bank_gets_all_of_it(sender, server, spoken):
    talk = spoken(5)
    kit = sender(bank=server, retain={"document": "session"})
    await kit.remember(talk)
    assert await kit.remember(talk) == []
    assert await kit.remember(TranscriptBuilder()) == []

    other = type(server)("other-bank")
    await sender(bank=other, retain={"document": "session"}).remember(talk)
    assert other.got[0].text.count("question") == 5


@pytest.mark.spec("oc/O-CA-3")
async def test_an_edited_message_writes_the_session_anew(sender, server):
    kit = sender(bank=server, retain={"document": "session"})
    talk = TranscriptBuilder()
    talk.user("first words")
    talk.assistant("answer")
    await kit.remember(talk)
    edited = TranscriptBuilder()
    edited.user("other words")
    edited.assistant("answer")
    await kit.remember(edited)

    assert ids(server)[0] == ids(server)[1]
    assert server.texts == ["User: other words\n\nAssistant: answer"]


@pytest.mark.spec("oc/O-CMP-5")
async def test_a_path_that_lost_its_beginning_goes_on_in_another_document(sender, server, spoken):
    kit = sender(bank=server, retain={"document": "session", "document_name": "{session}"})
    talk = spoken(3)
    await kit.remember(talk)
    talk.compact()
    spoken(2, talk=talk)
    await kit.remember(talk.path[4:])
    spoken(1, talk=talk)
    await kit.remember(talk.path[4:])

    assert set(server.documents) == {"s1", "s1-c1"}
    assert [server.documents["s1"].text.count(f"question {n}") for n in (1, 2, 3)] == [1, 1, 1]
    assert [server.documents["s1-c1"].text.count(f"question {n}") for n in (3, 4, 5, 6)] == [
        0,
        1,
        1,
        1,
    ]


@pytest.mark.spec("s1/S-RET-2")
async def test_a_silent_entry_is_passed_over_and_not_looked_at_again(sender, server):
    kit, talk = sender(bank=server), TranscriptBuilder()
    talk.assistant("", thinking="only a thought")
    reports = await kit.remember(talk)
    assert [report.outcome for report in reports] == ["empty"]
    assert await kit.remember(talk) == []
    assert server.got == []


async def test_a_document_is_dated_by_what_was_said_in_it(sender, server, spoken):
    talk = spoken(2)
    await sender(bank=server).remember(talk)
    assert server.got[0].timestamp == talk.entries[-1].timestamp


async def test_a_large_backlog_becomes_documents_of_a_bounded_size(sender, server):
    talk = TranscriptBuilder()
    for number in range(12):
        talk.user(f"question {number} " + "with many words " * 1200)
        talk.assistant(f"answer {number}")
    await sender(bank=server).remember(talk)

    assert len(server.got) > 1
    assert all(len(document.text) < 130_000 for document in server.got)
    whole = "".join(document.text for document in server.got)
    assert all(f"answer {number}" in whole for number in range(12))


async def test_a_bank_away_for_twenty_turns_gets_each_once_in_order(sender, server, spoken, clock):
    kit, talk = sender(bank=server), TranscriptBuilder()
    server.failing = BankError("connection refused")
    for _ in range(20):
        spoken(1, talk=talk)
        (report,) = await kit.remember(talk, reason="turns")
        assert report.outcome == "queued"
    server.failing = None
    clock.advance(3600)
    await kit.outbox.drain(server, deadline_s=5)

    said = [document.text for document in server.got]
    assert said == [f"User: question {n}\n\nAssistant: answer {n}" for n in range(1, 21)]
    assert [d.timestamp for d in server.got] == [e.timestamp for e in talk.entries[1::2]]


async def test_appends_that_wait_reach_the_document_in_order(sender, growing, spoken, clock):
    kit = sender(bank=growing, retain={"document": "session", "update_mode": "append"})
    talk = spoken(1)
    await kit.remember(talk)
    answers, growing.failing = growing.appends, BankError("connection refused")

    async def known() -> bool:
        return True

    growing.appends = known
    for _ in range(3):
        await kit.remember(spoken(1, talk=talk))
    growing.failing, growing.appends = None, answers
    clock.advance(3600)
    await kit.outbox.drain(growing, deadline_s=5)

    (document,) = growing.documents.values()
    assert [line for line in document.text.splitlines() if "User" in line] == [
        f"User: question {n}" for n in range(1, 5)
    ]


@pytest.mark.spec("s1/S-RET-9")
async def test_an_addition_that_is_sent_again_after_a_crash_happens_once(
    sender, growing, spoken, clock
):
    kit = sender(bank=growing, retain={"document": "session", "update_mode": "append"})
    done, kit.queue.done = kit.queue.done, None
    with pytest.raises(TypeError):
        await kit.remember(spoken(1))
    kit.queue.done = done
    clock.advance(3600)
    await kit.outbox.drain(growing, deadline_s=5)

    assert await kit.queue.pending() == 0
    assert len(growing.got) == 1


@pytest.mark.spec("s1/S-RET-4")
async def test_two_processes_with_the_same_session_send_each_entry_once(
    sender, server, spoken, occurrences
):
    talk = spoken(2)
    one, two = sender(bank=server), sender(bank=server)
    await one.remember(talk)
    await two.remember(spoken(1, talk=talk))
    await one.remember(talk)
    assert occurrences(server.got, *(f"question {n}" for n in (1, 2, 3))) == [1, 1, 1]


class TestFacts:
    """A bank that finds no facts itself gets them from here."""

    async def test_without_a_model_the_users_own_statements(self, sender):
        kit, talk = sender(), TranscriptBuilder()
        talk.user("Remember: the staging database is on port 6432.")
        talk.assistant("Noted.")
        (report,) = await kit.remember(talk)

        assert report.outcome == "stored"
        assert any("6432" in text for text in kit.texts)
        (document,) = kit.bank.documents.values()
        assert document.text.startswith("User: Remember")

    async def test_with_a_model_what_it_finds(self, sender):
        facts = {"facts": [{"text": "The staging database listens on 6432.", "kind": "fact"}]}
        kit = sender(script={"bank/facts": facts, "memorize/topics": {"queries": ["db"]}})
        talk = TranscriptBuilder()
        talk.user("where is staging?")
        talk.assistant("The staging database listens on 6432.")
        await kit.remember(talk)

        assert kit.texts == ["The staging database listens on 6432."]
        (fact,) = kit.bank.facts.values()
        assert "e02" in fact.provenance.entry_ids

    async def test_a_model_that_fails_keeps_the_turns(self, sender, failing):
        from hindsight_core.errors import ProviderError

        kit, talk = sender(script={"bank/facts": ProviderError("down")}), TranscriptBuilder()
        talk.user("where is staging?")
        talk.assistant("on 6432")
        (report,) = await kit.remember(talk)
        assert report.outcome == "failed"
        assert kit.bank.documents == {}
        assert len(await kit.remember(talk)) == 1

    async def test_beside_distill_the_text_alone(self, kit, script, answer):
        pipeline = kit(
            script(extract=answer("The staging database listens on 6432.")),
            memorize={"mode": ["distill", "transcript"]},
        )
        talk = TranscriptBuilder()
        talk.user("where is staging?")
        talk.assistant("The staging database listens on 6432.")
        reports = await pipeline.remember(talk)

        assert [report.outcome for report in reports] == ["stored", "stored"]
        assert pipeline.texts == ["The staging database listens on 6432."]
        assert pipeline.model.asked("bank/facts") == []
        assert await pipeline.remember(talk) == []


class TestJournal:
    """What a crash leaves is sent by whoever comes next."""

    async def test_what_is_sent_leaves_the_journal_with_the_document(self, sender, server, spoken):
        from hindsight_core.state.journal import Journal

        kit, talk = sender(bank=server, every_turns=3), spoken(1)
        journal = Journal(kit.queue)
        await journal.append(server.id, "s1", talk.path)
        await kit.remember(talk, reason="idle")
        assert await journal.pending(server.id) == 1

        await kit.remember(talk, reason="shutdown:quit")
        assert await journal.pending(server.id) == 0
        assert await journal.append(server.id, "s1", talk.path) == 0

    async def test_what_a_dead_session_left_is_sent_and_not_again_on_resume(
        self, sender, server, spoken, occurrences
    ):
        kit, talk = sender(bank=server), spoken(2)
        await kit.remember(talk)
        spoken(1, talk=talk)
        await kit.remember(talk.path[-2:], reason="recover")
        spoken(1, talk=talk)
        await kit.remember(talk)
        assert occurrences(server.got, *(f"question {n}" for n in range(1, 5))) == [1] * 4


class TestPruning:
    """Rows of an old session go; what was sent is not sent again."""

    async def pruned(self, kit, clock) -> int:
        clock.advance(days=91)
        return (await prune(kit.queue, kit.memorizer._parts.sessions, clock=clock)).retained

    async def test_an_old_session_goes_on_where_it_stood(self, sender, server, spoken, clock):
        kit, talk = sender(bank=server), TranscriptBuilder()
        for _ in range(200):
            spoken(1, talk=talk)
            await kit.remember(talk)
            clock.advance(1)
        before = len(server.got)
        gone = await self.pruned(kit, clock)
        rows = await kit.memorizer._parts.retained.rows(server.id, "s1")
        spoken(1, talk=talk)
        await kit.remember(talk)

        assert 150 < gone < 200
        assert {entry.id for entry in talk.path[200:400]} <= set(rows)
        assert [d.text.count("question") for d in server.got[before:]] == [1]

    async def test_a_branch_of_what_was_pruned_repeats_a_few_entries_at_most(
        self, sender, server, spoken, clock
    ):
        kit, talk = sender(bank=server), TranscriptBuilder()
        for _ in range(200):
            spoken(1, talk=talk)
            await kit.remember(talk)
            clock.advance(1)
        before = len(server.got)
        await self.pruned(kit, clock)
        branch = TranscriptBuilder()
        spoken(80, talk=branch)
        branch.user("another way")
        branch.assistant("yes")
        await kit.remember(branch)
        again = sum(d.text.count("question") for d in server.got[before:])
        assert again < 40
        assert "another way" in server.got[-1].text

    async def test_a_document_that_is_replaced_keeps_all_of_its_text(
        self, sender, server, spoken, clock
    ):
        kit = sender(bank=server, retain={"document": "session", "document_name": "{session}"})
        talk = TranscriptBuilder()
        for _ in range(110):
            spoken(1, talk=talk)
            await kit.remember(talk)
            clock.advance(1)
        assert await self.pruned(kit, clock) == 0
        spoken(1, talk=talk)
        await kit.remember(talk)
        assert server.documents["s1"].text.count("question") == 111


async def test_json_arrays_join(sender, growing, spoken):
    options = {"document": "session", "update_mode": "append", "form": "json"}
    await sender(bank=growing, retain=options).remember(spoken(1))
    assert [m["role"] for m in json.loads(growing.got[0].text)] == ["user", "assistant"]
