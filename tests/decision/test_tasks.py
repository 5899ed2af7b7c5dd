"""The open tasks: unavailable is not empty."""

from __future__ import annotations

import pytest

from hindsight_core.decision.builtin import DecisionPlugin
from hindsight_core.decision.readers.omp import OmpTodo
from hindsight_core.decision.readers.rpiv import RpivTodo
from hindsight_core.decision.tasks import OpenTasks, host_tasks
from hindsight_core.errors import ProviderError
from hindsight_core.hookspecs import hookimpl
from hindsight_core.plugins import Hooks
from hindsight_core.plugins.plugin import Plugin
from hindsight_core.transcript.entry import Entry, ToolResult
from hindsight_core.transcript.readers.pi import read_branch
from hindsight_core.transcript.record import Record

TASKS = [
    {"id": 1, "subject": "dig", "status": "completed"},
    {
        "id": 2,
        "subject": "plant",
        "status": "pending",
        "description": "the beans",
        "blockedBy": [1],
    },
    {"id": 3, "subject": "water", "status": "in_progress", "owner": "ann"},
    {"id": 4, "subject": "weed", "status": "deferred"},
    {"id": 5, "subject": "burn", "status": "deleted"},
]
OPEN = ["[in progress] water (ann)", "[pending] plant: the beans (blocked by 1)", "[deferred] weed"]


def noted(name: str, data: object, **changes: object) -> Entry:
    return Entry(name, "host", (), synthetic=True, record=Record(name, data), **changes)


class Bridge:
    """A host that answers ``host/tasks``."""

    def __init__(self, reply: object, *capabilities: str) -> None:
        self.capabilities = frozenset(capabilities or ("tasks",))
        self.reply = reply

    async def request(self, method, params):
        assert method == "host/tasks"
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


class Readers:
    """Registers readers as a plugin does."""

    def __init__(self, **readers: object) -> None:
        self._readers = readers

    @hookimpl
    def hindsight_register_task_readers(self, register):
        for name, reader in self._readers.items():
            register(name, lambda reader=reader: reader)


class Fixed:
    def __init__(self, found: object) -> None:
        self.found, self.calls = found, 0

    def read(self, entries):
        self.calls += 1
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def tasks(bridge: object = None, **readers: object) -> OpenTasks:
    hooks = Hooks()
    hooks.register_builtin(DecisionPlugin())
    if readers:
        hooks.add(Plugin("p", "hindsight-p", "1", object=Readers(**readers)))
    return OpenTasks(hooks, bridge, timeout_s=1.0)


@pytest.mark.spec("s1/S-DEC-11")
@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"tasks": TASKS, "nextId": 6}, OPEN),
        ({"tasks": [], "nextId": 1}, []),
        ({"tasks": [], "nextId": "1"}, None),
        ({"tasks": {}, "nextId": 1}, None),
        ({"tasks": [{"id": 1}], "nextId": 2}, None),
        ({"nextId": 1}, None),
    ],
)
def test_rpiv_todo_in_both_forms(data, found):
    state = noted("rpiv-todo-state", data)
    assert RpivTodo().read([state]) == found
    result = Entry("t", "tool", (ToolResult("c", "todo", "ok"),), record=Record("todo", data))
    assert RpivTodo().read([result]) == found
    other = Entry("x", "assistant")
    assert RpivTodo().read([other]) is None


@pytest.mark.spec("s1/S-DEC-11")
def test_the_newest_state_entry_counts_before_a_result():
    old = noted("rpiv-todo-state", {"tasks": TASKS, "nextId": 6})
    new = noted("rpiv-todo-state", {"tasks": TASKS[:1], "nextId": 6})
    result = Entry("t", "tool", (), record=Record("todo", {"tasks": TASKS, "nextId": 6}))
    assert RpivTodo().read([old, new, result]) == []


