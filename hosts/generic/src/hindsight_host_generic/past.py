"""The sessions that Claude Code, Codex and Gemini CLI have kept, for an import."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from hindsight_core.errors import TranscriptError
from hindsight_core.transcript.entry import Transcript
from hindsight_core.transcript.past import Agents, PastSession
from hindsight_core.transcript.path import active_path
from hindsight_core.transcript.readers.lines import Lines
from hindsight_host_generic.transcripts import DIALECTS
from hindsight_host_generic.transcripts.base import Whole
from hindsight_host_generic.transcripts.follow import Follower, Reach

Record = Mapping[str, Any]
_WHOLE = Reach(tail=1 << 50, unread=1 << 50)
# Far enough for the first record that somebody spoke in.
_HEAD = 200
_CHAT = 64 * 1024 * 1024


def claude_code(folder: Path) -> Iterator[PastSession]:
    """``projects/<folder>/<session>.jsonl``; every record of talk names the session's folder."""
    for path in sorted(folder.glob("projects/*/*.jsonl")):
        yield _claude_code(path)


def codex(folder: Path) -> Iterator[PastSession]:
    """``sessions/<year>/<month>/<day>/rollout-*.jsonl``; the first record tells of the session."""
    kept = (*folder.glob("sessions/**/rollout-*.jsonl"), *folder.glob("archived_sessions/*.jsonl"))
    for path in sorted(kept):
        yield _codex(path)


def gemini(folder: Path) -> Iterator[PastSession]:
    """``tmp/<project>/chats/session-*``; a session has its folder's digest, never its name."""
    known = _hashed(_gemini_folders(folder))
    for path in sorted(folder.glob("tmp/*/chats/session-*.json*")):
        yield _gemini(path, known)


def session_of(agent: str, path: Path) -> PastSession:
    """The session of one file, wherever it lies."""
    if agent == "claude-code":
        return _claude_code(path)
    return _codex(path) if agent == "codex" else _gemini(path, {})


def _claude_code(path: Path) -> PastSession:
    records = _head(path, _HEAD)
    cwd = next((c for r in records if (c := _text(r, "cwd"))), None)
    spoken = [r for r in records if "isSidechain" in r]
    return _session(
        "claude-code",
        path,
        session_id=path.stem,
        cwd=cwd,
        child=bool(spoken) and all(r["isSidechain"] is True for r in spoken),
    )


def _codex(path: Path) -> PastSession:
    first = _first(path)
    meta = first.get("payload")
    meta = meta if first.get("type") == "session_meta" and isinstance(meta, dict) else {}
    source = meta.get("source")
    return _session(
        "codex",
        path,
        session_id=_text(meta, "id") or path.stem,
        cwd=_text(meta, "cwd"),
        child=isinstance(source, dict) and "subagent" in source,
    )


def _gemini(path: Path, folders: Mapping[str, str]) -> PastSession:
    header = _gemini_header(path)
    return _session(
        "gemini",
        path,
        session_id=_text(header, "sessionId") or path.stem,
        cwd=folders.get(_text(header, "projectHash") or ""),
        child=header.get("kind") == "subagent",
    )


FINDERS: Mapping[str, Callable[[Path], Iterator[PastSession]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "gemini": gemini,
}


def _session(
    host: str, path: Path, *, session_id: str, cwd: str | None, child: bool
) -> PastSession:
    try:
        changed = path.stat().st_mtime
    except OSError:
        changed = 0.0
    return PastSession(
        host=host,
        session_id=session_id,
        source=str(path),
        updated=datetime.fromtimestamp(changed, UTC),
        read=partial(_read, path, host, session_id, cwd),
        cwd=cwd,
        child=child,
    )


def _read(
    path: Path, host: str, session_id: str, cwd: str | None, agents: Agents | None
) -> Transcript:
    """The whole file, by the dialect that reads it while it grows: so ids are the same."""
    if path.suffix == ".json":
        return Transcript(session_id, host, _entries_of_chat(path), cwd=cwd)
    follower = Follower(DIALECTS[host], {}, reach=_WHOLE)
    try:
        news = follower.update(str(path))
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror or error}.") from error
    if 2 * follower.unknown > follower.records:
        raise TranscriptError(
            f"{path}: {follower.unknown} of {follower.records} records are of no form that is "
            f"known for {host}. Nothing was read; it may be of a newer or much older version."
        )
    return Transcript(session_id, host, news.entries, cwd=cwd, unknown=follower.unknown)


def _entries_of_chat(path: Path) -> tuple[Any, ...]:
    """An older chat file: one JSON object with all its messages."""
    said = DIALECTS["gemini"]({"$set": {"messages": _chat(path).get("messages")}}, None)
    if not isinstance(said, Whole):
        raise TranscriptError(f"{path} holds no messages that are known of Gemini CLI.")
    return active_path(said.entries)


def _chat(path: Path) -> Record:
    try:
        if path.stat().st_size > _CHAT:
            raise TranscriptError(f"{path} is larger than {_CHAT // 1024**2} MB: it is not read.")
        found = json.loads(path.read_bytes().decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError) as error:
        raise TranscriptError(f"{path} cannot be read: {error}.") from error
    return found if isinstance(found, dict) else {}


def _first(path: Path) -> Record:
    return next(iter(_head(path, 1)), {})


def _head(path: Path, count: int) -> list[Record]:
    """The first records; none of a file that cannot be read, which is told when it is."""
    try:
        return [r for r in islice(Lines(path).records(), count) if r is not None]
    except TranscriptError:
        return []


def _gemini_header(path: Path) -> Record:
    if path.suffix != ".json":
        return _first(path)
    try:
        return _chat(path)
    except TranscriptError:
        return {}


def _gemini_folders(folder: Path) -> Iterator[str]:
    """Folders that Gemini CLI has worked in: any of them may be a session's."""
    try:
        listed = json.loads((folder / "projects.json").read_text("utf-8"))
        yield from listed["projects"]
    except (OSError, ValueError, TypeError, KeyError):
        pass
    for marker in folder.glob("tmp/*/.project_root"):
        try:
            yield marker.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue


def _hashed(folders: Iterable[str]) -> Mapping[str, str]:
    """Folders by the digest with which a session names its own."""
    return {hashlib.sha256(name.encode()).hexdigest(): name for name in folders}


def _text(record: Record, name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) and value else None
