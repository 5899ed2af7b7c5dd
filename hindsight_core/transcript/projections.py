"""Texts made of entries: for the memorize stages (X-A) and for the query builder (X-B).

The two are different on purpose: memorize reads what was done and its outcome, recall only what
was said. Neither ever shows a host record.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from hindsight_core.transcript.entry import Entry, Text, Thinking, ToolCall, ToolResult
from hindsight_core.transcript.path import after_last_compaction
from hindsight_core.transcript.windows import SAVED_CLOSE, SAVED_OPEN, TextBlock

LOOKING = frozenset({"grep", "find", "ls", "read", "glob"})
EDITING = frozenset({"edit", "write", "multiedit", "apply_patch"})
SHELL = frozenset({"bash"})
THINKING_LINES = 40
OUTPUT_LINES = 20
HINT_LENGTH = 120
MIN_ROOM = 200
_HINTS = ("path", "file", "pattern", "query", "command", "symbol")
# A line inside a block that would read as the next speaker.
_SPEAKER = re.compile(r"\n(?=(?:USER|ASSISTANT|OUTPUT\((?:ok|err)\)):)")


def memorize_blocks(
    entries: Iterable[Entry], saved: Collection[str] = frozenset()
) -> tuple[TextBlock, ...]:
    """Projection X-A, one block an entry that has something to say (pi/X-01 to X-05).

    Args:
        entries: A window, sanitised.
        saved: Ids of entries whose content is in the bank already.
    """
    blocks = ((entry, memorize_text(entry)) for entry in entries)
    return tuple(TextBlock(text, entry.id in saved, entry.id) for entry, text in blocks if text)


def memorize_text(entry: Entry) -> str:
    """One entry of projection X-A; blank when it is not part of the conversation."""
    if entry.synthetic or entry.compaction or entry.role in ("host", "system"):
        return ""
    pieces: list[str] = []
    if entry.role == "user" and (said := entry.text.strip()):
        pieces.append(f"USER: {_inside(said)}")
    elif entry.role == "assistant" and (lines := list(_assistant(entry))):
        pieces.append("ASSISTANT: " + _inside("\n".join(lines)))
    results = (_result(part) for part in entry.parts if isinstance(part, ToolResult))
    pieces.extend(result for result in results if result)
    return "\n".join(pieces)


def recall_context(entries: Sequence[Entry], budget_chars: int) -> str:
    """Projection X-B: the talk after the last compaction, newest first into the budget.

    Args:
        entries: The active path, sanitised, oldest first.
        budget_chars: Largest length of the result; an entry that does not fit gives its end
            when more than MIN_ROOM characters are left (pi/X-10 to X-12).
    """
    kept: list[str] = []
    room = budget_chars
    for entry in reversed(after_last_compaction(entries)):
        text = recall_text(entry)
        if not text:
            continue
        room -= 2 if kept else 0
        if len(text) > room:
            if room > MIN_ROOM:
                kept.append(text[-room:])
            break
        kept.append(text)
        room -= len(text)
    return "\n\n".join(reversed(kept))


def recall_text(entry: Entry) -> str:
    """One entry of projection X-B; blank for everything but user and assistant (pi/X-11)."""
    if entry.role not in ("user", "assistant") or entry.synthetic or entry.compaction:
        return ""
    lines: list[str] = []
    for part in entry.parts:
        match part:
            case Text() | Thinking():
                lines.append(part.text.strip())
            case ToolCall():
                hint = _hint(part)
                lines.append(f"[tool {part.name}: {hint}]" if hint else f"[tool {part.name}]")
            case _:
                continue
    text = "\n".join(line for line in lines if line)
    return f"{entry.role}: {text}" if text else ""


def _assistant(entry: Entry) -> Iterator[str]:
    for part in entry.parts:
        match part:
            case Text() if text := part.text.strip():
                yield text
            case Thinking() if text := part.text.strip():
                # Marked line by line: a thought is a guess until somebody confirms it (pi/D-05).
                yield from (f"[thinking] {line}" for line in text.split("\n")[:THINKING_LINES])
            case ToolCall() if line := _call(part):
                yield line
            case _:
                continue


def _call(call: ToolCall) -> str:
    name = call.name.lower()
    if name in EDITING:
        return f"[edited {_first(call, ('path', 'file', 'filename')) or 'file'}]"
    if name in SHELL:
        command = _first(call, ("command", "cmd", "script"))
        return f"$ {command}" if command else ""
    return ""


def _result(result: ToolResult) -> str:
    name, state = result.name.lower(), "err" if result.is_error else "ok"
    if name in LOOKING:
        return ""
    if name not in SHELL:
        return f"[{result.name} → {state}]"
    lines = result.text.strip().split("\n")
    if not lines[0]:
        return ""
    kept = lines[:OUTPUT_LINES]
    if len(lines) > OUTPUT_LINES:
        kept.append(f"[... {len(lines) - OUTPUT_LINES} more lines]")
    return f"OUTPUT({state}): " + _inside("\n".join(kept))


def _first(call: ToolCall, names: Sequence[str]) -> str:
    values = (call.arguments.get(name) for name in names)
    return next((v.strip() for v in values if isinstance(v, str) and v.strip()), "")


def _hint(call: ToolCall) -> str:
    return _first(call, _HINTS).replace("\n", " ")[:HINT_LENGTH]


def _inside(text: str) -> str:
    # What is quoted can neither speak for somebody else nor claim to be saved already.
    for mark in (SAVED_OPEN, SAVED_CLOSE):
        text = text.replace(mark, mark.lower())
    return _SPEAKER.sub("\n  ", text)
