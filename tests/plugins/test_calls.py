from __future__ import annotations

import asyncio
import sys
import threading
import time

import pytest

from hindsight_core.errors import BankError, PluginError
from hindsight_core.hookspecs import DecisionRequest, hookimpl
from hindsight_core.memory import Document, Fact, Hit, Query
from hindsight_core.plugins import Hooks, load_hooks
from hindsight_core.transcript.entry import Entry, Text, Window
from hindsight_core.turns import Plan, Turn

TURN = Turn("t1", "s1", "how is it built?")
QUERY = Query("build")
WINDOW = Window("s1", "pi", (Entry("e1", "user", (Text("x"),)),))
A, B, C = (Fact(x, f"fact {x}") for x in "abc")


@pytest.fixture
def clock():
    class Seconds:
        now = 1000.0

        def __call__(self):
            return self.now

    return Seconds()


def planner(reason, *, log=None, result="plan"):
    class Planner:
        @hookimpl
        def hindsight_plan_recall(self, turn):
            if log is not None:
                log.append(reason)
            return Plan(reason=reason) if result == "plan" else result

    return Planner()


# -- first ----------------------------------------------------------------------------------


async def test_first_asks_third_parties_before_built_ins_whenever_those_register(third_party):
    hooks, log = Hooks(), []
    hooks.register_builtin(planner("early", log=log))
    third_party(hooks, planner("theirs", log=log, result=None))
    hooks.register_builtin(planner("late", log=log))
    assert (await hooks.plan_recall(TURN)).reason == "late"
    assert log == ["theirs", "late"]


async def test_first_goes_on_when_an_awaitable_turns_out_none(third_party):
    class Undecided:
        @hookimpl
        async def hindsight_plan_recall(self, turn):
            await asyncio.sleep(0)

    hooks = Hooks()
    hooks.register_builtin(planner("ours"))
    third_party(hooks, Undecided())
    assert (await hooks.plan_recall(TURN)).reason == "ours"


async def test_a_plain_function_may_return_an_awaitable(third_party):
    class Returns:
        @hookimpl
        def hindsight_remind(self):
            async def later():
                return "later"

            return later()

    hooks = Hooks()
    third_party(hooks, Returns())
    assert await hooks.remind(TURN) == "later"


async def test_an_empty_sequence_is_an_answer_and_none_passes_on(third_party):
    class Nothing:
        @hookimpl
        def hindsight_extract_facts(self, window):
            return []

    hooks = Hooks()
    assert await hooks.extract_facts(WINDOW) is None
    third_party(hooks, Nothing())
    assert await hooks.extract_facts(WINDOW) == ()


async def test_tryfirst_and_trylast_hold(third_party):
    log = []

    class Last:
        @hookimpl(trylast=True)
        def hindsight_plan_recall(self):
            log.append("third party, last")

    class First:
        @hookimpl(tryfirst=True)
        def hindsight_plan_recall(self):
            log.append("built-in, first")

    hooks = Hooks()
    third_party(hooks, Last())
    hooks.register_builtin(First())
    hooks.register_builtin(planner("built-in", log=log, result=None))
    await hooks.plan_recall(TURN)
    assert log == ["built-in, first", "built-in", "third party, last"]


async def test_only_a_complete_set_of_answers_decides(third_party):
    class Half:
        @hookimpl
        def hindsight_decide(self, request):
            return {"inject": True}

    class Whole:
        @hookimpl
        def hindsight_decide(self, request):
            return {"inject": False, "read:shop": True, "more": True}

    hooks = Hooks()
    hooks.register_builtin(Whole())
    third_party(hooks, Half())
    answers = await hooks.decide(DecisionRequest(("inject", "read:shop"), "what now?"))
    assert answers == {"inject": False, "read:shop": True}
    assert hooks.problems == []


# -- fold and notify ------------------------------------------------------------------------


