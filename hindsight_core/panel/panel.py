"""The panel's state machine: keys in, lines out (pi/U-10, pi/U-11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.cells import cell_len

from hindsight_core.panel.lines import fitted, row, window

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.panel.keys import Key
    from hindsight_core.panel.modal import Edit
    from hindsight_core.panel.tab import Tab

ROWS_UNKNOWN = 40
CHROME = 4  # strip, rule, message, hints
SETTLE_S = 0.25
_STRIP_HINTS = "tab/←→ switch · enter open · r reload · esc close"
_BODY_HINTS = "esc back"


def body_rows(height: int) -> int:
    """Rows of the body on a screen of that many rows, 0 when unknown (pi/U-11)."""
    rows = max(8, min((height or ROWS_UNKNOWN) // 2 - 6, 15))
    return rows if height <= 0 else max(1, min(rows, height - CHROME))


class Panel:
    """Tabs, the focus, and what is drawn.

    Args:
        make: Makes the tabs; is given what to call when one has changed by itself.
        changed: Told when the lines have changed without a key.
        rows: Rows of the body for a height; by default as a host draws it, inline.
        first: Title of the tab that it opens on; the first one where there is none of it.
        inside: The keys are that tab's at once.
    """

    def __init__(
        self,
        make: Callable[[Callable[[], None]], list[Tab]],
        *,
        changed: Callable[[], None],
        rows: Callable[[int], int] = body_rows,
        first: str = "",
        inside: bool = False,
    ) -> None:
        self.closed = False
        self._rows = rows
        self._changed = changed
        self._at = 0
        self._inside = inside
        self._tabs = make(self._redraw)
        titles = [tab.title for tab in self._tabs]
        self._at = titles.index(first) if first in titles else 0

    @property
    def tab(self) -> Tab:
        """The tab that is shown."""
        return self._tabs[self._at]

    @property
    def edit(self) -> Edit | None:
        """A text that waits for the host's editor."""
        return self.tab.edit

    async def open(self) -> None:
        """Load the tab that is shown."""
        self.tab.reload()
        await self._settle()

    async def key(self, key: Key) -> None:
        """Take one key; what takes long goes on by itself and is told with `changed`."""
        if key.name and self.edit is None:
            self._take(key)
        await self._settle()

    async def edited(self, text: str | None) -> None:
        """The editor was left, with a new text or without one."""
        edit, self.tab.edit = self.tab.edit, None
        if edit is not None:
            edit.then(text)
        await self._settle()

    def close(self) -> None:
        """Nothing of it goes on."""
        self.closed = True
        for tab in self._tabs:
            tab.close()

    def lines(self, width: int, height: int) -> list[Text]:
        """Exactly as many lines for every state of every tab, none wider than the screen."""
        body = self._body(width, self._rows(height))
        drawn = [self._strip(width), row(("─" * width, "dim")), *body, self._said(width)]
        return [fitted(line, width) for line in [*drawn, row((self._hints(), "dim"))]]

    def _body(self, width: int, rows: int) -> list[Text]:
        tab = self.tab
        lines, fixed = tab.lines(width), min(tab.fixed, rows - 1)
        # The last row may say how many lines are left.
        tab.room = max(1, rows - fixed - 1)
        seen = tab.cursor_line() if self._inside else None
        if seen is not None:
            seen = max(0, seen[0] - fixed), max(0, seen[1] - fixed)
        body, tab.top = window(lines[fixed:], rows - fixed, top=tab.top, cursor=seen)
        head = lines[:fixed]
        return [*head, *body][:rows] + [row("")] * (fixed - len(head))

    def _take(self, key: Key) -> None:
        tab = self.tab
        tab.message = None
        if tab.modal is not None:
            modal = tab.modal
            if modal.key(key) and tab.modal is modal:
                tab.modal = None
        elif key.name in ("tab", "right"):
            self._switch(1)
        elif key.name in ("shift+tab", "left"):
            self._switch(-1)
        elif key.name == "ctrl+c":
            self.close()
        elif not self._inside:
            self._on_strip(key)
        elif key.name == "escape":
            self._inside = False
            tab.left()
        else:
            tab.key(key)

    def _on_strip(self, key: Key) -> None:
        if key.name in ("escape", "q"):
            self.close()
        elif key.name == "r":
            self.tab.reload()
        elif key.name in ("enter", "up", "down"):
            self._inside = True
            if key.name != "enter":
                self.tab.key(key)

    def _switch(self, by: int) -> None:
        self._at = (self._at + by) % len(self._tabs)
        self._inside = False
        self.tab.message = None
        self.tab.reload()

    def _strip(self, width: int) -> Text:
        style = "bold reverse" if not self._inside else "bold"
        titles = [tab.title for tab in self._tabs]
        names = [f"[{t}]" if at == self._at else f" {t} " for at, t in enumerate(titles)]
        wide = sum(map(cell_len, names))
        if wide > width:
            place = f"{self._at + 1}/{len(titles)} "
            return row((place, "dim"), (f" {titles[self._at]} ", style))
        parts = [(name, style if at == self._at else "dim") for at, name in enumerate(names)]
        return row(*([("memory ", "bold")] if wide + 7 <= width else []), *parts)

    def _said(self, width: int) -> Text:
        tab = self.tab
        if tab.modal is not None:
            return tab.modal.line(width)
        if tab.message is not None:
            return tab.message
        return row((f"{tab.doing}…", "dim")) if tab.busy else row("")

    def _hints(self) -> str:
        if self.tab.modal is not None:
            return "enter accept · esc cancel"
        if not self._inside:
            return _STRIP_HINTS
        return f"{_BODY_HINTS} · {self.tab.hints}" if self.tab.hints else _BODY_HINTS

    async def _settle(self) -> None:
        """Give a job the time in which nobody notices a delay."""
        job = self.tab.job
        if job is not None and not job.done():
            await asyncio.wait({job}, timeout=SETTLE_S)

    def _redraw(self) -> None:
        if not self.closed:
            self._changed()
