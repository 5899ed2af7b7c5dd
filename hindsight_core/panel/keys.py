"""Keys by one name each, whatever form a host or a terminal gives them in."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = {
    "esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "page_up": "pageup",
    "page_down": "pagedown", "backtab": "shift+tab", "ctrl+h": "backspace", "ctrl+m": "enter",
    "ctrl+[": "escape", "ctrl+i": "tab", "ctrl+j": "enter", "ctrl+d": "delete", "ctrl+a": "home",
    "ctrl+e": "end", "alt+escape": "escape",
}  # fmt: skip
_RAW = {
    "\t": "tab", "\r": "enter", "\n": "enter", "\x1b": "escape", "\x1b\x1b": "escape",
    "\x7f": "backspace",
    "\x08": "backspace", "\x03": "ctrl+c", "\x15": "ctrl+u", "\x01": "home", "\x05": "end",
    "\x1b[Z": "shift+tab", "\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left",
    "\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right", "\x1bOD": "left", "\x1b[H": "home",
    "\x1b[F": "end", "\x1bOH": "home", "\x1bOF": "end", "\x1b[1~": "home", "\x1b[4~": "end",
    "\x1b[3~": "delete", "\x1b[5~": "pageup", "\x1b[6~": "pagedown",
}  # fmt: skip
# The kitty protocol: ESC [ code ; modifiers u, where modifiers - 1 has bit 0 for shift, 2 for ctrl.
_KITTY = re.compile(r"\x1b\[(\d+)(?:;(\d+))?u")
_CODES = {9: "tab", 13: "enter", 27: "escape", 127: "backspace"}
_PASTE = re.compile(r"\x1b\[200~(.*?)(?:\x1b\[201~|\Z)", re.S)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Key:
    """One key press, or a piece of pasted text.

    Attributes:
        name: ``tab``, ``up``, ``enter`` ..., a printable character, ``text`` for several of them,
            or empty for none (a redraw).
        text: What it types; empty for keys that type nothing.
    """

    name: str
    text: str = ""


def key(given: str, *, text: str | None = None) -> Key:
    """The key of a name, a character or a raw terminal sequence.

    Args:
        given: What the host sent.
        text: Typed or pasted text, with the name ``text``.
    """
    if text is not None:
        return Key("text", typed(text))
    if pasted := _PASTE.search(given):
        return Key("text", typed(pasted[1]))
    if given in _RAW:
        return Key(_RAW[given])
    if found := _KITTY.fullmatch(given):
        return _kitty(int(found[1]), int(found[2] or 1) - 1)
    if len(given) == 1:
        return Key(given, given) if given.isprintable() else Key("unknown")
    name = given.lower()
    if name == "space":
        return Key(" ", " ")
    return Key("unknown") if _CONTROL.search(name) else Key(_NAMES.get(name, name))


def typed(text: str) -> str:
    """Pasted text as one line: what cannot be seen is left out."""
    return _CONTROL.sub("", re.sub(r"[\r\n\t]+", " ", text))


def _kitty(code: int, modifiers: int) -> Key:
    if code in _CODES:
        name = _CODES[code]
        return Key("shift+tab" if name == "tab" and modifiers & 1 else name)
    character = chr(code)
    if modifiers & 4:
        return key(f"ctrl+{character}")
    return Key(character, character) if character.isprintable() else Key("unknown")
