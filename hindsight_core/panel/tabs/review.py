"""The tab Review: what was stored by itself, to approve, correct or delete (pi/U-30)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hindsight_core.panel.lines import plain, row, wrapped
from hindsight_core.panel.modal import Confirm, Edit
from hindsight_core.panel.tab import PAGE, Tab

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.engine.reviewing import Review, Reviewed, ReviewReport
    from hindsight_core.panel.keys import Key

LIMIT = 200
_MOVES = {"up": -1, "down": 1}
_SCROLLS = {"pageup": -PAGE, "pagedown": PAGE}


class ReviewTab(Tab):
    """One document at a time, newest first, of all projects."""

    title = "Review"
    hints = "a approve · e edit · d delete · A all · u undo · ↑↓ next · pgup/pgdn scroll"
    fixed = 2

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - those of `Tab`
        super().__init__(*args, **kwargs)
        self._items: list[Reviewed] = []
        self._total = 0
        self._loaded = False

    async def load(self) -> None:
        """What waits; each bank is asked for its documents."""
        if self.view.runtime is None:
            return
        async with self._review() as review:
            page = await review.list(limit=LIMIT)
        self._items, self._total, self._loaded = list(page.items), page.total, True
        self.cursor = max(0, min(self.cursor, len(self._items) - 1))

    def lines(self, width: int) -> list[Text]:
        """Header, reason, and the text of the document under the cursor."""
        if self.view.runtime is None:
            return [row((f"memory is not active here: {plain(self.view.reason)}", "dim"))]
        if not self._items:
            text = "nothing waits for a review" if self._loaded else ""
            return [row((text, "dim"))]
        shown = self._items[self.cursor]
        written, state = shown.item.written, "not recalled before it is approved"
        when = shown.item.created_at.strftime("%Y-%m-%d %H:%M")
        facts = len(shown.document.facts or ()) if shown.document else 0
        head = row(
            (f"{self.cursor + 1}/{self._total} ", "bold"),
            (f"{plain(written.project) or '—'} · {plain(written.bank)}", "cyan"),
            f" · {facts} facts · {when}",
        )
        why = row((f"reason: {plain(written.reason) or '—'}", "dim"))
        if written.held:
            why.append(f" · {state}", "yellow")
        return [head, why, *self._text(shown, width)]

    def key(self, key: Key) -> None:
        """Choose a document, scroll its text, decide."""
        if key.name in _MOVES:
            self.cursor = max(0, min(self.cursor + _MOVES[key.name], len(self._items) - 1))
            self.top = 0
        elif key.name in _SCROLLS:
            self.top = max(0, self.top + _SCROLLS[key.name])
        elif key.name == "r":
            self.reload()
        elif self.view.runtime is None:
            return
        elif key.name == "u":
            self._decide(lambda review: review.undo(), "taken back")
        elif self._items:
            self._on_document(key, self._items[self.cursor])

    def _text(self, shown: Reviewed, width: int) -> list[Text]:
        if shown.unreachable is not None:
            return [row((f"unreachable: {plain(shown.unreachable)}", "red"))]
        if not shown.text.strip():
            return [row(("still extracting: the bank has not read it yet", "dim"))]
        return wrapped(shown.text, width)

    def _on_document(self, key: Key, shown: Reviewed) -> None:
        number = shown.item.id
        if key.name == "a":
            self._decide(lambda review: review.approve([number]), "approved")
        elif key.name == "A":
            numbers = [item.item.id for item in self._items]
            question = f"approve all {len(numbers)} that are listed?"
            self.modal = Confirm(
                question, lambda: self._decide(lambda r: r.approve(numbers), "approved")
            )
        elif key.name in ("e", "d") and shown.unreachable is not None:
            self.say("its bank is unreachable: it can be approved, nothing else", style="yellow")
        elif key.name == "d":
            self.modal = Confirm(
                "delete this document and its facts?",
                lambda: self._decide(lambda review: review.delete([number]), "deleted"),
            )
        elif key.name == "e":
            title = f"{shown.item.written.project} · one fact a line"
            self.ask_editor(Edit(title, shown.text, lambda text: self._edited(shown, text)))

    def _edited(self, shown: Reviewed, text: str | None) -> None:
        if text is None or not text.strip() or text == shown.text:
            self.say("cancelled: nothing was changed")
            return
        number, kept = shown.item.id, text

        async def run() -> None:
            async with self._review() as review:
                await review.edit(number, kept)
            self.say("stored; it stays in the review", style="green")
            await self.load()

        self.start(run(), doing="storing")

    def _decide(self, step: Callable[[Review], Awaitable[ReviewReport]], said: str) -> None:
        async def run() -> None:
            async with self._review() as review:
                report = await step(review)
            if report.kept:
                why = next(iter(report.kept.values()))
                self.say(f"{said} {len(report.done)}, kept {len(report.kept)}: {why}", style="red")
            else:
                self.say(f"{said} {len(report.done)}", style="green")
            await self.load()

        self.start(run(), doing="deciding")

    @asynccontextmanager
    async def _review(self) -> AsyncIterator[Review]:
        from hindsight_core.engine.reviewing import Review

        runtime = self.view.runtime
        assert runtime is not None  # noqa: S101 - looked at before
        review = Review(runtime)
        try:
            yield review
        finally:
            await review.close()


TAB = ReviewTab
