"""The tab Hub: mode, queue, receipts, replay of dead letters."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.memory import Document, Fact
from hindsight_core.panel.session import view_of
from hindsight_core.state.owner import Owner
from hindsight_core.testing.session import live_session

SECRET = "the words of a write"


async def waiting(view: Any, *names: str) -> None:
    for name in names:
        facts = (Fact(name, f"{SECRET} {name}"),)
        await view.runtime.queue.enqueue(view.runtime.bank_id, Document(name, "", facts=facts))


async def dead(view: Any, name: str) -> None:
    queue, bank = view.runtime.queue, view.runtime.bank_id
    await queue.enqueue(bank, Document(name, SECRET, facts=()))
    job = await queue.claim(bank, Owner.here())
    await queue.fail(job, "422: too large", retryable=False)


@pytest.fixture
async def hub(show: Any, view: Any) -> Any:
    """The hub of a session, opened on it."""
    view.hub = True
    view.live = live_session(view.runtime, session_id="s1")
    screen = show(view)
    await screen.panel.open()
    await screen.go("Hub")
    await screen.done()
    await screen.press("enter")
    yield screen
    screen.panel.close()


async def test_it_is_there_only_where_it_was_asked_for(screen: Any, hub: Any) -> None:
    assert "Hub" not in screen.lines[0]
    assert "[Hub]" in hub.lines[0]


@pytest.mark.spec("s1/S-SES-6")
async def test_the_mode_goes_round_and_the_next_turn_is_left_out(hub: Any) -> None:
    assert hub.body[:4] == [
        "mode        normal",
        "next turn   is kept",
        "tags        —",
        "banks       shop (coding, read, written: always)",
    ]
    for mode in ("read-only", "ignored", "normal"):
        await hub.press("m")
        assert hub.body[0] == f"mode        {mode}"
        assert hub.view.live.modes.choices.mode == mode
    await hub.press("x")
    assert hub.body[1] == "next turn   is left out"
    assert hub.view.live.modes.why_no_retain == "this turn is left out"
    await hub.press("x")
    assert hub.body[1] == "next turn   is kept"


async def test_a_tag_is_added_and_removed_by_its_name(hub: Any) -> None:
    for expected in ("tags        urgent", "tags        —"):
        await hub.press("g")
        await hub.type("urgent")
        await hub.press("enter")
        assert hub.body[2] == expected
    await hub.press("g", "enter")
    assert "A tag has" in hub.said


@pytest.mark.spec("s1/S-SES-6", "s1/S-Q-7")
async def test_what_waits_is_sent_and_has_a_receipt_and_no_text_is_shown(hub: Any) -> None:
    await waiting(hub.view, "w1", "w2")
    await hub.press("r")
    assert "queue       2 pending · 0 dead" in hub.body
    assert hub.body[5] == "› 1 w1  pending, 0 tries"
    assert "nothing was stored yet" in hub.text

    await hub.press("f")
    assert hub.said == "2 sent, 0 pending, 0 dead"
    assert "queue       0 pending · 0 dead" in hub.body
    assert [line.split()[-3] for line in hub.body[-2:]] in (["w1", "w2"], ["w2", "w1"])
    assert SECRET not in hub.text


@pytest.mark.spec("s1/S-SES-6")
async def test_a_dead_letter_is_replayed(hub: Any) -> None:
    await dead(hub.view, "d1")
    await waiting(hub.view, "w1")
    await hub.press("r")
    assert "queue       1 pending · 1 dead" in hub.body
    assert hub.body[5] == "› 1 d1  dead, 1 tries  422: too large"

    await hub.press("t")
    assert hub.said == "d1 is stored"
    assert "queue       0 pending · 0 dead" in hub.body
    assert await hub.view.runtime.bank.get_document("d1") is not None


async def test_the_personal_bank_counts_too(show: Any, view: Any, project: Any, read: Any) -> None:
    from hindsight_core.runtime import Runtime

    (project / ".hindsight/config.toml").write_text('[bank]\nid = "auto"\nuser_id = "me"\n')
    view.loaded = read()
    await view.runtime.close()
    view.runtime = Runtime(view.loaded)
    facts = (Fact("u1", "The user likes tea"),)
    await view.runtime.queue.enqueue("me", Document("note-u1", "", facts=facts))
    view.hub = True
    screen = show(view)
    await screen.go("Hub")
    await screen.done()
    await screen.press("enter")
    assert "queue       1 pending · 0 dead" in screen.body
    await screen.press("f")
    assert screen.said == "1 sent, 0 pending, 0 dead"
    assert (await view.runtime.open_bank("me").stats()).facts == 1
    assert "note-u1  1 facts" in screen.text
    screen.panel.close()


async def test_a_dead_letter_that_is_refused_again_says_why(hub: Any) -> None:
    from hindsight_core.errors import BankError

    await dead(hub.view, "d1")
    await hub.press("r")

    async def refuse(document: Any) -> Any:
        raise BankError("still too large", retryable=False)

    hub.view.runtime.bank.retain = refuse
    await hub.press("t")
    assert hub.said == "d1 is dead: still too large"


async def test_one_write_is_dropped_after_a_yes(hub: Any) -> None:
    await dead(hub.view, "d1")
    await waiting(hub.view, "w1")
    await hub.press("r", "D", "n")
    assert "1 pending · 1 dead" in hub.text
    await hub.press("D", "y")
    assert hub.said == "d1 was dropped"
    await hub.press("D", "y")
    assert "queue       0 pending · 0 dead" in hub.body
    await hub.press("t")
    assert hub.said == "the cursor is on no write"


async def test_without_a_session_the_queue_is_there_and_the_mode_is_not(
    show: Any, view: Any
) -> None:
    view.hub = True
    screen = show(view)
    await screen.go("Hub")
    await screen.done()
    await screen.press("enter", "m")
    assert screen.said == "no session is open here"
    assert "hindsight-mem sessions" in screen.text
    assert "0 pending" in screen.text
    screen.panel.close()


async def test_where_memory_is_not_active_it_says_why(show: Any, dormant: Any) -> None:
    dormant.hub = True
    screen = show(dormant)
    await screen.go("Hub")
    await screen.press("enter", "f", "m", "t")
    assert "No bank is declared" in screen.text
    screen.panel.close()


@pytest.mark.spec("s1/S-SES-6")
async def test_the_command_opens_it_once(view: Any) -> None:
    live = live_session(view.runtime, session_id="s1")

    class Engine:
        session = (live.opening, live)

    object.__setattr__(live.opening, "reload", view.reload)
    result = await live.commands.run("hindsight", "")
    assert result.panel is True
    assert view_of(Engine()).hub is True
    assert view_of(Engine()).hub is False
    await live.commands.run("mem", "")
    assert view_of(Engine()).hub is False
