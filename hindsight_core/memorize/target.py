"""The document that facts become, and what its writing has to heed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight_core.memorize.particulars import PLAIN, Particulars

if TYPE_CHECKING:
    from datetime import datetime

    from hindsight_core.memorize.context import WriteSource
    from hindsight_core.state.jobs import WindowMark
    from hindsight_core.state.retained import TranscriptMark
    from hindsight_core.transcript.entry import Window


@dataclass(frozen=True, slots=True)
class Target:
    """The document that facts become.

    Attributes:
        document_id: From its content: a window's entries or a note's text.
        source: Which path writes it.
        tags: Of the document and its facts.
        timestamp: When it was said.
        explicit: A person or the agent asked for this very text.
        text: The document's text; None for bullets of the facts.
        window: The window's end, recorded together with the document.
        said: The window itself, where facts may be retired by what was said in it.
        reason: Why it is written now: ``compact``, ``manual`` ...
        replaces: Documents of a session that is memorized anew: what they hold does not count as
            known, and this document, if it is one of them, is written from nothing. None for an
            ordinary window.
        keep: The text itself is wanted, whatever facts are in it (a transcript).
        verbatim: The facts are stored word for word, also in a bank that finds facts by itself.
        append: It is added to the document instead of taking its place.
        particulars: What an explicit note says of itself.
    """

    document_id: str
    source: WriteSource
    tags: tuple[str, ...]
    session_id: str | None = None
    host: str | None = None
    timestamp: datetime | None = None
    explicit: bool = False
    text: str | None = None
    window: WindowMark | TranscriptMark | None = None
    said: Window | None = None
    reason: str = ""
    replaces: frozenset[str] | None = None
    keep: bool = False
    append: bool = False
    verbatim: bool = False
    particulars: Particulars = PLAIN
