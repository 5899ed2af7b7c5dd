"""What a host adapter is, and what a host program can do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from hindsight_core.transcript.entry import Entry

BlockMode = Literal["persist", "replay", "turn"]
# Tools that change nothing: a host that asks its user before a tool writes need not ask for them.
READ_TOOLS = frozenset({"hindsight_recall", "hindsight_reflect", "memory_search"})


@dataclass(frozen=True, slots=True)
class HostCapabilities:
    """What the host declared in ``initialize`` (protocol.md).

    Attributes:
        complete: Answers ``host/complete`` and ``host/models`` with its own models.
        entries: Answers ``host/entries`` with the active path.
        credentials: Answers ``host/credentials``.
        steer: Can put a block into a running loop.
        status: Shows ``status/changed``.
        panel: Draws the panel's lines.
        tasks: Answers ``host/tasks``.
        agents: Agents with banks of their own share one list of tools: it names no bank.
        spawned: Its events are processes: nobody reads a list of tools, MCP serves them.
        blocks: What it does with a block.
    """

    complete: bool = False
    entries: bool = False
    credentials: bool = False
    steer: bool = False
    status: bool = False
    panel: bool = False
    tasks: bool = False
    agents: bool = False
    spawned: bool = False
    blocks: BlockMode = "persist"

    @classmethod
    def from_wire(cls, declared: Mapping[str, Any]) -> HostCapabilities:
        """Read the declaration; what is unknown or of a wrong type counts as not declared."""
        names = {f.name for f in fields(cls)} - {"blocks"}
        flags = {name: declared.get(name) is True for name in names}
        blocks = declared.get("blocks")
        return cls(**flags, blocks=blocks if blocks in ("persist", "replay", "turn") else "persist")

    @property
    def names(self) -> frozenset[str]:
        """The declared flags by name."""
        flags = (f.name for f in fields(self) if f.name != "blocks")
        return frozenset(name for name in flags if getattr(self, name))


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a call may take, in milliseconds; an adapter lowers them to its host's own cuts."""

    turn_start_ms: int = 30_000
    turn_end_ms: int = 1_000
    compact_ms: int = 5_000
    session_end_ms: int = 60_000

    def wire(self) -> dict[str, int]:
        """The form of ``initialize.limits``."""
        return {
            "turnStartMs": self.turn_start_ms,
            "turnEndMs": self.turn_end_ms,
            "compactMs": self.compact_ms,
            "sessionEndMs": self.session_end_ms,
        }


class EngineApi(Protocol):
    """The canonical calls, as an adapter makes them: protocol.md's names, params and results."""

    @property
    def methods(self) -> Mapping[str, Any]:
        """Handlers by canonical name."""
        ...

    @property
    def live_tokens(self) -> int:
        """``recall.live_tokens``, for `hindsight_core.replay.Replay`."""
        ...

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """One canonical call; never raises for a memory failure."""
        ...

    def forget_shown(self, *, but_last: bool = False) -> None:
        """Blocks left the request (the replay is full); ``but_last``: all but the newest one."""
        ...

    def take_back(self) -> None:
        """The block of the last ``turn/start`` did not reach the model: the turn was aborted."""
        ...


@runtime_checkable
class HostAdapter(Protocol):
    """Turns one host's raw events into canonical calls, and their results into actions.

    It holds no policy: it translates.

    Attributes:
        name: The host's name, as in ``bridge --host NAME``.
        limits: The upper bounds that this host can keep.
    """

    name: str
    limits: Limits

    async def event(self, name: str, payload: dict[str, Any]) -> Sequence[dict[str, Any]]:
        """Handle one raw event; gives the actions for the shim, in order."""
        ...

    def answer(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """Translate the host's answer to a request of ours into protocol.md's form."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """One file that an installation writes or removes.

    Attributes:
        path: The file.
        before: Its text now; None when there is none.
        after: Its text then; None removes it.
        ours: Wholly ours: no backup is made.
    """

    path: Path
    before: str | None
    after: str | None
    ours: bool = False


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What `Host.install` and `Host.uninstall` would do; the core shows it and does it.

    Attributes:
        changes: Files in the order in which they are written.
        notes: What the user should know, such as an original plugin that is still there.
        migrant: The user brought a configuration: it says where memory is active, as before.
    """

    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    migrant: bool = False


def program() -> tuple[str, ...]:
    """How a host starts ``hindsight-mem``; ``-m`` alone would import a project's ``select.py``."""
    script = Path(sys.executable).with_name("hindsight-mem")
    own = (sys.executable, "-P", "-m", "hindsight_core")
    return (str(script),) if script.is_file() else own


def hook_program() -> tuple[str, ...]:
    """How an agent starts its hooks, a process each: a script costs half as much again."""
    return (sys.executable, "-P", "-c", "from hindsight_core.cli.entry import main; main()")


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """Where and how to install.

    Attributes:
        env: The environment; tells where the host's configuration is.
        shims: Our folder for this host's shim files.
        command: How the host starts the bridge, as an argv.
        bridge_env: Variables that the bridge needs, such as ``HINDSIGHT_MEM_HOME``.
        project: Write the project's configuration of the host in this folder, not the user's.
        replace: The user allowed that an original plugin's entry is taken out.
        program: How ``hindsight-mem`` itself is started, as an argv.
        hook_program: The same for a hook, which is started at every turn.
        skill: Renders the text of a companion skill, given the name that the MCP server has in
            the host; None: no skill is written.
    """

    env: Mapping[str, str]
    shims: Path
    command: tuple[str, ...]
    bridge_env: Mapping[str, str] = field(default_factory=dict)
    project: Path | None = None
    replace: bool = False
    program: tuple[str, ...] = field(default_factory=program)
    hook_program: tuple[str, ...] = field(default_factory=hook_program)
    skill: Callable[[str], str] | None = None


@runtime_checkable
class Host(Protocol):
    """What an entry point of the group ``hindsight.hosts`` names: one host, adapter and wiring.

    Attributes:
        name: As in ``bridge --host NAME`` and ``install NAME``.
    """

    name: str

    def adapter(self, engine: EngineApi) -> HostAdapter:
        """The adapter of one bridge."""
        ...

    def install(self, request: InstallRequest) -> InstallPlan:
        """What writes this host's wiring; empty when it is there already.

        Raises:
            ConfigError: A file of the host cannot be parsed; it names file and line.
        """
        ...

    def uninstall(self, request: InstallRequest) -> InstallPlan:
        """What takes the wiring out again and leaves everything foreign as it was."""
        ...


@runtime_checkable
class DetectableHost(Host, Protocol):
    """A host that can tell whether its program is on this machine (``install all``)."""

    def detected(self, env: Mapping[str, str]) -> str | None:
        """What speaks for it, such as its folder; None when nothing does."""
        ...


@runtime_checkable
class CheckedHost(Host, Protocol):
    """A host whose own settings may keep memory off (``doctor``)."""

    def obstacles(self, request: InstallRequest) -> Sequence[str]:
        """What stands in the way, each with what to do; raises `ConfigError` as ``install``."""
        ...


@runtime_checkable
class ManySessionsHost(Host, Protocol):
    """A host whose one process runs several sessions side by side, each with its own engine."""

    def adapter_of_many(self, engines: Callable[[], EngineApi]) -> HostAdapter:
        """The adapter of one bridge; each call of ``engines`` gives an engine for one session."""
        ...


@runtime_checkable
class TaskStateReader(Protocol):
    """Reads a task list out of a transcript; None when this reader finds none."""

    def read(self, entries: Sequence[Entry]) -> str | None:
        """The task state as text."""
        ...
