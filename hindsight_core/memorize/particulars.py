"""What an explicit note may say of itself besides its text (s1/S-RET-5, S-TOOL-2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

RESERVED = frozenset(
    {"cwd", "pi_session_file", "source", "retainSource", "project", "language", "session", "scope"}
)
"""Metadata that says where a write comes from: nobody else may set it."""


@dataclass(frozen=True, slots=True)
class Particulars:
    """What is not given is as for every note.

    Attributes:
        context: Where it comes from, in a few words, for a bank that extracts.
        entities: Names told to such a bank.
        metadata: Further metadata; none of `RESERVED`.
        timestamp: When it was said or became true (UTC, aware).
        document_id: Names the document, so that a later note can take its place or be added.
        append: Add it to that document.
        observation_scopes: Sets of tags under which a bank forms observations.
    """

    context: str | None = None
    entities: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    timestamp: datetime | None = None
    document_id: str | None = None
    append: bool = False
    observation_scopes: tuple[tuple[str, ...], ...] = ()


PLAIN = Particulars()