def test_a_session_of_pi_carries_both_forms():
    data = {"tasks": TASKS, "nextId": 6}
    custom = {"type": "custom", "id": "a", "customType": "rpiv-todo-state", "data": data}
    message = {"role": "toolResult", "toolName": "todo", "content": "ok", "details": data}
    result = {"type": "message", "id": "b", "message": message}
    assert RpivTodo().read(read_branch([custom])) == OPEN
    assert RpivTodo().read(read_branch([result])) == OPEN
    failed = {"type": "message", "id": "b", "message": {**message, "isError": True}}
    assert RpivTodo().read(read_branch([failed])) is None
    ours = {"type": "custom", "id": "c", "customType": "hindsight-task", "data": data}
    assert read_branch([ours]) == ()


@pytest.mark.spec("s1/S-DEC-11")
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (
            {
                "phases": [
                    {
                        "name": "build",
                        "tasks": [
                            {"content": "walls", "status": "completed"},
                            {"content": "roof", "status": "blocked", "blocker": "rain"},
                            {"content": "door", "status": "pending"},
                        ],
                    }
                ]
            },
            ["[build] roof (blocked: rain)", "[build] door"],
        ),
        ({"phases": []}, []),
        ({"phases": [{"name": "x"}]}, None),
        ({"phases": "none"}, None),
        ({"op": "view", "phases": []}, None),
    ],
)
def test_the_phases_of_omp(data, found):
    result = Entry("t", "tool", (ToolResult("c", "todo", "ok"),), record=Record("todo", data))
    assert OmpTodo().read([result]) == found
    failed = Entry("t", "tool", (ToolResult("c", "todo", "", is_error=True),), record=result.record)
    assert OmpTodo().read([failed]) is None


@pytest.mark.spec("s1/S-DEC-11")
@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (
            {
                "kind": "ok",
                "goal": "a garden",
                "openItems": [
                    {"phase": "1", "title": "dig", "explanation": "deep"},
                    {"title": "plant"},
                ],
            },
            ("goal: a garden", "[1] dig: deep", "plant"),
        ),
        ({"kind": "ok", "openItems": []}, ()),
        ({"kind": "ok"}, None),
        ({"kind": "ok", "openItems": [{"phase": "1"}]}, None),
        ({"kind": "unavailable"}, None),
        ({}, None),
    ],
)
def test_what_the_host_says(reply, found):
    assert host_tasks(reply) == found


async def test_the_host_comes_first_then_plugins_then_ours():
    ours = noted("rpiv-todo-state", {"tasks": TASKS, "nextId": 6})
    host = Bridge({"kind": "ok", "openItems": [{"title": "host"}]})
    assert await tasks(host, mine=Fixed(["mine"])).read([ours]) == ("host",)
    away = Bridge(ProviderError("gone"))
    assert await tasks(away, mine=Fixed(["mine"])).read([ours]) == ("mine",)
    silent = Bridge({"kind": "ok", "openItems": []}, "entries")
    assert await tasks(silent, mine=Fixed(None)).read([ours]) == tuple(OPEN)
    assert await tasks(None, mine=Fixed([])).read([ours]) == ()
    assert await tasks(None).read([]) is None


@pytest.mark.parametrize("found", [ValueError("broken"), "one text", [1], {"a": 1}])
async def test_a_reader_that_fails_is_unavailable_and_then_left_alone(found):
    reader = Fixed(found)
    known = tasks(None, bad=reader)
    for _ in range(5):
        assert await known.read([]) is None
    assert reader.calls == 3


@pytest.mark.spec("s1/S-DEC-11")
async def test_unknown_is_told_as_unknown_and_none_as_none(kit, yes):
    for found, said in ((None, None), ([], "no open tasks"), (["dig SECRET"], "- dig ***")):
        made = kit(yes, plugins=[Readers(mine=Fixed(found))], decision={"inject_gate": True})
        await made.recall()
        assert made.backends["main"].states[0].task_state == said
