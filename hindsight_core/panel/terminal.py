"""The panel in a terminal of its own: ``hindsight-mem panel``."""

from __future__ import annotations

import asyncio
import curses
import locale
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.panel.keys import Key, key

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.text import Text

    from hindsight_core.panel.panel import Panel

CHROME = 4
_ESCAPE_MS = 25
_POLL_MS = 40
_KEYS: Mapping[int, str] = {
    curses.KEY_UP: "up", curses.KEY_DOWN: "down", curses.KEY_LEFT: "left",
    curses.KEY_RIGHT: "right", curses.KEY_HOME: "home", curses.KEY_END: "end",
    curses.KEY_PPAGE: "pageup", curses.KEY_NPAGE: "pagedown", curses.KEY_BTAB: "shift+tab",
    curses.KEY_DC: "delete", curses.KEY_BACKSPACE: "backspace", curses.KEY_ENTER: "enter",
}  # fmt: skip
_COLOURS = {"red": 1, "green": 2, "yellow": 3, "blue": 4, "magenta": 5, "cyan": 6}


def whole_screen(height: int) -> int:
    """Rows of the body where the panel has the screen for itself."""
    return max(1, height - CHROME)


async def run(panel: Panel, *, edit: Callable[[str], str | None]) -> None:
    """Draw and take keys until the panel is closed.

    Args:
        panel: It.
        edit: Opens the user's editor on a text; None when nothing was saved.
    """
    # Wide characters are counted by the user's locale.
    locale.setlocale(locale.LC_ALL, "")
    screen = curses.initscr()
    try:
        _prepare(screen)
        await panel.open()
        while not panel.closed:
            _draw(screen, panel)
            pressed = await asyncio.to_thread(_read, screen)
            if pressed is not None:
                await panel.key(pressed)
            if panel.edit is not None:
                curses.endwin()
                await panel.edited(edit(panel.edit.text))
                screen.clear()
    finally:
        curses.endwin()


def _prepare(screen: curses.window) -> None:
    curses.noecho()
    curses.raw()
    curses.set_escdelay(_ESCAPE_MS)
    screen.keypad(True)  # noqa: FBT003 - curses' own signature
    screen.timeout(_POLL_MS)
    try:
        curses.curs_set(0)
        curses.start_color()
        curses.use_default_colors()
        for number in _COLOURS.values():
            curses.init_pair(number, number, -1)
    except curses.error:
        pass  # a terminal without colours or without a cursor to hide


def _read(screen: curses.window) -> Key | None:
    """One key; None when there is none for a moment, so that what changes by itself is drawn."""
    try:
        given = screen.get_wch()
    except curses.error:
        return None
    except KeyboardInterrupt:
        return Key("ctrl+c")
    if isinstance(given, str):
        return key(given)
    return Key(_KEYS.get(given, ""))


def _draw(screen: curses.window, panel: Panel) -> None:
    height, width = screen.getmaxyx()
    screen.erase()
    for at, line in enumerate(panel.lines(width, height)[:height]):
        screen.move(at, 0)
        # The last cell of the last row cannot be written without scrolling.
        room = width - 1 if at == height - 1 else width
        _line(screen, line, room)
    screen.refresh()


def _line(screen: curses.window, line: Text, room: int) -> None:
    from hindsight_core.panel.lines import fitted, pieces

    for text, style in pieces(fitted(line, room)):
        try:
            screen.addstr(text, _attribute(style))
        except curses.error:
            return  # the terminal counts a character wider than we do


def _attribute(style: Any) -> int:  # noqa: ANN401 - a rich Style or None
    if style is None:
        return curses.A_NORMAL
    found = curses.A_NORMAL
    for name, attribute in (
        ("bold", curses.A_BOLD),
        ("dim", curses.A_DIM),
        ("reverse", curses.A_REVERSE),
    ):
        if getattr(style, name):
            found |= attribute
    colour = style.color.name if style.color is not None else ""
    if colour in _COLOURS and curses.has_colors():
        found |= curses.color_pair(_COLOURS[colour])
    return found
