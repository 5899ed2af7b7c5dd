"""What people chose for sessions in s1enhanced: modes, opt-outs, tags (s1/S-SES-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.importing.state.cursors import by_key
from hindsight_core.importing.state.desk import Tally, read_object
from hindsight_core.state.choices import Choices, SessionChoices

if TYPE_CHECKING:
    from hindsight_core.importing.state.desk import Desk
    from hindsight_core.transcript.past import PastSession

FOLDER = "session-meta"
_MODES = ("normal", "read-only", "ignored")


async def adopt(desk: Desk) -> Tally:
    """Take over what was chosen, where nothing was chosen here."""
    tally = Tally("session modes")
    known = by_key(desk.sessions)
    for _, folder in desk.kept(FOLDER):
        for path in sorted(folder.glob("*.json")):
            session = known.get(path.stem)
            if session is None:
                tally.left.append(f"{path}: its session is not among those that pi has kept")
                continue
            try:
                chosen = _choices(read_object(path))
            except ValueError:
                # Whoever asked to be left alone must not be remembered because a file is broken.
                chosen = Choices(mode="ignored")
            if chosen != Choices():
                await _session(desk, session, chosen, tally)
    return tally


async def _session(desk: Desk, session: PastSession, chosen: Choices, tally: Tally) -> None:
    place = desk.part(session).place
    if place.bank is None:
        return
    runtime = desk.runtime(place)
    choices = SessionChoices(runtime.sessions)
    own = runtime.sanitiser.entry_id(session.session_id)
    if await choices.get(own) != Choices():
        tally.known += 1
        return
    tally.adopted += 1
    if not desk.dry_run:
        await choices.change(own, lambda before: chosen if before == Choices() else before)


def _choices(meta: Mapping[str, Any]) -> Choices:
    """Raises `ValueError` for a mode that is none."""
    mode = meta.get("mode", "normal")
    if mode not in _MODES:
        raise ValueError(f"mode {mode!r}")
    tags = meta.get("tags")
    off = "off"
    return Choices(
        mode=mode,
        recall=meta.get("recallMode") != off,
        retain=meta.get("retainMode") != off and meta.get("retained") is not False,
        next_opt_out=meta.get("nextRetainMode") in (off, "opt-out"),
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
    )
