"""The sessions that opencode has kept: in its database, or as files of older versions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hindsight_core.errors import TranscriptError
from hindsight_core.transcript.entry import Transcript
from hindsight_core.transcript.past import Agents, PastSession
from hindsight_core.transcript.shapes import read_time
from hindsight_host_opencode.transcript import agent_of, entries

Json = dict[str, Any]
HOST = "opencode"
_NEVER = datetime.fromtimestamp(0, UTC)


def data_dir(env: Mapping[str, str]) -> Path:
    """Opencode's data folder, ``$XDG_DATA_HOME/opencode`` or ``~/.local/share/opencode``."""
    configured = env.get("XDG_DATA_HOME")
    home = Path(env.get("HOME") or Path.home())
    return (Path(configured) if configured else home / ".local/share") / "opencode"


def past_sessions(folder: Path, *, options: Json) -> Iterator[PastSession]:
    """All sessions below the data folder, each once.

    Args:
        folder: `data_dir`.
        options: The plugin's options with the agents' blocks.
    """
    seen: set[str] = set()
    for path in sorted(folder.glob("opencode*.db")):
        for session in _in_database(path, options):
            seen.add(session.session_id)
            yield session
    for path in sorted(folder.glob("storage/session/*/*.json")):
        found = _in_file(path, options)
        if found is not None and found.session_id not in seen:
            yield found


def _in_database(path: Path, options: Json) -> Iterator[PastSession]:
    try:
        with closing(_open(path)) as connection:
            rows = connection.execute(
                "SELECT id, parent_id, directory, time_updated FROM session ORDER BY id"
            ).fetchall()
            spoken = connection.execute(
                "SELECT DISTINCT session_id, coalesce(json_extract(data, '$.agent'),"
                " json_extract(data, '$.mode')) FROM message"
                " WHERE json_extract(data, '$.role') = 'user'"
            ).fetchall()
    except sqlite3.Error:
        # Another program's database, or one of another layout.
        return
    agents: dict[str, list[str]] = {}
    for session_id, agent in spoken:
        if isinstance(agent, str) and agent:
            agents.setdefault(session_id, []).append(agent)
    for session_id, parent, directory, updated in rows:
        yield PastSession(
            host=HOST,
            session_id=session_id,
            source=f"{path}, {session_id}",
            updated=read_time(updated) or _NEVER,
            read=partial(_read_rows, path, session_id, directory),
            cwd=directory or None,
            agents=tuple(sorted(agents.get(session_id, ()))),
            options=options,
            child=bool(parent),
        )


def _in_file(path: Path, options: Json) -> PastSession | None:
    info = _object(path)
    session_id, time = info.get("id"), info.get("time")
    if not isinstance(session_id, str):
        return None
    folder, cwd = path.parents[2], info.get("directory")
    cwd = cwd if isinstance(cwd, str) and cwd else None
    spoken = [m for m in _messages_in(folder, session_id) if m.get("role") == "user"]
    return PastSession(
        host=HOST,
        session_id=session_id,
        source=str(path),
        updated=read_time(time.get("updated") if isinstance(time, dict) else None) or _NEVER,
        read=partial(_read_files, folder, session_id, cwd),
        cwd=cwd,
        agents=tuple(sorted({name for message in spoken if (name := agent_of(message))})),
        options=options,
        child=bool(info.get("parentID")),
    )


def _read_rows(path: Path, session_id: str, cwd: str | None, agents: Agents | None) -> Transcript:
    try:
        with closing(_open(path)) as connection:
            messages = connection.execute(
                "SELECT id, data FROM message WHERE session_id = ? ORDER BY id", (session_id,)
            ).fetchall()
            parts = connection.execute(
                "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id",
                (session_id,),
            ).fetchall()
            revert = connection.execute(
                "SELECT revert FROM session WHERE id = ?", (session_id,)
            ).fetchone()
    except sqlite3.Error as error:
        raise TranscriptError(f"{path}, {session_id} cannot be read: {error}.") from error
    content: dict[str, list[Json]] = {}
    for message_id, part_id, data in parts:
        content.setdefault(message_id, []).append({**_parsed(data), "id": part_id})
    found: list[Json] = [
        {"info": {**_parsed(data), "id": own}, "parts": content.get(own, [])}
        for own, data in messages
    ]
    undone = _parsed(revert[0]) if revert and revert[0] else {}
    return _transcript(session_id, cwd, found, undone=undone, agents=agents)


def _read_files(
    folder: Path, session_id: str, cwd: str | None, agents: Agents | None
) -> Transcript:
    info = next(iter(folder.glob(f"session/*/{session_id}.json")), None)
    undone = _object(info).get("revert") if info else None
    found = [
        {
            "info": message,
            "parts": [_object(p) for p in sorted(folder.glob(f"part/{message.get('id')}/*.json"))],
        }
        for message in _messages_in(folder, session_id)
    ]
    undone = undone if isinstance(undone, dict) else {}
    return _transcript(session_id, cwd, found, undone=undone, agents=agents)


def _transcript(
    session_id: str,
    cwd: str | None,
    messages: Sequence[Json],
    *,
    undone: Json,
    agents: Agents | None,
) -> Transcript:
    # What the person has undone is not on the path any more, though it is kept for a redo.
    first = undone.get("messageID")
    if isinstance(first, str):
        messages = [m for m in messages if str(m["info"].get("id")) < first]
    found = entries(messages, agents=agents)
    return Transcript(session_id, HOST, tuple(found), cwd=cwd)


def _messages_in(folder: Path, session_id: str) -> list[Json]:
    return [_object(path) for path in sorted(folder.glob(f"message/{session_id}/*.json"))]


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=5)


def _object(path: Path) -> Json:
    try:
        return _parsed(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}


def _parsed(text: object) -> Json:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
