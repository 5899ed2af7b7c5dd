"""The review of what was stored by itself, over banks that answer and banks that do not."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.banks.base import Capabilities
from hindsight_core.engine.review_banks import OtherServer
from hindsight_core.engine.reviewing import Review
from hindsight_core.errors import BankError, ConfigError, MemoryOff
from hindsight_core.hookspecs import hookimpl
from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact
from hindsight_core.state.review import ReviewQueue, Written
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.memory_bank import FakeBank

REDIS = "The cache of the shop is Redis 7 on port 6380."
BROKER = "The broker of the shop is RabbitMQ."
AWAY = BankError("connection refused", retryable=True)


def keep_all(request: Any) -> dict[str, Any]:
    listed = request.messages[0].content.split("[facts]")[1].split("[end of facts]")[0]
    return {"keep": list(range(1, len(listed.strip().splitlines()) + 1))}


def found(*texts: str) -> dict[str, Any]:
    return {"facts": [{"text": text, "category": "facts"} for text in texts]}


class Banks:
    """A plugin with banks in memory, by name."""

    def __init__(self, **capabilities: bool) -> None:
        self.made: dict[str, FakeBank] = {}
        self._capabilities = Capabilities(**capabilities)

    @hookimpl
    def hindsight_register_banks(self, register: Any) -> None:
        register("memory", self.make)

    def make(self, settings: Any, services: Any) -> FakeBank:
        name = settings.bank.id
        if name not in self.made:
            bank = FakeBank(name, clock=services.clock, capabilities=self._capabilities)
            self.made[name] = bank
        return self.made[name]


class Desk:
    """A reviewer's memory."""

    def __init__(self, make: Any, *, settings: dict | None = None, **capabilities: bool) -> None:
        self.banks = Banks(**capabilities)
        self.clock = FakeClock()
        self.memory = make(
            self.banks,
            settings={"bank": {"backend": "memory", "id": "shop"}, **(settings or {})},
            replies={
                "memorize/extract": found(REDIS, BROKER),
                "memorize/verify": keep_all,
                "memorize/topics": {"queries": ["shop"]},
                "memorize/dedup": {"known": [], "updates": []},
                "memorize/merge": found(),
                "memorize/summary": "a summary",
                "memorize/invalidate": {"retire": []},
            },
            clock=self.clock,
        )
        self.review = Review(self.memory.runtime)

    def run(self, work: Any) -> Any:
        return self.memory.run(work)

    def write(self, *texts: str) -> None:
        """Memorize a session that says so."""
        self.memory.model.replies.set("memorize/extract", found(*texts))
        self.memory.session(" ".join(texts))

    def items(self, **more: Any) -> list:
        return list(self.run(self.review.list(**more)).items)

    def recalled(self, text: str) -> list[str]:
        return [hit.fact.text for hit in self.memory.search(text)]

    @property
    def bank(self) -> FakeBank:
        return self.banks.made["shop"]


@pytest.fixture
def desk(new_memory):
    return lambda **more: Desk(new_memory, **more)


@pytest.mark.spec("pi/Q-02", "pi/D-24")
def test_what_enters_the_queue(desk):
    opened = desk()
    opened.memory.remember("The agent was asked to keep this.")
    opened.write()
    assert opened.items() == []
    opened.write(REDIS, BROKER)
    (item,) = opened.items()
    written = item.item.written
    assert (written.bank, written.reason) == ("shop", "manual")
    assert written.session_id == "session-2"
    assert [fact.text for fact in item.document.facts] == [REDIS, BROKER]
    assert item.text == f"# Facts\n- {REDIS}\n- {BROKER}"
    opened.write(REDIS)
    assert len(opened.items()) == 1


@pytest.mark.spec("pi/Q-02")
def test_off_is_off(desk):
    opened = desk(settings={"review": {"mode": "off"}})
    opened.write(REDIS)
    assert opened.items() == []
    assert opened.recalled("redis cache port") == [REDIS]


