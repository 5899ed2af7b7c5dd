"""What the task detector is told of a turn: short, and never the conversation itself (pi/X-C)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hindsight_core.prompt_fields import TaskTurn
from hindsight_core.transcript.entry import Entry, ToolCall

EDITS = frozenset({"edit", "write", "multiedit", "apply_patch", "str_replace_editor"})
FILES = 6
SENTENCE = 200
HEAD, TAIL = 420, 180
CLIPPED = HEAD + TAIL
_PATHS = ("path", "file", "filename", "file_path")
_END = re.compile(r"[.!?](?=\s|$)")


def told(prompt: str, since: Sequence[Entry]) -> TaskTurn:
    """A turn: the prompt, and how the answer before it began.

    Args:
        prompt: The user's words.
        since: The entries after the last turn that was told, oldest first.
    """
    return TaskTurn(request=clipped(prompt), answer=opening(since), files=edited(since))


def opening(entries: Iterable[Entry]) -> str:
    """First sentence of the first words of the assistant, at most `SENTENCE` long (pi/X-20)."""
    said = (e.text for e in entries if e.role == "assistant" and not e.synthetic)
    text = next((flat for text in said if (flat := " ".join(text.split()))), "")
    end = _END.search(text)
    sentence = text[: end.end()] if end else text
    return sentence if len(sentence) <= SENTENCE else sentence[:SENTENCE].rstrip() + "…"


def edited(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Paths that the assistant's tools changed, each once, at most `FILES`."""
    calls = (
        part
        for entry in entries
        if entry.role == "assistant"
        for part in entry.parts
        if isinstance(part, ToolCall) and part.name.lower() in EDITS
    )
    paths = dict.fromkeys(path for call in calls if (path := _path(call)))
    return tuple(paths)[:FILES]


def clipped(text: str) -> str:
    """At most `CLIPPED` characters of the user's words: their head and their end (pi/X-21).

    A prompt arrives with its files expanded and can be huge.
    """
    text = text.strip()
    if len(text) <= CLIPPED:
        return text
    return f"{text[:HEAD].rstrip()}\n…\n{text[-TAIL:].lstrip()}"


def _path(call: ToolCall) -> str:
    values = (call.arguments.get(name) for name in _PATHS)
    return next((" ".join(v.split()) for v in values if isinstance(v, str) and v.strip()), "")
