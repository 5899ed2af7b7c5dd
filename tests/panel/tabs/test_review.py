"""The tab Review: documents wait, newest first, and are decided on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hindsight_core.errors import BankError
from hindsight_core.state.review import ReviewQueue, Written
from hindsight_core.testing.memory_bank import FakeBank


@pytest.fixture
def wait(view: Any, learn: Any) -> Callable[..., Any]:
    """Stores a document and puts it before a person."""

    async def put(document: str, *texts: str, **fields: Any) -> None:
        await learn(*texts, document=document)
        written = Written(
            bank="shop", document_id=document, project="shop", reason="compact", **fields
        )
        await ReviewQueue(view.runtime.queue, view.runtime.clock).add(written)

    return put


@pytest.fixture
async def review(screen: Any, wait: Any) -> AsyncIterator[Any]:
    await wait("first", "A is B.", "C is D.")
    await wait("second", "E is F.")
    await screen.go("Review")
    await screen.press("enter")
    yield screen


async def documents(screen: Any) -> list[str]:
    page = await screen.view.runtime.bank.list_documents()
    return sorted(document.id for document in page.documents)


@pytest.mark.spec("pi/U-30")
async def test_the_newest_first_with_header_reason_and_text(review: Any) -> None:
    head, why, *text = review.body
    assert head.startswith("1/2 shop · shop · 1 facts · 20")
    assert why == "reason: compact"
    assert text == ["- E is F."]

    await review.press("down")
    assert review.body[0].startswith("2/2 shop · shop · 2 facts · ")
    assert review.body[2:] == ["- A is B.", "- C is D."]
    await review.press("down", "up")
    assert review.body[0].startswith("1/2")


@pytest.mark.spec("pi/U-30", "pi/Q-07")
async def test_approve_takes_it_out_and_undo_brings_it_back(review: Any) -> None:
    await review.press("a")
    assert review.said == "approved 1"
    assert review.body[0].startswith("1/1 ")
    assert await documents(review) == ["first", "second"]

    await review.press("u")
    assert review.said == "taken back 1"
    assert review.body[0].startswith("1/2 ")


@pytest.mark.spec("pi/U-30")
@pytest.mark.parametrize(
    ("answer", "left"), [("enter", ["first"]), ("y", ["first"]), ("escape", None), ("n", None)]
)
async def test_delete_asks_first(review: Any, answer: str, left: list[str] | None) -> None:
    await review.press("d")
    assert review.said == "delete this document and its facts? y/n"
    await review.press("down", "x")
    assert review.said.endswith("y/n")
    await review.press(answer)

    assert await documents(review) == (left or ["first", "second"])


@pytest.mark.spec("pi/U-30")
@pytest.mark.parametrize("text", ["", " \n ", None])
async def test_a_blank_edit_is_cancelled(review: Any, text: str | None) -> None:
    await review.press("e")
    assert review.panel.edit.text == "- E is F."
    await review.panel.edited(text)
    await review.done()

    assert review.said == "cancelled: nothing was changed"
    assert review.body[2:] == ["- E is F."]


@pytest.mark.spec("pi/U-30", "pi/Q-07")
async def test_an_edit_is_stored_and_stays_in_the_review(review: Any) -> None:
    await review.press("e")
    await review.panel.edited("- E is G.\n- H is new.")
    await review.done()

    assert review.said == "stored; it stays in the review"
    assert review.body[0].startswith("1/2")
    assert {"- E is G.", "- H is new."} <= set(review.body[2:])


@pytest.mark.spec("pi/U-30", "pi/D-07")
async def test_an_unreachable_bank_is_shown_and_nothing_of_it_is_changed(review: Any) -> None:
    bank = FakeBank("shop")
    bank.failing = BankError("no route to the bank")
    review.view.runtime._banks["shop"] = bank
    await review.press("r")

    assert review.body[2].startswith("unreachable: ")
    await review.press("e")
    assert review.panel.edit is None
    await review.press("d")
    assert review.said == "its bank is unreachable: it can be approved, nothing else"


@pytest.mark.spec("pi/U-30")
async def test_a_document_without_text_is_still_extracted(review: Any, wait: Any) -> None:
    await wait("third")
    await review.press("r", "home")

    assert review.body[2] == "still extracting: the bank has not read it yet"


@pytest.mark.spec("pi/U-30")
async def test_a_long_text_scrolls_by_ten_under_its_header(screen: Any, wait: Any) -> None:
    await wait("long", *[f"Fact number {n:02} is this one." for n in range(40)])
    screen.size = (80, 24)
    await screen.go("Review")
    await screen.press("enter")
    head, first = screen.body[0], screen.body[2]
    await screen.press("pagedown")

    assert screen.body[0] == head
    assert screen.body[2] != first
    assert "09" not in screen.body[2]
    assert "10" in screen.body[2]
    await screen.press("pageup")
    assert screen.body[2] == first


@pytest.mark.spec("pi/F-05")
async def test_all_that_is_listed_at_once(review: Any) -> None:
    await review.press("A", "y")

    assert review.said == "approved 2"
    assert review.body == ["nothing waits for a review"]
    await review.press("u")
    assert review.body[0].startswith("1/2")