@pytest.mark.spec("pi/Q-09")
def test_a_queue_that_fails_breaks_no_write(desk):
    opened = desk()
    queue = opened.memory.runtime.queue
    opened.run(queue.database.write(lambda c: c.execute("DROP TABLE review").rowcount))
    opened.write(REDIS)
    assert opened.recalled("redis cache port") == [REDIS]


@pytest.mark.spec("pi/Q-07")
def test_approve_leaves_the_bank_alone(desk):
    opened = desk()
    opened.write(REDIS)
    (item,) = opened.items()
    opened.bank.calls.clear()
    report = opened.run(opened.review.approve([item.item.id]))
    assert (report.done, dict(report.kept)) == ((item.item.id,), {})
    assert opened.bank.calls == []
    assert opened.items() == []
    assert opened.recalled("redis cache port") == [REDIS]
    again = opened.run(opened.review.approve([item.item.id]))
    assert again.kept == {item.item.id: "it is approved already"}


@pytest.mark.spec("pi/Q-07")
def test_delete_takes_document_and_facts_and_undo_brings_them_back(desk):
    opened = desk()
    opened.write(REDIS, BROKER)
    (item,) = opened.items()
    report = opened.run(opened.review.delete([item.item.id]))
    assert report.done == (item.item.id,)
    assert opened.memory.facts() == []
    assert opened.items() == []

    assert opened.run(opened.review.undo()).done == (item.item.id,)
    assert sorted(fact.text for fact in opened.memory.facts()) == sorted([REDIS, BROKER])
    assert [i.item.id for i in opened.items()] == [item.item.id]
    assert opened.run(opened.review.undo()).done == ()


@pytest.mark.spec("pi/D-07", "pi/Q-06", "pi/Q-07")
@pytest.mark.parametrize("action", ["delete", "approve", "edit"])
def test_a_bank_that_is_away_decides_nothing(desk, action):
    held = {"review": {"mode": "before"}} if action == "approve" else {}
    opened = desk(settings=held)
    opened.write(REDIS)
    (before,) = opened.items()
    opened.bank.failing = AWAY
    number = before.item.id
    if action == "edit":
        with pytest.raises(BankError):
            opened.run(opened.review.edit(number, "- Another text."))
    else:
        report = opened.run(getattr(opened.review, action)([number]))
        assert report.done == ()
        assert "nothing was changed" in report.kept[number]
    (shown,) = opened.items()
    assert shown.document is None
    assert "connection refused" in shown.unreachable
    opened.bank.failing = None
    (after,) = opened.items()
    assert (after.item.state, after.unreachable) == ("pending", None)
    assert [fact.text for fact in after.document.facts] == [REDIS]


@pytest.mark.spec("pi/Q-07")
def test_what_a_deleted_update_replaced_holds_again(desk):
    opened = desk()
    opened.write("The queue prefetch is 20.")
    opened.clock.advance(60)
    opened.write("The queue prefetch is now 50.")
    assert opened.recalled("queue prefetch") == ["The queue prefetch is now 50."]
    update = opened.items()[0]
    opened.run(opened.review.delete([update.item.id]))
    assert opened.recalled("queue prefetch") == ["The queue prefetch is 20."]
    opened.run(opened.review.undo())
    assert opened.recalled("queue prefetch") == ["The queue prefetch is now 50."]


@pytest.mark.spec("pi/Q-06")
def test_a_document_that_is_gone_leaves_the_queue_by_itself(desk):
    opened = desk()
    opened.write(REDIS)
    (item,) = opened.items()
    opened.run(opened.bank.delete_document(item.item.written.document_id))
    assert opened.items() == []
    shown = opened.run(opened.review.show(item.item.id))
    assert (shown.item.state, shown.item.by) == ("approved", "auto")


