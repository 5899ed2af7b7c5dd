"""What of a session may be stored at all, whoever asks: modes, left-out turns (s1/S-SES)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.transcript.private import without_marked_turns

if TYPE_CHECKING:
    from hindsight_core.memorize.parts import Parts
    from hindsight_core.transcript.entry import Transcript


async def refusal(parts: Parts, session_id: str | None) -> str | None:
    """Why nothing of a session may be stored; None when it may."""
    if session_id is None:
        return None
    choices = await parts.choices.get(session_id)
    return replace(choices, next_opt_out=False).why_no_retain


async def allowed(parts: Parts, transcript: Transcript) -> Transcript:
    """A session without what its person left out."""
    left_out = await parts.retained.left_out(transcript.session_id)
    identify = parts.sanitiser.entry_id
    marked = without_marked_turns(transcript.entries, parts.settings.security.opt_out_marks)
    kept = tuple(entry for entry in marked if identify(entry.id) not in left_out)
    return replace(transcript, entries=kept)
