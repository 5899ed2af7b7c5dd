"""Related memories are combined by the person alone, one pair at a time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindsight_core.engine.panel_place import PanelPlace
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact
from hindsight_core.panel.view import PanelView
from hindsight_core.runtime import Runtime
from hindsight_core.testing.models import ModelServer

FIRST = "The user prefers tabs in Python files."
SECOND = "In Python files the user prefers tabs of width four."
BOTH = "The user prefers tabs of width four in Python files."
OWN = "The user wants tabs of width four in Python files."
MERGED = {"merge": True, "text": BOTH, "reason": "the same wish"}


@pytest.fixture
async def review(
    project: Any, read: Any, show: Any, loopback: None, monkeypatch: pytest.MonkeyPatch
) -> Any:
    (project / ".hindsight").mkdir()
    config = 'profile = "active-memory"\n[bank]\nid = "auto"\n'
    (project / ".hindsight/config.toml").write_text(config)
    accept = {"accept": True, "reason": "nothing is lost"}
    screens, runtimes = [], []
    with ModelServer({"capture/consolidate_validation": accept}) as server:
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__PROVIDER", "openai")
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__BASE_URL", server.url)
        monkeypatch.setenv("HINDSIGHT_MEM_MODELS__MODEL", "scripted")

        async def open_(*texts: str, answer: dict[str, Any] = MERGED) -> Any:
            server.replies.set("capture/consolidate", json.dumps(answer))
            loaded = read()
            runtime = Runtime(loaded)
            runtimes.append(runtime)
            for text in texts:
                fact = Fact(id=fact_id(text), text=text)
                await runtime.bank.retain(Document(id=fact.id, text="", facts=(fact,)))
            view = PanelView(
                loaded=loaded, state="active", reason=None, runtime=runtime, reload=read
            )
            view.place = PanelPlace("Combine")
            screen = show(view)
            screens.append(screen)
            await screen.go("Combine")
            await screen.done()
            await screen.press("enter")
            return screen

        open_.server = server  # type: ignore[attr-defined]
        yield open_
        for screen in screens:
            screen.panel.close()
        for runtime in runtimes:
            await runtime.close()


async def texts(screen: Any) -> list[str]:
    page = await screen.view.runtime.bank.list_facts(limit=50)
    return sorted(fact.text for fact in page.facts)


@pytest.mark.spec("am/A-COMP-3")
async def test_both_texts_and_the_proposal_are_shown_and_combined_on_c(review: Any) -> None:
    screen = await review(FIRST, SECOND)
    for text in ("1 of 1", f"· {FIRST}", f"· {SECOND}", f"→ {BOTH}"):
        assert text in screen.text
    assert await texts(screen) == sorted([FIRST, SECOND])
    await screen.press("c")
    assert screen.said == f"combined: {BOTH}"
    assert await texts(screen) == [BOTH]
    assert "nothing more to combine" in screen.text


@pytest.mark.spec("am/A-COMP-3")
async def test_a_sentence_of_ones_own_goes_through_the_same_checks(review: Any) -> None:
    screen = await review(FIRST, SECOND)
    await screen.press("e")
    assert screen.panel.edit.text == BOTH
    rules = review.server.replies
    rules.set("capture/consolidate_validation", {"accept": False, "reason": "the width is lost"})
    await screen.panel.edited("The user likes tabs.")
    await screen.done()
    assert "the width is lost" in screen.said
    assert await texts(screen) == sorted([FIRST, SECOND])
    rules.set("capture/consolidate_validation", {"accept": True, "reason": "all is there"})
    await screen.press("e")
    await screen.panel.edited(OWN)
    await screen.done()
    assert await texts(screen) == [OWN]


@pytest.mark.spec("am/A-COMP-3")
@pytest.mark.parametrize(("key", "said"), [("s", "left as they are"), ("escape", "the rest was")])
async def test_skipping_and_leaving_change_nothing(review: Any, key: str, said: str) -> None:
    screen = await review(FIRST, SECOND)
    await screen.press(key)
    assert screen.said.startswith(said)
    assert await texts(screen) == sorted([FIRST, SECOND])


@pytest.mark.spec("am/A-COMP-2", "am/A-COMP-3")
async def test_without_a_sentence_for_both_only_ones_own_is_possible(review: Any) -> None:
    screen = await review(FIRST, SECOND, answer={"merge": False, "reason": "two wishes"})
    assert "no sentence for both: two wishes" in screen.text
    await screen.press("c")
    assert screen.said.startswith("there is no sentence")
    assert await texts(screen) == sorted([FIRST, SECOND])


async def test_memories_that_are_not_alike_are_told(review: Any) -> None:
    screen = await review("The build takes nine minutes.")
    assert "no memories are that alike" in screen.text


async def test_the_tab_is_there_only_when_it_was_asked_for(screen: Any) -> None:
    assert "Combine" not in screen.text
