"""What pi says of its sessions; its events are those of every host of its kind."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from hindsight_core.extension_host.adapter import ExtensionAdapter, Payload
from hindsight_host_pi.install import agent_dir

# The name of a workflow's agent: flow, step, number of the attempt.
_ATTEMPT = re.compile(r"[^:]+:(?:[^:]+:)+attempt-\d+")


class PiAdapter(ExtensionAdapter):
    """One pi process."""

    name = "pi"

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
