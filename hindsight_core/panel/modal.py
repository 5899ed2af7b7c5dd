"""What takes all keys until it is answered: a line of text, a question, a text in an editor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from rich.cells import cell_len
from rich.text import Text

from hindsight_core.panel.keys import Key
from hindsight_core.panel.lines import row


class Modal(Protocol):
    """Owns the keys while it is there (pi/U-10)."""

    def key(self, key: Key) -> bool:
        """Take a key; True when it is answered."""
        ...

    def line(self, width: int) -> Text:
        """How it looks, in one line."""
        ...


@dataclass(frozen=True, slots=True)
class Edit:
    """A long text for the host's or the user's own editor.

    Attributes:
        title: What it is.
        text: As it is now.
        then: Takes the new text; None when the editor was left without saving.
    """

    title: str
    text: str
    then: Callable[[str | None], None]


class Confirm:
    """A question: ``y`` or Enter is yes, ``n`` or Escape is no (pi/U-30)."""

    def __init__(self, question: str, then: Callable[[], None]) -> None:
        self._question = question
        self._then = then

    def key(self, key: Key) -> bool:
        """Answered by yes or no; other keys are not for it."""
        if key.name in ("y", "Y", "enter"):
            self._then()
            return True
        return key.name in ("n", "N", "escape", "ctrl+c")

    def line(self, width: int) -> Text:
        """The question."""
        return row((self._question, "bold"), (" y/n", "dim"))


class Choice:
    """Several things that can be done; Escape does none of them.

    Args:
        subject: What it is about.
        actions: Key to its name and what it does.
    """

    def __init__(self, subject: str, actions: Mapping[str, tuple[str, Callable[[], None]]]) -> None:
        self._subject = subject
        self._actions = actions

    def key(self, key: Key) -> bool:
        """Answered by one of the keys; Enter is the first of them."""
        name = next(iter(self._actions)) if key.name == "enter" else key.name.lower()
        if name in self._actions:
            self._actions[name][1]()
            return True
        return key.name in ("escape", "ctrl+c")

    def line(self, width: int) -> Text:
        """The keys first: they must be seen, the subject may be cut."""
        keys = " · ".join(f"{key} {name}" for key, (name, _) in self._actions.items())
        return row((keys, "bold"), ("  " + self._subject, "dim"))


class TextInput:
    """One line of text; Enter gives it, Escape drops it.

    Args:
        label: Before the text.
        text: At the start.
        then: Takes the text; an empty one counts (pi/U-24).
    """

    def __init__(self, label: str, text: str, then: Callable[[str], None]) -> None:
        self._label = label
        self._text = text
        self._at = len(text)
        self._then = then

    def key(self, key: Key) -> bool:
        """Type, move, delete."""
        if key.name == "enter":
            self._then(self._text)
            return True
        if key.name in ("escape", "ctrl+c"):
            return True
        if key.text:
            self._text = self._text[: self._at] + key.text + self._text[self._at :]
            self._at += len(key.text)
        elif key.name == "backspace" and self._at:
            self._text = self._text[: self._at - 1] + self._text[self._at :]
            self._at -= 1
        elif key.name == "delete":
            self._text = self._text[: self._at] + self._text[self._at + 1 :]
        elif key.name == "ctrl+u":
            self._text, self._at = self._text[self._at :], 0
        moves = {"left": self._at - 1, "right": self._at + 1, "home": 0, "end": len(self._text)}
        self._at = max(0, min(moves.get(key.name, self._at), len(self._text)))
        return False

    def line(self, width: int) -> Text:
        """The label and what is around the cursor."""
        room = max(8, width - cell_len(self._label) - 4)
        before, after = self._text[: self._at], self._text[self._at :]
        while before and cell_len(before) > room:
            before = before[1:]
        return row((f"{self._label}: ", "bold"), before, (after[:1] or " ", "reverse"), after[1:])
