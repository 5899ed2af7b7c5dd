"""What pi says of its sessions; its events are those of every host of its kind."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from hindsight_core.extension_host.adapter import Action, ExtensionAdapter, Payload
from hindsight_host_pi.install import agent_dir

# The name of a workflow's agent: flow, step, number of the attempt.
_ATTEMPT = re.compile(r"[^:]+:(?:[^:]+:)+attempt-\d+")

# How extensions gave active memory's plugin an adapter, and what does the same here.
_REGISTER = "pi-active-memory:register-adapters"
_KINDS = {"registerRag": "bank", "registerEmbedding": "embedder", "registerLlm": "model"}


class PiAdapter(ExtensionAdapter):
    """One pi process."""

    name = "pi"

    def own_handlers(self) -> Mapping[str, Callable[[Payload], Awaitable[list[Action]]]]:
        """An extension hands over an adapter that is a program of pi's own."""
        return {"offered": self._offered}

    def offers(self) -> Sequence[Action]:
        """The event on which extensions register their adapters (am/A-FAIL)."""
        return [{"type": "offer", "event": _REGISTER, "methods": list(_KINDS)}]

    async def _offered(self, payload: Payload) -> list[Action]:
        kind = _KINDS.get(str(payload.get("method")), "plugin")
        text = (
            f"The adapter {payload.get('id')!r} of a pi extension is not used: here a {kind} is a "
            f"plugin in Python. `hindsight-mem plugins new {kind} NAME` writes one to start from."
        )
        return [{"type": "notify", "level": "warning", "text": text}]

    def session(self, payload: Payload) -> Payload:
        """``initialize.session``."""
        session = payload.get("session") or {}
        return {
            "id": session.get("id"),
            "file": session.get("file"),
            "trusted": session.get("trusted"),
            "ephemeral": _is_only_tools(session),
        }

    def instructions(self) -> Sequence[str]:
        """The file in which pi's user writes what holds in every project."""
        return (str(agent_dir(os.environ) / "AGENTS.md"),)


def _is_only_tools(session: Payload) -> bool:
    """Sessions that keep nothing by themselves (pi/U-04, pi/S-02).

    These are ``--no-session``, ``--mem-only-tools``, nodes of a task flow, and the agents of a
    workflow that run inside pi's own process and are named after their attempt.
    """
    if session.get("ephemeral") or session.get("onlyTools"):
        return True
    name = session.get("name")
    if isinstance(name, str) and _ATTEMPT.fullmatch(name):
        return True
    return "PI_TASKFLOW_NODE_ID" in os.environ
