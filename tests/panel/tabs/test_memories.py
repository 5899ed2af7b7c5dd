"""The finder in the panel: a memory is found, edited, deleted and brought back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindsight_core.engine.panel_place import PanelPlace
from hindsight_core.errors import ConfigError
from hindsight_core.panel.memory_form import read_form

GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."


@pytest.fixture
async def finder(project: Any, read: Any, show: Any) -> Any:
    from hindsight_core.identity import fact_id
    from hindsight_core.memory import Document, Fact
    from hindsight_core.panel.view import PanelView
    from hindsight_core.runtime import Runtime

    (project / ".hindsight").mkdir()
    config = 'profile = "active-memory"\n[bank]\nid = "auto"\n'
    (project / ".hindsight/config.toml").write_text(config)
    loaded = read()
    runtime = Runtime(loaded)
    for text in (GATEWAY, COFFEE):
        fact = Fact(id=fact_id(text), text=text)
        await runtime.bank.retain(Document(id=fact.id, text="", facts=(fact,)))
    screens = []

    async def open_(mode: str = "", query: str = "") -> Any:
        view = PanelView(loaded=loaded, state="active", reason=None, runtime=runtime, reload=read)
        view.place = PanelPlace("Memories", mode=mode, query=query)
        screen = show(view)
        screens.append(screen)
        await screen.go("Memories")
        await screen.panel.open()
        await screen.press("enter")
        return screen

    yield open_
    for screen in screens:
        screen.panel.close()
    await runtime.close()


async def stands(screen: Any, text: str) -> Any:
    runtime = screen.view.runtime
    page = await runtime.bank.list_facts(state=None, limit=50)
    memories = await runtime.active.of_facts(page.facts)
    return next(memory for memory in memories if text in memory.fact.text)


@pytest.mark.spec("am/A-TOOL")
async def test_typing_searches_text_id_scope_kind_and_state(finder: Any) -> None:
    screen = await finder()
    assert "2 of 2" in screen.body[0]
    await screen.type("gatway")
    assert "find: gatway" in screen.body[0]
    assert "1 of 2" in screen.body[0]
    assert GATEWAY in screen.body[1]
    await screen.press("ctrl+u")
    await screen.type((await stands(screen, "coffee")).fact.id[:8])
    assert COFFEE in screen.body[1]
    await screen.press("ctrl+u")
    await screen.type("active project fact")
    assert "2 of 2" in screen.body[0]
    await screen.press("ctrl+u")
    await screen.type("deleted")
    assert screen.body[1] == "nothing matches"
    await screen.press("backspace", *["backspace"] * 6)
    assert "2 of 2" in screen.body[0]


@pytest.mark.spec("am/A-TOOL")
async def test_a_deletion_asks_and_can_be_taken_back(finder: Any) -> None:
    screen = await finder()
    await screen.type("coffee")
    await screen.press("enter", "d")
    assert "delete" in screen.said
    await screen.press("n")
    assert (await stands(screen, "coffee")).is_active
    await screen.press("enter", "d", "y")
    assert screen.said.startswith("deleted")
    assert not (await stands(screen, "coffee")).is_active
    await screen.press("enter", "u")
    assert screen.said.startswith("restored")
    assert (await stands(screen, "coffee")).is_active


@pytest.mark.spec("am/A-TOOL")
async def test_opened_to_forget_enter_asks_at_once(finder: Any) -> None:
    screen = await finder("forget", "coffee")
    assert COFFEE in screen.body[1]
    await screen.press("enter")
    assert "delete “The office coffee machine" in screen.said
    await screen.press("y")
    assert not (await stands(screen, "coffee")).is_active


@pytest.mark.spec("am/A-TOOL")
async def test_opened_to_edit_the_fields_are_changed_as_json(finder: Any) -> None:
    screen = await finder("edit", "coffee")
    await screen.press("enter")
    form = json.loads(screen.panel.edit.text)
    assert set(form) == {
        "text", "kind", "scope", "projectId", "confidence", "priority", "status",
    }  # fmt: skip
    form |= {"confidence": 0.9, "scope": "global", "kind": "fact"}
    form["text"] = "The office coffee machine is descaled on Mondays."
    await screen.panel.edited(json.dumps(form))
    await screen.done()

    assert screen.said == "saved"
    memory = await stands(screen, "Mondays")
    assert (memory.record.confidence, memory.record.scope) == (0.9, "global")
    page = await screen.view.runtime.bank.list_facts(search="Fridays")
    assert page.total == 0


@pytest.mark.spec("am/A-TOOL")
async def test_what_cannot_be_saved_is_told_and_changes_nothing(finder: Any) -> None:
    screen = await finder("edit", "coffee")
    await screen.press("enter")
    await screen.panel.edited('{"confidence": 2}')
    await screen.done()
    assert screen.said.startswith("not saved: confidence")
    await screen.press("enter")
    await screen.panel.edited(None)
    assert screen.said == "nothing was changed"


@pytest.mark.spec("am/A-TOOL")
async def test_a_memory_is_pinned(finder: Any) -> None:
    screen = await finder("", "coffee")
    await screen.press("enter", "p")
    assert (await stands(screen, "coffee")).fact.pinned


@pytest.mark.spec("am/A-TOOL")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("no json", "JSON"),
        ("[]", "object"),
        ('{"id": "x"}', "'id'"),
        ('{"text": 3}', "text"),
        ('{"priority": -1}', "priority"),
        ('{"confidence": true}', "confidence"),
        ('{"status": "gone"}', "status"),
    ],
)
def test_a_form_with_a_fault_names_it(text: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        read_form(text)


async def test_there_is_no_such_tab_without_active_memory(screen: Any) -> None:
    assert "Memories" not in screen.text