async def test_fold_passes_the_value_on_and_none_leaves_it(third_party):
    class Drops:
        @hookimpl
        def hindsight_filter_facts(self, facts):
            return [f for f in facts if f.id != "a"]

    class Nothing:
        @hookimpl
        async def hindsight_filter_facts(self, facts):
            return None

    class Reverses:
        @hookimpl
        def hindsight_filter_facts(self, window, facts):
            return tuple(reversed(facts))

    hooks = Hooks()
    hooks.register_builtin(Reverses())
    third_party(hooks, Nothing(), name="nothing")
    third_party(hooks, Drops(), name="drops")
    assert await hooks.filter_facts(WINDOW, [A, B, C]) == (C, B)


async def test_fold_without_implementations_gives_the_value_back():
    hit = Hit(A, "shop", 0.5)
    hooks = Hooks()
    assert await hooks.filter_hits(TURN, QUERY, [hit]) == (hit,)
    assert await hooks.filter_window(WINDOW) is WINDOW
    assert await hooks.before_store(Document("d", "text")) == Document("d", "text")


async def test_notify_calls_all_and_a_failure_stops_nobody(third_party):
    seen = []

    class Fails:
        @hookimpl
        def hindsight_event(self, event):
            raise RuntimeError("no")

    class Sees:
        @hookimpl
        async def hindsight_event(self, event):
            seen.append((event.name, dict(event.fields)))
            return "ignored"

    hooks = Hooks()
    hooks.register_builtin(Sees())
    third_party(hooks, Fails(), name="fails")
    third_party(hooks, Sees(), name="sees")
    await hooks.event("recall", found=3)
    assert seen == [("recall", {"found": 3})] * 2


# -- built-ins ------------------------------------------------------------------------------


async def test_errors_of_built_ins_propagate():
    class Ours:
        @hookimpl
        async def hindsight_plan_recall(self):
            raise BankError("down")

    hooks = Hooks()
    hooks.register_builtin(Ours())
    with pytest.raises(BankError, match="down"):
        await hooks.plan_recall(TURN)


async def test_a_wrong_result_of_a_built_in_is_an_error():
    hooks = Hooks()
    hooks.register_builtin(planner("x", result="a plan"))
    with pytest.raises(PluginError, match=r"hindsight_plan_recall returned str where Plan"):
        await hooks.plan_recall(TURN)


async def test_built_ins_run_in_the_caller_and_have_no_deadline():
    class Slow:
        thread = None

        @hookimpl
        def hindsight_remind(self):
            self.thread = threading.get_ident()
            time.sleep(0.02)
            return "done"

    slow, hooks = Slow(), Hooks(timeout_ms=1)
    hooks.register_builtin(slow)
    assert await hooks.remind(TURN) == "done"
    assert slow.thread == threading.get_ident()


# -- third parties that fail ----------------------------------------------------------------


async def test_a_failing_plugin_costs_nothing_but_its_own_part(install):
    install("raising")
    hooks, told = load_hooks(env={}), []
    hooks.on_notice = told.append
    hooks.register_builtin(planner("ours"))
    assert (await hooks.plan_recall(TURN)).reason == "ours"
    assert await hooks.filter_facts(WINDOW, [A]) == (A,)
    assert await hooks.remind(TURN) is None
    assert len(told) == 1 and hooks.problems == told
    assert "hindsight-raising 1.2.0" in told[0]
    assert "hindsight_plan_recall" in told[0] and "no plan today" in told[0]


