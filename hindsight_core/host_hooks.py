"""What a host is whose events are processes: ``hindsight-mem hook HOST EVENT``."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from hindsight_core.host import EngineApi, Host, HostAdapter


@dataclass(frozen=True, slots=True)
class HookSession:
    """Which session one spawned hook belongs to.

    Attributes:
        id: As the agent names it; a sub-agent's own id for what happens inside it.
        cwd: Where the agent says it works; a session keeps the first one (br/BR-67).
        parent: The session that a sub-agent belongs to.
    """

    id: str
    cwd: str
    parent: str | None = None


class HookAdapter(HostAdapter, Protocol):
    """Adapter of one session of an agent whose events are processes of their own.

    The actions of ``event`` may hold ``{"type": "reply", "reply": {...}}``, what the process
    prints, and ``{"type": "ended"}``: nothing comes after it in this session.

    Attributes:
        opening: The parameters it opened the engine with; None while it has not.
    """

    opening: Mapping[str, Any] | None

    def tell(self, level: str, text: str) -> None:
        """A notice of the core for the person; it goes out with a reply that can carry it."""
        ...

    async def settle(self) -> None:
        """Finish what goes on behind the replies."""
        ...


@runtime_checkable
class HookHost(Host, Protocol):
    """A host that also answers ``hindsight-mem hook NAME EVENT``."""

    def session_of(self, event: str, payload: Mapping[str, Any]) -> HookSession | None:
        """The session of an event; None when it is nothing to us."""
        ...

    def hook_adapter(
        self,
        engine: EngineApi,
        session: HookSession,
        memo: MutableMapping[str, Any],
        *,
        resident: bool,
    ) -> HookAdapter:
        """The adapter of one session.

        Args:
            engine: Its memory.
            session: Which session it is.
            memo: What the adapter wants to know again in the next process: JSON, a few hundred
                bytes, kept for it. What is under ``prompt`` are a person's words: it is kept
                without what must not be written.
            resident: Whether this process stays for the session's next hooks.
        """
        ...
