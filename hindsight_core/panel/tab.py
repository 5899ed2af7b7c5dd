"""What a tab of the panel is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, ClassVar

from hindsight_core.errors import HindsightError
from hindsight_core.panel.lines import plain, row

if TYPE_CHECKING:
    from rich.text import Text

    from hindsight_core.panel.keys import Key
    from hindsight_core.panel.modal import Edit, Modal
    from hindsight_core.panel.view import PanelView

logger = logging.getLogger("hindsight_core.panel")
PAGE = 10


class Tab:
    """One tab: state, lines, and what keys do to it.

    A tab never waits inside a key: what takes time is started with `start` and shown when it is
    there, so that a bank that is away never freezes the panel.

    Args:
        view: What it may look at.
        redraw: Told when the lines have changed by themselves.

    Attributes:
        title: On the strip.
        hints: Keys, for the last line.
        fixed: So many first lines stay where they are while the others scroll.
        room: Lines that the panel has for the others.
    """

    title: ClassVar[str] = ""
    hints: ClassVar[str] = ""
    fixed: ClassVar[int] = 0

    def __init__(self, view: PanelView, redraw: Callable[[], None]) -> None:
        self.view = view
        self.cursor = 0
        self.top = 0
        self.room = PAGE
        self.message: Text | None = None
        self.modal: Modal | None = None
        self.edit: Edit | None = None
        self.job: asyncio.Task[None] | None = None
        self.doing = ""
        self._redraw = redraw

    def lines(self, width: int) -> list[Text]:
        """All lines of the body; the panel cuts out the window."""
        raise NotImplementedError

    def cursor_line(self) -> tuple[int, int] | None:
        """First and last line that should be seen, asked after `lines`; None scrolls freely."""
        return None

    async def load(self) -> None:
        """Read what is shown, anew; may raise `HindsightError`."""

    def key(self, key: Key) -> None:
        """Take a key while the focus is on the body; by default it scrolls."""
        self.top = max(0, self.top + _SCROLL.get(key.name, 0))

    def left(self) -> None:
        """Escape has taken the focus back to the strip."""

    # -- for tabs ------------------------------------------------------------------------------
    def say(self, text: str, *, style: str = "") -> None:
        """A message under the body, until the next key."""
        self.message = row((plain(text), style))

    def start(self, work: Coroutine[object, object, None], *, doing: str) -> None:
        """Run what takes time; one thing at a time."""
        if self.job is not None and not self.job.done():
            work.close()
            self.say(f"still busy: {self.doing}", style="yellow")
            return
        self.doing = doing
        self.job = asyncio.create_task(self._run(work))

    def reload(self) -> None:
        """Load in the background."""
        self.start(self.load(), doing="loading")

    def ask_editor(self, edit: Edit) -> None:
        """Hand a text to the host's editor."""
        self.edit = edit

    def close(self) -> None:
        """Stop what is running."""
        if self.job is not None:
            self.job.cancel()

    @property
    def busy(self) -> bool:
        """Whether something is still running."""
        return self.job is not None and not self.job.done()

    async def _run(self, work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except HindsightError as error:
            self.say(str(error), style="red")
        except Exception as error:
            logger.exception("%s: %s failed", self.title, self.doing)
            self.say(f"{self.doing} failed: {type(error).__name__}: {error}", style="red")
        finally:
            asyncio.get_running_loop().call_soon(self._redraw)


_SCROLL = {"up": -1, "down": 1, "pageup": -PAGE, "pagedown": PAGE, "home": -(10**6), "end": 10**6}


class ListTab(Tab):
    """A tab of items with a cursor."""

    _seen: tuple[int, int] = (0, 0)
    _within: int = 0

    def cursor_line(self) -> tuple[int, int] | None:
        """The item under the cursor with what is shown below it; of a long one, the part read."""
        first, last = self._seen
        self._within = min(self._within, self._hidden())
        if not self._hidden():
            return first, last
        return first + self._within, first + self._within + self.room - 1

    def items(self, found: list[Text], blocks: Iterable[list[Text]]) -> list[Text]:
        """Put the lines of each item behind those that are there, and note the cursor's."""
        for at, block in enumerate(blocks):
            if at == self.cursor:
                self._seen = len(found), len(found) + len(block) - 1
            found += block
        return found

    def count(self) -> int:
        """How many items there are."""
        raise NotImplementedError

    def key(self, key: Key) -> None:
        """Move within a long item, then the cursor; other keys are for the tab."""
        by = _SCROLL.get(key.name)
        if by is None:
            self.pressed(key)
        elif 0 <= self._within + by <= self._hidden() and self._hidden():
            self._within += by
        else:
            self._within = 0
            self.cursor = max(0, min(self.cursor + by, self.count() - 1))

    def _hidden(self) -> int:
        """Lines of the item under the cursor that the window has no room for."""
        return max(0, self._seen[1] - self._seen[0] + 1 - self.room)

    def pressed(self, key: Key) -> None:
        """A key that does not move."""
