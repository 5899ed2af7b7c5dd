"""Results of the engine in protocol.md's forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindsight_core import __version__

if TYPE_CHECKING:
    from hindsight_core.engine.opening import Opening
    from hindsight_core.host import Limits
    from hindsight_core.turns import Block, RecallOutcome


def opened_wire(
    opening: Opening,
    *,
    protocol: int,
    tools: list[dict[str, Any]],
    commands: list[dict[str, Any]],
    warnings: list[str],
    limits: Limits,
    progress: bool = False,
) -> dict[str, Any]:
    """The result of ``initialize``; ``progress``: the host's ``turn/progress`` is looked at."""
    result: dict[str, Any] = {
        "protocol": protocol,
        "server": {"name": "hindsight-mem", "version": __version__},
        "state": opening.state,
        "bank": opening.bank_wire,
        "tools": tools,
        "commands": commands,
        "warnings": warnings,
        "limits": limits.wire(),
    }
    if progress:
        result["progress"] = True
    if opening.reason:
        result["reason"] = opening.reason
    return result


def turn_wire(outcome: RecallOutcome) -> dict[str, Any]:
    """The result of ``turn/start``."""
    result: dict[str, Any] = {
        "outcome": outcome.outcome,
        "blocks": [block_wire(outcome.block)] if outcome.block else [],
    }
    if outcome.reason:
        result["reason"] = outcome.reason
    return result


def block_wire(block: Block) -> dict[str, Any]:
    """A block as protocol.md's `Block`."""
    wire: dict[str, Any] = {
        "kind": block.kind,
        "placement": block.placement,
        "text": block.text,
        "memories": [
            {"id": fact_id} if score is None else {"id": fact_id, "score": score}
            for fact_id, score in block.memories
        ],
    }
    if block.id is not None:
        wire["id"] = block.id
    if block.display is not None:
        wire["display"] = block.display
    if block.position != "after":
        wire["position"] = block.position
    return wire
