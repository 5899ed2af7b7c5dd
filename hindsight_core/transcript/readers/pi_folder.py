"""The folder in which pi and omp keep their sessions: a folder a project, a file a session."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from hindsight_core.errors import TranscriptError
from hindsight_core.transcript.entry import Transcript
from hindsight_core.transcript.past import Agents, PastSession
from hindsight_core.transcript.readers.pi import PiReader, session_header


def sessions_in(folder: Path, *, host: str) -> Iterator[PastSession]:
    """The sessions of a ``sessions`` folder; files without a session's header are others'.

    Args:
        folder: ``<agent folder>/sessions``.
        host: ``pi`` or ``omp``.
    """
    # Deeper down lie the sub-agents' files of a session.
    for path in sorted(folder.glob("*/*.jsonl")):
        found = _session(path, host)
        if found is not None:
            yield found


def _session(path: Path, host: str) -> PastSession | None:
    try:
        changed = path.stat().st_mtime
        header = session_header(path)
    except (OSError, TranscriptError):
        return None
    own, cwd = header.get("id"), header.get("cwd")
    if header.get("type") != "session" or not isinstance(own, str) or not own:
        return None
    return PastSession(
        host=host,
        session_id=own,
        source=str(path),
        updated=datetime.fromtimestamp(changed, UTC),
        read=partial(_read, path, host),
        cwd=cwd if isinstance(cwd, str) and cwd else None,
        forked_from=_id_of(header.get("parentSession")),
    )


def _id_of(parent: object) -> str | None:
    """The id of a session that is named by its file."""
    if not isinstance(parent, str) or not parent:
        return None
    try:
        own = session_header(Path(parent)).get("id")
    except TranscriptError:
        return None
    return own if isinstance(own, str) and own else None


def _read(path: Path, host: str, agents: Agents | None) -> Transcript:
    return PiReader(host).read(path)
