"""What makes a host of this distribution answer ``hindsight-mem hook``: an agent's table."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_core.host import EngineApi
    from hindsight_core.host_hooks import HookAdapter, HookSession
    from hindsight_host_generic.agents.base import Agent


class Hooked:
    """Implements the hook side of `hindsight_core.host_hooks.HookHost`.

    Attributes:
        agent: What is particular about the agent; None for a program without hooks.
    """

    agent: Agent | None

    def session_of(self, event: str, payload: Mapping[str, Any]) -> HookSession | None:
        """The session of an event that is wired; None for any other."""
        from hindsight_host_generic.hooks import session_of

        wired = self.agent.event(event) if self.agent else None
        return session_of(self.agent, wired, payload) if self.agent and wired else None

    def hook_adapter(
        self,
        engine: EngineApi,
        session: HookSession,
        memo: MutableMapping[str, Any],
        *,
        resident: bool,
    ) -> HookAdapter:
        """The adapter of one session."""
        from hindsight_host_generic.adapter import AgentAdapter

        if self.agent is None:
            raise AssertionError("a session comes from an agent's event")
        return AgentAdapter(engine, self.agent, session, memo, resident=resident)
