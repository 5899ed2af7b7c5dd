from __future__ import annotations

import pytest

from hindsight_core.errors import BudgetExceeded, ProviderError
from hindsight_core.recall.tasks.detector import UNCHANGED, detect
from hindsight_core.recall.tasks.state import TaskState
from hindsight_core.testing.models import HANG
from hindsight_core.turns import Turn


@pytest.fixture
def state():
    heard = TaskState(title="Import")
    for prompt in ("first", "second"):
        heard = heard.heard(Turn(id="t", session_id="s", prompt=prompt), keep=12)
    return heard


async def asked(kit, state, reply):
    made = kit(script={"tasks/detect": reply})
    return made, await detect(made.stages, state, session_id="s1", timeout_s=5)


@pytest.mark.spec("pi/T-03")
async def test_the_call_is_short_cached_and_of_the_session(kit, state):
    made, _ = await asked(kit, state.same('{"changed": false}'), {"changed": False})
    (request,) = made.model.requests
    assert (request.stage, request.max_tokens, request.cache) == ("tasks/detect", 120, True)
    assert request.session_id == "s1"
    assert request.json


@pytest.mark.spec("pi/T-03", "pi/T-04")
async def test_messages_alternate_and_begin_the_same_at_every_turn(kit):
    state, before = TaskState(), []
    for number in range(4):
        state = state.heard(Turn(id="t", session_id="s", prompt=f"turn {number}"), keep=12)
        made, detected = await asked(kit, state, {"changed": False})
        state = state.same(detected.reply)
        messages = made.model.requests[0].messages
        roles = [message.role for message in messages]
        assert roles == ["user", "assistant"] * number + ["user"]
        assert messages[: len(before)] == tuple(before)
        before = list(messages)


@pytest.mark.spec("pi/T-03")
async def test_without_a_turn_nobody_is_asked(kit):
    made, detected = await asked(kit, TaskState(), {"changed": True, "query": "x"})
    assert detected is UNCHANGED and made.model.requests == []


@pytest.mark.spec("pi/T-05")
@pytest.mark.parametrize(
    ("reply", "changed", "title", "query"),
    [
        ('{"changed": true, "title": "Pay", "query": "pay api"}', True, "Pay", "pay api"),
        ('{"changed": true, "query": "pay api"}', True, "pay api", "pay api"),
        ('{"changed": true, "title": "Pay"}', False, "", ""),
        ('{"changed": true, "title": "Pay", "query": "  "}', False, "", ""),
        ('{"changed": "true", "query": "pay api"}', False, "", ""),
        ('{"changed": 1, "query": "pay api"}', False, "", ""),
        ('{"changed": false}', False, "", ""),
        ('```json\n{"changed": false}\n```', False, "", ""),
    ],
)
async def test_what_counts_as_a_change(kit, state, reply, changed, title, query):
    _, detected = await asked(kit, state, reply)
    assert (detected.changed, detected.title, detected.query) == (changed, title, query)
    assert detected.reply == reply


@pytest.mark.spec("pi/T-05", "pi/T-07")
@pytest.mark.parametrize("reply", ["no idea", '{"title": "x"}', "[]", '"changed"'])
async def test_what_cannot_be_read_is_unchanged_and_kept_nowhere(kit, state, reply):
    _, detected = await asked(kit, state, reply)
    assert detected is UNCHANGED and detected.reply is None


@pytest.mark.spec("pi/T-08")
@pytest.mark.parametrize(
    "reply", [ProviderError("down"), BudgetExceeded("spent"), ZeroDivisionError("oops"), ""]
)
async def test_it_never_raises(kit, state, reply):
    assert (await asked(kit, state, reply))[1] is UNCHANGED


@pytest.mark.spec("pi/T-08")
async def test_one_that_hangs_is_unchanged_in_time(kit, state):
    made = kit(script={"tasks/detect": HANG})
    assert await detect(made.stages, state, session_id="s1", timeout_s=0.02) is UNCHANGED


@pytest.mark.spec("pi/T-06")
def test_what_the_prompt_demands(prompts):
    from hindsight_core.prompt_contexts_recall import TaskDetect

    system = prompts.render("tasks/detect", TaskDetect(())).system
    flat = " ".join(system.split()).casefold()
    for demand in (
        "goes on, corrects, complains, tries again, asks for the next step",
        "review",
        "a different subject",
        "return to a task that stands under past tasks is a change too",
        "letter for letter",
        "2 to 6 words that name the subject",
        "3 to 12 words",
        "concrete subjects",
        "when you are not sure, it is not changed",
        "untrusted data",
    ):
        assert demand in flat
