"""Reads plain text and Markdown: a dialogue with speaker labels, or one note without any."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hindsight_core.transcript.entry import Entry, Role, Text, Transcript
from hindsight_core.transcript.readers.base import Collector, derived_session_id
from hindsight_core.transcript.readers.lines import Lines
from hindsight_core.transcript.shapes import read_role
from hindsight_core.transcript.wire import content_id

PIECE = 16_000
_SPEAKERS = "user|human|you|me|assistant|ai|agent|model|bot|tool|system"
_LABEL = re.compile(
    rf"^(?:#{{1,6}} +)?(?:\*\*|__)?(?P<who>{_SPEAKERS})(?:\*\*|__)?"
    r"(?: *[(\[][^)\]\n]{0,60}[)\]])? *:(?:\*\*|__)?(?P<rest>(?: .*)?)$"
    rf"|^#{{1,6}} +(?P<heading>{_SPEAKERS}) *$",
    re.IGNORECASE,
)
_ALSO: dict[str, Role] = {"you": "user", "me": "user", "agent": "assistant", "bot": "assistant"}


class TextReader:
    """Text with ``User:`` and ``Assistant:`` labels, or a note that the person hands over.

    Ids come from content, so that the same text is the same session wherever it lies. A note
    without labels is the person's: they chose to have it remembered.
    """

    name = "text"

    def accepts(self, path: Path, head: str) -> bool:
        """Any text: this reader is asked last."""
        return True

    def read(self, path: Path, *, tail_bytes: int | None = None) -> Transcript:
        """All of the text, long passages in pieces."""
        lines = Lines(path, tail_bytes=tail_bytes)
        collector = Collector()
        previous: str | None = None
        for role, text in _passages(lines):
            entry_id = content_id([role, text], previous)
            collector.add(Entry(entry_id, role, (Text(text),), previous))
            previous = entry_id
        return Transcript(
            session_id=derived_session_id(iter(collector)),
            host="text",
            entries=tuple(collector),
            skipped=collector.skipped,
            repaired=lines.repaired,
        )


def _passages(lines: Lines) -> Iterator[tuple[Role, str]]:
    role: Role = "user"
    pending: list[str] = []
    size = 0
    for line in _pieces(lines):
        found = _LABEL.match(line.rstrip("\r\n"))
        full = size + len(line) > PIECE
        if (found or full) and (text := "".join(pending).strip()):
            yield role, text
        if found or full:
            pending, size = [], 0
        if found:
            role = _role((found["who"] or found["heading"]).lower())
            line = (found["rest"] or "").strip() + "\n"
        pending.append(line)
        size += len(line)
    if text := "".join(pending).strip():
        yield role, text


def _pieces(lines: Lines) -> Iterator[str]:
    for line in lines:
        for start in range(0, len(line), PIECE):
            yield line[start : start + PIECE]


def _role(name: str) -> Role:
    return _ALSO.get(name) or read_role(name) or "user"
