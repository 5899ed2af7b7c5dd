"""claude-mem's database: what its observations say, by the Claude Code session they come from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hindsight_core.config.paths import user_home
from hindsight_core.errors import ConfigError
from hindsight_core.memory import Fact, Provenance
from hindsight_core.transcript.shapes import read_time

SOURCE = "claude-mem"
HOST = "claude-code"
_KINDS = {"decision": "decision", "bugfix": "pitfall"}
# Older versions name these columns otherwise.
_AGENT_SESSION = ("content_session_id", "claude_session_id")
_OWN_SESSION = ("memory_session_id", "sdk_session_id")


@dataclass(frozen=True, slots=True)
class Observed:
    """What it keeps of one session, as facts.

    Attributes:
        session_id: The Claude Code session; empty when it is not known.
        project: The name that claude-mem gave the project; it proves no folder.
        facts: What was observed, oldest first.
    """

    session_id: str
    project: str
    facts: tuple[Fact, ...]


def default_file(env: Mapping[str, str]) -> Path:
    """Where claude-mem keeps it."""
    configured = env.get("CLAUDE_MEM_DATA_DIR", "").strip()
    folder = Path(configured) if configured else user_home(env) / ".claude-mem"
    return folder / "claude-mem.db"


def read(path: Path) -> list[Observed]:
    """Every session that says something.

    Raises:
        ConfigError: The file is not there, or is no database of claude-mem.
    """
    if not path.is_file():
        raise ConfigError(f"{path} is not there. Name claude-mem's database.")
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return _read(connection)
    except sqlite3.Error as error:
        raise ConfigError(f"{path} is no database of claude-mem: {error}") from error


def _read(connection: sqlite3.Connection) -> list[Observed]:
    agents: dict[str, str] = {}
    for row in connection.execute("SELECT * FROM sdk_sessions"):
        own, agent = _first(row, _OWN_SESSION), _first(row, _AGENT_SESSION)
        if own and agent:
            agents[own] = agent
    found: dict[tuple[str, str], list[Fact]] = {}
    for table, facts_of in (("observations", _observation), ("session_summaries", _summary)):
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY id"):
            agent = agents.get(_first(row, _OWN_SESSION), "")
            key = (agent, _first(row, ("project",)))
            found.setdefault(key, []).extend(facts_of(row, agent))
    return [Observed(s, project, tuple(facts)) for (s, project), facts in found.items() if facts]


def _observation(row: sqlite3.Row, agent: str) -> Iterator[Fact]:
    said = _texts(row, "facts")
    if not said:
        title = _first(row, ("title",))
        more = _first(row, ("narrative", "text", "subtitle"))
        said = [". ".join(part for part in (title, more) if part)]
    kind = _KINDS.get(_first(row, ("type",)), "fact")
    yield from (_fact(row, text, kind=kind, agent=agent) for text in said if text)


def _summary(row: sqlite3.Row, agent: str) -> Iterator[Fact]:
    """What was learned; what was asked and done is no knowledge."""
    if text := _first(row, ("learned",)):
        yield _fact(row, text, kind="fact", agent=agent)


def _fact(row: sqlite3.Row, text: str, *, kind: str, agent: str) -> Fact:
    columns = row.keys()
    epoch = row["created_at_epoch"] if "created_at_epoch" in columns else None
    return Fact(
        id="",
        text=text,
        kind=kind,
        timestamp=read_time(epoch) or read_time(_first(row, ("created_at",))),
        tags=tuple(_texts(row, "concepts")),
        provenance=Provenance(
            source=SOURCE, session_id=agent or None, host=HOST, speaker="assistant"
        ),
    )


def _first(row: sqlite3.Row, names: tuple[str, ...]) -> str:
    columns = row.keys()
    values = (row[name] for name in names if name in columns)
    return next((v.strip() for v in values if isinstance(v, str) and v.strip()), "")


def _texts(row: sqlite3.Row, name: str) -> list[str]:
    """A list of texts, which is kept as JSON."""
    try:
        value: Any = json.loads(_first(row, (name,)) or "[]")
    except (ValueError, RecursionError):
        return []
    listed = value if isinstance(value, list) else []
    return [item.strip() for item in listed if isinstance(item, str) and item.strip()]
