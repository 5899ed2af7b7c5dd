"""Lines of the panel: exactly as wide as the screen allows, whatever they hold."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.text import Text

from hindsight_core.transcript.characters import repair

if TYPE_CHECKING:
    from rich.style import Style


def plain(value: object) -> str:
    """Any text as one line without anything that could steer a terminal."""
    return " ".join(repair(str(value)).split())


def row(*parts: str | tuple[str, str]) -> Text:
    """One line of pieces, each a text or a pair (text, style); never read as markup."""
    text = Text(no_wrap=True, end="")
    for part in parts:
        words, style = part if isinstance(part, tuple) else (part, "")
        text.append(words, style)
    return text


def fitted(text: Text, width: int) -> Text:
    """The line cut to a width in columns, with an ellipsis where something is missing."""
    if cell_len(text.plain) <= width:
        return text
    cut = text.copy()
    cut.truncate(max(0, width), overflow="ellipsis")
    return cut


def padded(text: str, width: int) -> str:
    """A text cut or filled to exactly that many columns."""
    if cell_len(text) <= width:
        return text + " " * (width - cell_len(text))
    return set_cell_size(text, max(0, width - 1)) + "…" if width > 0 else ""


def wrapped(text: str, width: int, *, indent: str = "") -> list[Text]:
    """A long text as lines; its own line ends are kept."""
    room = max(4, width - cell_len(indent))
    lines: list[Text] = []
    for paragraph in repair(text).split("\n"):
        lines += [row(indent, piece) for piece in _broken(" ".join(paragraph.split()), room)]
    return lines


def _broken(text: str, room: int) -> list[str]:
    pieces, line = [], ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= room:
            line = joined
            continue
        if line:
            pieces.append(line)
        while cell_len(word) > room:
            head = set_cell_size(word, room).rstrip(" ") or word[:1]
            pieces.append(head)
            word = word[len(head) :]
        line = word
    return [*pieces, line]


def window(
    lines: Sequence[Text], rows: int, *, top: int = 0, cursor: tuple[int, int] | None = None
) -> tuple[list[Text], int]:
    """Exactly `rows` of the lines, and the index of the first (pi/U-11).

    Where lines are left below, the last row says how many.

    Args:
        lines: All of them.
        rows: Height of the window.
        top: The first line shown before.
        cursor: First and last line that should be seen; the first one always is.
    """
    room = rows if len(lines) <= rows else max(1, rows - 1)
    top = max(0, min(top, len(lines) - room))
    if cursor is not None:
        top = min(max(top, cursor[1] - room + 1), cursor[0])
        if top + rows >= len(lines):
            top = max(0, len(lines) - rows)
    shown = list(lines[top : top + rows])
    below = len(lines) - top - rows
    if below > 0:
        shown[-1] = row((f"… {below + 1} more lines", "dim"))
    return shown + [row("")] * (rows - len(shown)), top


def drawn(lines: Iterable[Text], *, width: int, colour: bool) -> list[str]:
    """The lines as strings, with terminal codes only where they are wanted."""
    if not colour:
        return [fitted(line, width).plain.rstrip() for line in lines]
    return ["".join(map(_coded, pieces(fitted(line, width)))) for line in lines]


def pieces(line: Text) -> list[tuple[str, Style | None]]:
    """The line as texts with one style each."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=10_000)
    return [(piece.text, piece.style) for piece in line.render(console)]


def _coded(piece: tuple[str, Style | None]) -> str:
    text, style = piece
    return style.render(text, color_system=ColorSystem.STANDARD) if style else text
