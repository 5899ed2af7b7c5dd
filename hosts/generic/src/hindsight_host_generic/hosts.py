"""The hosts of this distribution: entry points of the group ``hindsight.hosts``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.host import EngineApi, HostAdapter, InstallPlan, InstallRequest
from hindsight_host_generic import GenericAdapter
from hindsight_host_generic.agents import AGENTS, Agent
from hindsight_host_generic.hooked import Hooked
from hindsight_host_generic.install.agents import WIRINGS
from hindsight_host_generic.install.wiring import Wiring

if TYPE_CHECKING:
    from hindsight_core.transcript.past import PastSession
    from hindsight_core.transcript.readers.base import TranscriptReader
    from hindsight_host_generic.install.plan import Planner

UNTRIED = (
    "Wired from the documentation of {}, not tried with the program itself: look whether a new "
    "session knows what an earlier one decided, and report it if it does not."
)


class WiredHost(Hooked):
    """A host whose configuration files are written by this distribution.

    Args:
        name: As in ``install NAME``.
        wiring: Where its configuration is and what form it has.
        agent: Its events; None for a program without hooks.
    """

    def __init__(self, name: str, *, wiring: Wiring, agent: Agent | None = None) -> None:
        self.name = name
        self.agent = agent
        self.wiring = wiring

    def adapter(self, engine: EngineApi) -> HostAdapter:
        """The adapter of one bridge: canonical requests."""
        return GenericAdapter(engine)

    def install(self, request: InstallRequest) -> InstallPlan:
        """Hooks, MCP server and skill, as far as the agent has such things.

        Raises:
            ConfigError: A file of the agent cannot be parsed; file and line are named.
        """
        plan = self._planner(request).install()
        if self.agent is None or self.agent.proven == "ran":
            return plan
        return replace(plan, notes=(*plan.notes, UNTRIED.format(self.agent.title)))

    def uninstall(self, request: InstallRequest) -> InstallPlan:
        """Takes them out and leaves everything foreign as it was."""
        return self._planner(request).uninstall()

    def obstacles(self, request: InstallRequest) -> Sequence[str]:
        """What in the agent's own files keeps the hooks from running, once they are wired."""
        find = self.wiring.obstacles
        if find is None or self.agent is None or self.install(request).changes:
            return ()
        return find(self.wiring.places(request), self.agent.events)

    def detected(self, env: Mapping[str, str]) -> str | None:
        """Its folder, or its program on the path."""
        folder = self.wiring.folder(env)
        if folder is not None and folder.is_dir():
            return str(folder)
        path = env.get("PATH")
        found = (shutil.which(program, path=path) for program in self.wiring.programs)
        return next(filter(None, found), None)

    def past_sessions(self, env: Mapping[str, str]) -> Iterator[PastSession]:
        """The sessions that the agent has kept, where we know how it keeps them."""
        from hindsight_host_generic.past import FINDERS

        folder, find = self.wiring.folder(env), FINDERS.get(self.name)
        if find is not None and folder is not None:
            yield from find(folder)

    def transcript_readers(self) -> Sequence[TranscriptReader]:
        """What reads a single session file of the agent, where we know its form."""
        from hindsight_host_generic.past import FINDERS
        from hindsight_host_generic.readers import AgentReader

        return (AgentReader(self.name),) if self.name in FINDERS else ()

    def _planner(self, request: InstallRequest) -> Planner:
        from hindsight_host_generic.install.plan import Planner

        events = self.agent.events if self.agent else ()
        return Planner(self.name, events=events, wiring=self.wiring, request=request)


class McpClient(WiredHost):
    """Any program that speaks MCP: a project's ``.mcp.json``, or what to paste."""

    def install(self, request: InstallRequest) -> InstallPlan:
        """Without a project there is no file that every client reads: show the entry."""
        plan = super().install(request)
        if request.project is not None:
            return plan
        from hindsight_host_generic.install.commands import server_entry
        from hindsight_host_generic.install.plan import NO_SDK, SERVER, has_sdk

        entry = json.dumps({"mcpServers": {SERVER: server_entry(request, self.name)}}, indent=2)
        paste = f"Put this into your MCP client's configuration:\n{entry}"
        missing = () if has_sdk() else (NO_SDK,)
        return InstallPlan(plan.changes, (*plan.notes, paste, *missing))


claude_code, codex, gemini, cursor, copilot = (
    WiredHost(name, wiring=WIRINGS[name], agent=AGENTS[name])
    for name in ("claude-code", "codex", "gemini", "cursor", "copilot")
)
mcp = McpClient("mcp", wiring=WIRINGS["mcp"])