async def test_three_failures_open_the_breaker_for_thirty_seconds(third_party, clock):
    log = []

    class Fails:
        works = False

        @hookimpl
        def hindsight_plan_recall(self):
            log.append("called")
            if not self.works:
                raise ValueError("no")
            return Plan(reason="theirs")

        @hookimpl
        def hindsight_event(self, event):
            """Works, and must not hide that the other hook fails."""

    fails, told, hooks = Fails(), [], Hooks(monotonic=clock)
    hooks.on_notice = told.append
    third_party(hooks, fails)
    for _ in range(5):
        await hooks.plan_recall(TURN)
        await hooks.event("turn")
    assert log == ["called"] * 3
    clock.now += 31
    await hooks.plan_recall(TURN)
    await hooks.plan_recall(TURN)
    assert log == ["called"] * 4
    fails.works = True
    clock.now += 31
    assert (await hooks.plan_recall(TURN)).reason == "theirs"
    assert (await hooks.plan_recall(TURN)).reason == "theirs"
    assert len(told) == 2 and told[1].endswith("works again")


async def test_a_hanging_plugin_meets_its_deadline(install):
    install("hanging")
    hooks = load_hooks(env={}, hook_timeout_ms=20)
    hooks.register_builtin(planner("ours"))
    release = sys.modules["hindsight_hanging"].release
    try:
        started = time.monotonic()
        assert (await hooks.plan_recall(TURN)).reason == "ours"
        assert await hooks.remind(TURN) is None
        assert time.monotonic() - started < 2
        assert "no answer within 20 ms" in hooks.problems[0]
        [plugin] = [p for p in hooks.plugins if not p.builtin]
        assert plugin.stuck == 2
    finally:
        release.set()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await asyncio.wait({task}, timeout=1)


async def test_a_plugin_with_three_stuck_calls_is_not_called_any_more(third_party, clock):
    release, calls = threading.Event(), []

    class Hangs:
        @hookimpl
        def hindsight_remind(self):
            calls.append(1)
            release.wait()

    hooks = Hooks(timeout_ms=5, monotonic=clock)
    third_party(hooks, Hangs())
    try:
        for _ in range(6):
            await hooks.remind(TURN)
            clock.now += 31
        assert len(calls) == 3
    finally:
        release.set()


async def test_a_cancelled_turn_is_cancelled_and_no_failure(third_party):
    started = asyncio.Event()

    class Waits:
        @hookimpl
        async def hindsight_plan_recall(self):
            started.set()
            await asyncio.Event().wait()

    hooks = Hooks(timeout_ms=60_000)
    third_party(hooks, Waits())
    task = asyncio.create_task(hooks.plan_recall(TURN))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert hooks.problems == []


@pytest.mark.parametrize(
    ("method", "arguments", "result"),
    [
        ("plan_recall", (TURN,), "a plan"),
        ("judge_hits", (TURN, QUERY, ()), 0.7),
        ("filter_hits", (TURN, QUERY, ()), "hits"),
        ("remind", (TURN,), b"bytes"),
        ("filter_window", (WINDOW,), [WINDOW]),
        ("extract_facts", (WINDOW,), ["a fact as text"]),
        ("filter_facts", (WINDOW, (A,)), [A, None]),
        ("resolve_facts", ((A,), {}), {"a": "add"}),
        ("before_store", (Document("d", "t"),), True),
        ("decide", (DecisionRequest(("inject",), "x"),), {"inject": "yes"}),
    ],
)
async def test_a_wrong_result_is_a_failure_and_changes_nothing(
    third_party, method, arguments, result
):
    # what is called takes no arguments, so that one object serves every hook
    implementation = type("Wrong", (), {f"hindsight_{method}": hookimpl(lambda self: result)})()
    hooks, bare = Hooks(), Hooks()
    third_party(hooks, implementation)
    assert await getattr(hooks, method)(*arguments) == await getattr(bare, method)(*arguments)
    [problem] = hooks.problems
    assert "hindsight-toy" in problem and "returned" in problem


def test_folders_must_be_folders(third_party):
    class Wrong:
        @hookimpl
        def hindsight_template_dirs(self):
            return 7

    hooks = Hooks()
    third_party(hooks, Wrong())
    assert hooks.template_dirs(None) == ()
    assert "folders" in hooks.problems[0]
