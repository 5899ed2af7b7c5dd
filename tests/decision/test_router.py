"""Which banks a turn reads and writes, and what counts when nobody answers."""

from __future__ import annotations

import pytest

from hindsight_core.config.bank_entries import bank_entries
from hindsight_core.config.settings import Settings
from hindsight_core.errors import ConfigError

LIFE = {"id": "me", "role": "life"}
GATES = {"inject_gate": True, "bank_gate": True}


def banks(*entries: dict) -> dict:
    return {"entries": list(entries)}


@pytest.mark.spec("s1/S-DEC-2")
async def test_the_recall_call_asks_for_every_readable_bank(kit, yes):
    entries = banks(
        {"id": "shop"},
        LIFE,
        {"id": "off", "enabled": False},
        {"id": "drop", "access": "write"},
    )
    made = kit(yes, decision=GATES, bank=entries)
    decided = await made.recall()
    [asked] = made.backends["main"].asked
    assert list(asked) == ["inject", "read:shop", "read:me"]
    assert decided.banks == ("shop", "me")
    assert all(asked.values())


@pytest.mark.spec("s1/S-DEC-2")
async def test_the_retain_call_asks_for_decision_entries_only(kit, yes):
    entries = banks(
        {"id": "shop"},
        {"id": "team", "role": "team", "retain_mode": "decision"},
        {"id": "me", "role": "life", "retain_mode": "explicit-only"},
        {"id": "ro", "access": "read", "retain_mode": "decision"},
    )
    made = kit(yes, bank=entries)
    await made.retain()
    assert list(made.backends["main"].asked[0]) == ["write:team"]


@pytest.mark.spec("s1/S-DEC-3")
@pytest.mark.parametrize(
    "answer", [{}, {"inject": 1}, {"inject": "yes"}, {"inject": None}, None, []]
)
async def test_an_answer_that_leaves_something_out_is_a_failure_and_no_no(kit, answer):
    made = kit(answer, decision={"inject_gate": True})
    decided = await made.recall()
    assert (decided.skip, decided.reason, decided.fallback) == (None, "backends-failed", True)
    assert decided.failed[0].failure == "incomplete"


@pytest.mark.spec("s1/S-DEC-3", "s1/S-DEC-7")
async def test_ids_that_nobody_asked_are_dropped_and_reported(kit):
    answer = {"inject": True, "read:shop": True, "read:me": False, "read:evil": True}
    made = kit(answer, decision=GATES, bank=banks({"id": "shop"}, LIFE))
    decided = await made.recall()
    assert (decided.banks, decided.dropped) == (("shop",), ("evil",))


@pytest.mark.spec("s1/S-DEC-7")
async def test_a_bank_that_is_gone_when_the_answer_comes_is_dropped(kit, yes):
    entries = list(bank_entries(Settings.model_validate({"bank": banks(LIFE)}), "shop"))

    def answer(questions):
        entries[:] = [entry for entry in entries if entry.id != "me"]
        return yes(questions)

    made = kit(answer, decision=GATES, more={"banks": lambda: tuple(entries)})
    decided = await made.recall()
    assert (decided.banks, decided.dropped) == (("shop",), ("me",))


@pytest.mark.spec("s1/S-DEC-4")
@pytest.mark.parametrize(
    ("gates", "answer", "right"),
    [
        ({"inject_gate": True}, {"inject": False}, ((), "decision-no-inject")),
        ({"inject_gate": True}, {"inject": True}, (("shop", "me"), None)),
        (GATES, {"inject": True, "read:shop": False, "read:me": True}, (("me",), None)),
        (
            GATES,
            {"inject": True, "read:shop": False, "read:me": False},
            ((), "decision-no-banks"),
        ),
        (GATES, {"inject": False, "read:shop": True, "read:me": True}, ((), "decision-no-inject")),
        (
            {"bank_gate": True},
            {"inject": False, "read:shop": True, "read:me": True},
            ((), "decision-no-inject"),
        ),
    ],
)
async def test_what_the_gates_do(kit, gates, answer, right):
    made = kit(answer, decision=gates, bank=banks(LIFE))
    decided = await made.recall()
    assert (decided.banks, decided.skip) == right


@pytest.mark.spec("s1/S-DEC-5")
async def test_always_entries_are_written_without_the_model_and_explicit_ones_never(kit):
    entries = banks(
        {"id": "shop"},
        {"id": "team", "role": "team", "retain_mode": "decision"},
        {"id": "me", "role": "life"},
    )
    chosen = await kit({"write:team": True}, bank=entries).retain()
    assert chosen.banks == ("shop", "team")
    refused = await kit({"write:team": False, "write:me": True}, bank=entries).retain()
    assert (refused.banks, refused.dropped) == (("shop",), ("me",))
    away = await kit(RuntimeError("down"), bank=entries).retain()
    assert away.banks == ("shop",)