@pytest.mark.spec("pi/Q-07", "pi/U-30")
def test_edit_stores_a_text_under_the_same_document_and_stays(desk):
    opened = desk()
    opened.write(REDIS, BROKER)
    (item,) = opened.items()
    text = item.text.replace("RabbitMQ", "NATS") + "\n- It runs on two nodes.\n\n"
    edited = opened.run(opened.review.edit(item.item.id, text))
    texts = [REDIS, "The broker of the shop is NATS.", "It runs on two nodes."]
    assert [fact.text for fact in edited.document.facts] == texts
    assert edited.document.id == item.item.written.document_id
    assert edited.document.tags == ("shop", "agent-summary")
    assert edited.document.metadata["source"] == "generic-hindsight/user-edit"
    assert (edited.item.state, len(opened.items())) == ("pending", 1)
    assert sorted(fact.text for fact in opened.memory.facts()) == sorted(texts)
    assert edited.document.facts[0].provenance.source == "session-note"
    assert edited.document.facts[1].provenance.source == "user-edit"

    opened.run(opened.review.undo())
    assert sorted(fact.text for fact in opened.memory.facts()) == sorted([REDIS, BROKER])


@pytest.mark.spec("pi/U-30")
@pytest.mark.parametrize("text", ["", "  \n", "# Facts\n- \n", "---"])
def test_an_empty_edit_changes_nothing(desk, text):
    opened = desk()
    opened.write(REDIS)
    (item,) = opened.items()
    with pytest.raises(ConfigError, match="review delete"):
        opened.run(opened.review.edit(item.item.id, text))
    assert opened.recalled("redis cache port") == [REDIS]


def test_an_edit_is_sanitised(desk):
    opened = desk()
    opened.write(REDIS)
    (item,) = opened.items()
    secret = "AK" + "IA" + "Z7Q4" * 4
    edited = opened.run(opened.review.edit(item.item.id, f"- The key of the shop is {secret}."))
    assert secret not in edited.text


@pytest.mark.spec("pi/Q-05")
def test_expiry_asks_no_bank_and_says_who_decided(desk):
    opened = desk()
    opened.write(REDIS)
    (item,) = opened.items()
    opened.bank.calls.clear()
    opened.clock.advance(days=6.9)
    assert opened.run(opened.review.expire()) == 0
    opened.clock.advance(days=0.2)
    assert opened.run(opened.review.expire()) == 1
    assert opened.bank.calls == []
    shown = opened.run(opened.review.show(item.item.id))
    assert (shown.item.state, shown.item.by) == ("approved", "expiry")
    assert opened.run(opened.review.undo()).done == ()


@pytest.mark.spec("pi/Q-05")
def test_zero_days_is_never(desk):
    opened = desk(settings={"review": {"auto_approve_days": 0}})
    opened.write(REDIS)
    opened.clock.advance(days=400)
    assert len(opened.items()) == 1


# -- before: held back until somebody has seen it -------------------------------------------
BEFORE = {"review": {"mode": "before"}}


def test_before_nothing_is_recalled_until_it_is_approved(desk):
    opened = desk(settings=BEFORE)
    opened.memory.remember("What the agent was asked to keep is not held back.")
    opened.write(REDIS)
    assert opened.recalled("redis cache port") == []
    assert opened.recalled("agent asked keep") != []
    (item,) = opened.items()
    assert item.item.written.held
    assert [fact.state for fact in item.document.facts] == ["pending"]

    opened.run(opened.review.approve([item.item.id]))
    assert opened.recalled("redis cache port") == [REDIS]

    opened.run(opened.review.undo())
    assert opened.recalled("redis cache port") == []
    assert len(opened.items()) == 1


def test_before_an_update_replaces_nothing_until_it_is_approved(desk):
    opened = desk(settings=BEFORE)
    opened.write("The queue prefetch is 20.")
    opened.run(opened.review.approve([opened.items()[0].item.id]))
    opened.clock.advance(60)
    opened.write("The queue prefetch is now 50.")
    assert opened.recalled("queue prefetch") == ["The queue prefetch is 20."]
    update = opened.items()[0].item.id
    opened.run(opened.review.approve([update]))
    assert opened.recalled("queue prefetch") == ["The queue prefetch is now 50."]
    opened.run(opened.review.undo())
    assert opened.recalled("queue prefetch") == ["The queue prefetch is 20."]
    opened.run(opened.review.delete([update]))
    assert opened.recalled("queue prefetch") == ["The queue prefetch is 20."]


