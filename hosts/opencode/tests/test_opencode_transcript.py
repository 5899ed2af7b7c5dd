"""opencode's messages as entries."""

from __future__ import annotations

from typing import Any

import pytest
from hindsight_host_opencode.transcript import entries, is_aborted, said

from hindsight_core.transcript.entry import Image, Text, Thinking, ToolCall, ToolResult

Json = dict[str, Any]


def text(words: str, **flags: object) -> Json:
    return {"type": "text", "text": words, **flags}


def message(own: str, role: str, *parts: Json, **info: object) -> Json:
    time = {"created": 1_700_000_000_000}
    return {"info": {"id": own, "role": role, "time": time, **info}, "parts": list(parts)}


def test_a_conversation_is_a_chain_with_times() -> None:
    found = entries([message("a", "user", text("Hello")), message("b", "assistant", text("Hi"))])

    assert [(e.id, e.role, e.text, e.parent_id) for e in found] == [
        ("a", "user", "Hello", None),
        ("b", "assistant", "Hi", "a"),
    ]
    assert found[0].timestamp is not None and found[0].timestamp.year == 2023


@pytest.mark.spec("oc/O-EV-3")
def test_older_forms_of_a_message_are_read() -> None:
    found = entries([{"id": "a", "role": "user", "content": "Hello"}, {"info": {}}, 7, None])

    assert [(e.id, e.role, e.text) for e in found] == [("a", "user", "Hello")]


@pytest.mark.spec("oc/O-TX-2", "oc/O-CA-4")
def test_tools_and_thoughts_are_parts_of_their_own() -> None:
    done = {"status": "completed", "input": {"path": "a.py"}, "output": "print(1)"}
    broken = {"status": "error", "input": {}, "error": "no such file"}
    asked = message(
        "b", "assistant",
        {"type": "reasoning", "text": "Look first."},
        {"type": "step-start"},
        text("I look."),
        {"type": "tool", "tool": "read", "callID": "1", "state": done},
        {"type": "tool", "tool": "read", "callID": "2", "state": broken},
        {"type": "tool", "tool": "bash", "callID": "3", "state": {"status": "running"}},
    )  # fmt: skip

    said_it, results = entries([asked])

    assert said_it.parts == (
        Thinking("Look first."),
        Text("I look."),
        ToolCall("1", "read", {"path": "a.py"}),
        ToolCall("2", "read", {}),
        ToolCall("3", "bash", {}),
    )
    assert (results.role, results.parent_id) == ("tool", "b")
    assert results.parts == (
        ToolResult("1", "read", "print(1)"),
        ToolResult("2", "read", "no such file", is_error=True),
    )


@pytest.mark.spec("oc/O-TX-2")
def test_what_a_program_put_into_a_message_is_not_the_persons_word() -> None:
    asked = message(
        "a", "user", text("Look at it."), text("file content", synthetic=True),
        text("shown only", ignored=True), system="Be brief.",
    )  # fmt: skip

    person, program = entries([asked])

    assert (person.text, person.synthetic) == ("Look at it.", False)
    assert (program.role, program.synthetic) == ("user", True)
    assert program.text == "file content\nshown only\nBe brief."
    assert said(asked["parts"]) == "Look at it."
    assert entries([message("b", "user", text("go on", synthetic=True))])[0].synthetic


def test_a_compaction_is_a_record_of_the_host() -> None:
    asked = message("a", "user", {"type": "compaction", "auto": False})
    summary = message("b", "assistant", text("So far ..."), summary=True, agent="compaction")

    (found,) = entries([asked, summary], agents=frozenset({"build"}))

    assert (found.role, found.compaction, found.synthetic) == ("host", True, True)


def test_an_image_is_kept_as_a_place_only() -> None:
    picture = {"type": "file", "mime": "image/png", "url": "data:..."}

    (found,) = entries([message("a", "user", text("See"), picture)])

    assert found.parts == (Text("See"), Image())


def test_only_the_messages_of_some_agents() -> None:
    listed = [
        message("a", "user", text("One"), agent="build"),
        message("b", "user", text("Two"), agent="plan"),
        message("c", "assistant", text("Three"), mode="plan"),
        message("d", "user", text("Four")),
    ]

    found = entries(listed, agents=frozenset({"build"}))

    assert [(e.id, e.parent_id) for e in found] == [("a", None), ("d", "a")]


def test_an_aborted_answer() -> None:
    stopped = message("b", "assistant", error={"name": "MessageAbortedError", "data": {}})
    failed = message("b", "assistant", error={"name": "APIError", "data": {}})

    assert is_aborted([message("a", "user", text("x")), stopped])
    assert not is_aborted([failed]) and not is_aborted([]) and not is_aborted(["x"])
