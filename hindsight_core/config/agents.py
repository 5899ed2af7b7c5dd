"""The block of one agent: any section again, for that agent alone (oc/O-CFG-2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hindsight_core.config.legacy import OWN_FILE
from hindsight_core.config.translate import Layer, translate


def agent_layers(layers: Sequence[Layer]) -> Mapping[str, tuple[Layer, ...]]:
    """Agent -> what each layer says about it, weakest first."""
    found: dict[str, tuple[Layer, ...]] = {}
    for layer in layers:
        for name, block in layer.agents.items():
            origin = f"agent {name} in {layer.origin}"
            one = translate(block, kind="agent", origin=origin, old=OWN_FILE)
            found[name] = (*found.get(name, ()), one)
    return found


def agent_tables(layers: Sequence[Layer]) -> dict[str, Mapping[str, Any]]:
    """Agent -> its block as written, where a later layer replaces a key (oc/O-CFG-3)."""
    found: dict[str, Mapping[str, Any]] = {}
    for layer in layers:
        for name, block in layer.agents.items():
            found[name] = {**found.get(name, {}), **block}
    return found


def not_opted_in(agent: str | None, known: Mapping[str, object], *, mode: str) -> str | None:
    """Why this agent has no memory where each needs a block of its own (oc/O-CFG-4)."""
    if mode != "opt-in" or agent in known:
        return None
    who = f"agent {agent}" if agent else "the agent, which has no name,"
    return f"{who} has no block under agents, and agent_mode is opt-in"
