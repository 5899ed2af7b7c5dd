"""Which sessions the hosts on this machine have kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.config.project import locate
from hindsight_core.errors import ConfigError, HindsightError
from hindsight_core.transcript.past import PastSessionsHost

if TYPE_CHECKING:
    from hindsight_core.transcript.past import PastSession

ALL = "all"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sessions are to be imported.

    Attributes:
        hosts: Names of hosts; none, or ``all``, for every host that is installed.
        since: Only sessions that were written to since then; UTC.
        project: Only sessions of the project that holds this folder.
    """

    hosts: Sequence[str] = ()
    since: datetime | None = None
    project: Path | None = None


@dataclass(slots=True)
class Found:
    """The sessions found.

    Attributes:
        sessions: Oldest first.
        children: How many more are sub-agents'; their results stand in their parents.
        problems: Hosts that could not be asked, with the reason.
    """

    sessions: list[PastSession] = field(default_factory=list)
    children: int = 0
    problems: list[str] = field(default_factory=list)


def find(
    wanted: Wanted,
    *,
    env: Mapping[str, str],
    load: Callable[[str], object],
    installed: Sequence[str],
) -> Found:
    """Ask the hosts.

    Args:
        wanted: What is asked for.
        env: The environment; tells where hosts keep their sessions.
        load: Gives a host by its name.
        installed: Names of the installed hosts.

    Raises:
        ConfigError: A host that was named is not installed, or keeps no sessions that we read.
    """
    found = Found()
    every = not wanted.hosts or ALL in wanted.hosts
    for name in installed if every else dict.fromkeys(wanted.hosts):
        try:
            host = load(name)
        except HindsightError as error:
            if not every:
                raise
            found.problems.append(str(error))
            continue
        if isinstance(host, PastSessionsHost):
            try:
                _collect(found, host.past_sessions(env), wanted)
            except Exception as error:
                # A third party's host must not hide the sessions of the others.
                why = f"{type(error).__name__}: {error}"
                found.problems.append(f"the sessions of {name} cannot be listed ({why})")
        elif not every:
            raise ConfigError(
                f"{name} keeps no sessions that can be imported; `hindsight-mem remember FILE` "
                "reads single files"
            )
    return _chosen(found, wanted, env)


def _collect(found: Found, sessions: Iterable[PastSession], wanted: Wanted) -> None:
    for session in sessions:
        if wanted.since is not None and session.updated < wanted.since:
            continue
        if session.child:
            found.children += 1
        else:
            found.sessions.append(session)


def _chosen(found: Found, wanted: Wanted, env: Mapping[str, str]) -> Found:
    """One of each session, the one written to last; of one project if only that is wanted."""
    newest: dict[tuple[str, str], PastSession] = {}
    for session in sorted(found.sessions, key=lambda s: s.updated):
        newest[session.host, session.session_id] = session
    kept = list(newest.values())
    if wanted.project is not None:
        root = locate(wanted.project, env).root
        roots: dict[str, Path | None] = {}
        for cwd in {s.cwd for s in kept if s.cwd}:
            roots[cwd] = locate(Path(cwd), env).root
        kept = [s for s in kept if s.cwd and root is not None and roots[s.cwd] == root]
    found.sessions = sorted(kept, key=lambda s: (s.updated, s.session_id))
    return found