@pytest.mark.spec("pi/I-01", "pi/D-17")
def test_before_nothing_is_retired_until_it_is_approved(desk):
    gone = "The review server listens on port 7788."
    opened = desk(settings={**BEFORE, "memorize": {"invalidate": True}})
    opened.memory.remember(gone)
    quote = "We deleted the review server for good"
    opened.memory.model.replies.set(
        "memorize/invalidate", {"retire": [{"id": fact_id(gone), "quote": quote}]}
    )
    opened.memory.model.replies.set("memorize/topics", {"queries": ["review server port"]})
    opened.memory.model.replies.set("memorize/extract", found(REDIS))
    opened.memory.session(f"{quote}. {REDIS}")
    assert opened.recalled("review server listens") == [gone]
    opened.run(opened.review.approve([opened.items()[0].item.id]))
    assert opened.recalled("review server listens") == []
    assert opened.bank.facts[fact_id(gone)].reason == quote


def test_before_a_bank_that_extracts_gets_it_with_the_approval(desk):
    opened = desk(settings=BEFORE, extracts=True)
    opened.write(REDIS)
    assert opened.bank.documents == {}
    (item,) = opened.items()
    assert REDIS in item.text
    edited = opened.run(opened.review.edit(item.item.id, f"{item.text}\n- {BROKER}"))
    assert BROKER in edited.text
    assert opened.bank.documents == {}
    opened.run(opened.review.approve([item.item.id]))
    (document,) = opened.bank.documents.values()
    assert document.facts is None
    assert REDIS in document.text
    assert BROKER in document.text
    opened.run(opened.review.undo())
    assert opened.bank.documents == {}
    opened.run(opened.review.delete([item.item.id]))
    assert (opened.bank.documents, opened.items()) == ({}, [])


def test_before_time_approves_too_but_not_without_the_bank(desk):
    opened = desk(settings=BEFORE)
    opened.write(REDIS)
    opened.clock.advance(days=8)
    opened.bank.failing = AWAY
    assert opened.run(opened.review.expire()) == 0
    opened.bank.failing = None
    assert opened.run(opened.review.expire()) == 1
    assert opened.recalled("redis cache port") == [REDIS]


def test_before_a_resave_deletes_nothing_that_is_recalled(desk):
    from hindsight_core.transcript.entry import Entry, Text, Transcript

    opened = desk(settings=BEFORE)
    talk = Transcript("s9", "generic", (Entry("e1", "user", (Text(REDIS),)),))
    remember = opened.memory.runtime.memorizer.remember_transcript
    opened.memory.model.replies.set("memorize/extract", found(REDIS))
    opened.run(remember(talk, reason="manual"))
    opened.run(opened.review.approve([opened.items()[0].item.id]))
    opened.memory.model.replies.set("memorize/extract", found(REDIS, BROKER))
    opened.run(remember(talk, reason="resave"))
    assert opened.recalled("redis cache port") == [REDIS]
    assert opened.recalled("broker") == []


# -- over projects -------------------------------------------
def test_entries_of_other_projects_are_decided_in_their_banks(desk):
    opened = desk()
    runtime = opened.memory.runtime
    other = runtime.open_bank("site")
    fact = Fact(fact_id("The site is static."), "The site is static.")
    from hindsight_core.memory import Document

    opened.run(other.retain(Document("d-site", "- The site is static.", facts=(fact,))))
    queue = ReviewQueue(runtime.queue, runtime.clock)
    opened.run(queue.add(Written("site", "d-site", backend="memory", project="site")))
    opened.write(REDIS)
    assert sorted(i.item.written.bank for i in opened.items()) == ["shop", "site"]
    (item,) = opened.items(bank="site")
    assert item.text == "- The site is static."
    everything = [i.item.id for i in opened.items()]
    assert set(opened.run(opened.review.delete(everything)).done) == set(everything)
    assert opened.memory.facts() == []
    assert opened.banks.made["site"].documents == {}
    opened.run(opened.review.undo())
    assert "d-site" in opened.banks.made["site"].documents
    assert len(opened.items()) == 2