@pytest.mark.spec("s1/S-DEC-6")
async def test_the_next_rung_is_asked_until_one_answers(kit, scripted, yes):
    rungs = {
        "raises": scripted(RuntimeError("boom")),
        "partial": scripted({}),
        "good": scripted(yes),
        "never": scripted(yes),
    }
    made = kit(backends=rungs, decision={"inject_gate": True})
    decided = await made.recall()
    assert (decided.backend, decided.attempt, decided.reason) == ("good", 3, "good")
    assert [(f.backend, f.failure) for f in decided.failed] == [
        ("raises", "error"),
        ("partial", "incomplete"),
    ]
    assert rungs["never"].asked == []


@pytest.mark.spec("s1/S-DEC-6")
async def test_a_rung_that_is_late_costs_its_own_time(kit, scripted, yes):
    import asyncio

    class Hanging:
        async def answer(self, state, questions):
            await asyncio.Event().wait()

    rungs = {"slow": Hanging(), "good": scripted(yes)}
    made = kit(backends=rungs, decision={"inject_gate": True, "timeout_ms": 10})
    decided = await made.recall()
    assert decided.backend == "good"
    assert decided.failed[0].failure == "timeout"
    assert "10 ms" in decided.failed[0].reason


@pytest.mark.spec("s1/S-DEC-6")
@pytest.mark.parametrize(
    ("settings", "read", "written"),
    [
        ({"fallback_banks": ["team", "gone"]}, ("team",), ("shop", "team")),
        ({"fallback_recall_banks": ["me"], "fallback_banks": ["team"]}, ("me",), ("shop", "team")),
        ({"fallback_recall_banks": ["drop"]}, (), ("shop",)),
        ({"fallback_retain_banks": ["team"]}, (), ("shop", "team")),
        ({}, (), ("shop",)),
    ],
)
async def test_the_fallback_lists_hold_only_what_is_still_there(kit, settings, read, written):
    entries = banks(
        {"id": "shop"},
        {"id": "team", "role": "team", "retain_mode": "decision"},
        LIFE,
        {"id": "drop", "access": "write", "enabled": False},
    )
    made = kit(RuntimeError("down"), decision={**GATES, **settings}, bank=entries)
    decided = await made.recall()
    assert decided.banks == read
    assert decided.skip == (None if read else "decision-no-banks")
    assert (await made.retain()).banks == written


@pytest.mark.spec("s1/S-DEC-6")
async def test_on_fallback_inject_counts_as_yes(kit):
    made = kit(RuntimeError("down"), decision={"inject_gate": True}, bank=banks(LIFE))
    decided = await made.recall()
    assert (decided.banks, decided.skip, decided.fallback) == (("shop", "me"), None, True)


@pytest.mark.spec("s1/S-DEC-6", "s1/S-TEL-2")
@pytest.mark.parametrize(
    ("answer", "settings", "reason"),
    [
        (True, {"enabled": False}, "disabled"),
        (ConfigError("no model is configured"), {}, "no-model"),
        (RuntimeError("down"), {}, "backends-failed"),
    ],
)
async def test_a_fallback_says_why(kit, answer, settings, reason):
    made = kit(answer, decision={"inject_gate": True, **settings})
    decided = await made.recall()
    assert (decided.reason, decided.fallback) == (reason, True)
    assert bool(made.backends["main"].asked) is (reason != "disabled")


async def test_without_candidates_nobody_is_asked(kit, yes):
    made = kit(yes, decision=GATES, bank=banks({"id": "shop", "access": "write"}))
    decided = await made.recall()
    assert (decided.reason, decided.banks) == ("no-candidates", ())
    assert (await made.retain()).reason == "no-candidates"
    assert made.created == []


@pytest.mark.spec("s1/S-DEC-9")
async def test_it_never_raises_into_a_turn(kit):
    class Broken:
        def __getattribute__(self, name):
            raise ZeroDivisionError

    made = kit(backends={"broken": Broken()}, decision=GATES)
    assert (await made.recall()).reason == "backends-failed"
    made.router._tasks = None
    assert (await made.recall()).reason == "backends-failed"


@pytest.mark.spec("s1/S-DEC-12")
async def test_the_same_question_about_the_same_message_is_asked_once_a_minute(kit, yes):
    entries = banks({"id": "team", "role": "team", "retain_mode": "decision"})
    made = kit(yes, decision=GATES, bank=entries)
    backend = made.backends["main"]
    first = await made.recall()
    nudge = await made.recall()
    assert (first.cached, nudge.cached, len(backend.asked)) == (False, True, 1)
    assert nudge.banks == first.banks
    await made.retain()
    assert len(backend.asked) == 2
    await made.recall("another message")
    assert len(backend.asked) == 3
    made.clock.advance(seconds=61)
    await made.recall()
    assert len(backend.asked) == 4


@pytest.mark.spec("s1/S-DEC-12")
async def test_a_fallback_is_not_kept(kit, yes):
    made = kit(RuntimeError("down"), yes, decision={"inject_gate": True})
    assert (await made.recall()).fallback
    again = await made.recall()
    assert (again.fallback, again.backend) == (False, "main")


async def test_a_backend_that_fails_is_left_alone_for_a_while(kit):
    made = kit(RuntimeError("down"), decision={"inject_gate": True})
    for number in range(5):
        await made.recall(f"message {number}")
    assert len(made.backends["main"].asked) == 3
    made.clock.advance(seconds=31)
    await made.recall("later")
    assert len(made.backends["main"].asked) == 4