@pytest.mark.spec("pi/D-15", "pi/Q-06")
@pytest.mark.parametrize(
    "endpoint",
    [
        "http://localhost.evil.example/v1/default",
        "http://localhost:8888.evil.example/v1/default",
        "http://10.0.0.5:8888/v1/default",
        "http://localhost:8888/v1/other",
    ],
)
def test_no_server_is_asked_that_the_configuration_does_not_name(desk, endpoint):
    opened = desk(settings={"hindsight": {"base_url": "http://localhost:8888"}})
    runtime = opened.memory.runtime
    queue = ReviewQueue(runtime.queue, runtime.clock)
    number = opened.run(
        queue.add(Written("shop", "d1", backend="hindsight", endpoint=endpoint, project="shop"))
    )
    # The network is forbidden here: asking it would be an error of another kind.
    (item,) = opened.items()
    assert endpoint in item.unreachable
    report = opened.run(opened.review.delete([number]))
    assert endpoint in report.kept[number]
    assert len(opened.items()) == 1


@pytest.mark.spec("pi/D-15")
def test_a_remote_server_of_the_configuration_is_reviewed_as_any_other(desk):
    opened = desk(settings={"hindsight": {"base_url": "https://bank.example"}})
    banks = opened.review._banks
    item = Written("shop", "d", backend="hindsight", endpoint="https://bank.example/v1/default")
    queue = ReviewQueue(opened.memory.runtime.queue)
    number = opened.run(queue.add(item))
    (row,) = opened.run(queue.get([number]))
    assert banks.of(row).backend == "hindsight"
    opened.run(queue.add(Written("shop", "e", backend="hindsight", endpoint="https://x.example")))
    (other, _) = opened.run(queue.pending())
    with pytest.raises(OtherServer):
        banks.of(other)
    opened.run(opened.review.close())


# -- writes that have not reached their bank -------------------------------------------
def test_a_write_that_waits_for_its_bank_can_be_reviewed(desk):
    opened = desk()
    opened.memory.facts()
    opened.bank.failing = AWAY
    opened.write(REDIS)
    (item,) = opened.items()
    assert [fact.text for fact in item.document.facts] == [REDIS]
    opened.bank.failing = None
    report = opened.run(opened.review.delete([item.item.id]))
    assert report.done == (item.item.id,)
    assert opened.run(opened.memory.runtime.queue.pending()) == 0
    assert opened.memory.facts() == []
    opened.run(opened.review.undo())
    runtime = opened.memory.runtime
    opened.run(runtime.outbox.drain(runtime.bank, deadline_s=5, force=True))
    assert [fact.text for fact in opened.memory.facts()] == [REDIS]


def test_a_read_only_configuration_decides_nothing(desk):
    opened = desk(settings={"bank": {"backend": "memory", "id": "shop", "read_only": True}})
    with pytest.raises(MemoryOff):
        opened.run(opened.review.approve([1]))
    with pytest.raises(MemoryOff):
        opened.run(opened.review.undo())


def test_an_unknown_number_is_named(desk):
    opened = desk()
    for step in (opened.review.approve([41, 42]), opened.review.delete([41])):
        with pytest.raises(ConfigError, match="41"):
            opened.run(step)


def test_what_a_person_asks_to_keep_is_no_longer_held_back(desk):
    opened = desk(settings=BEFORE)
    opened.write(REDIS)
    assert opened.recalled("redis cache port") == []
    assert opened.memory.remember(REDIS).outcome == "stored"
    assert opened.recalled("redis cache port") == [REDIS]
