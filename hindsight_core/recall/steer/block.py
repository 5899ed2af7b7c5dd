"""A steer's block: memories as data, and below them how they are rated (am/A-RECALL step 8)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight_core.memory import Hit
from hindsight_core.prompt_contexts_steer import SteerBlock, SteerFeedback
from hindsight_core.recall.block import labels_of, safe_lines, wrap
from hindsight_core.recall.clip import one_line
from hindsight_core.turns import Block

if TYPE_CHECKING:
    from hindsight_core.prompts import Prompts


def steer_block(prompts: Prompts, hits: Sequence[Hit], *, token: str) -> Block | None:
    """The block, with the token and the ids that ``memory_feedback`` needs; None for no hits.

    Raises:
        PromptError: A template cannot be rendered.
    """
    if not hits:
        return None
    facts = safe_lines(hits, labels_of(prompts), with_bank=None)
    shown = prompts.render("blocks/steer", SteerBlock(facts=facts)).text.strip()
    if not shown:
        return None
    texts = " · ".join(one_line(hit.fact.text) for hit in hits)
    return Block(
        kind="steer",
        text=wrap(prompts, "steer", recalled=shown, reminder=feedback(prompts, hits, token=token)),
        memories=tuple((hit.id, hit.score) for hit in hits),
        display=f"memory: {texts}",
        id=display_id(token),
    )


def display_id(token: str) -> str:
    """What a person's display of a steer is known by; it tells nothing about the token."""
    return f"steer-{hashlib.sha256(token.encode()).hexdigest()[:12]}"


def feedback(prompts: Prompts, hits: Sequence[Hit], *, token: str) -> str:
    """How the memories are rated; a template that names no token or no id gets a line with both."""
    variables = SteerFeedback(token, ", ".join(hit.id for hit in hits))
    text = prompts.render("steer/feedback", variables).text.strip()
    if token in text and all(hit.id in text for hit in hits):
        return text
    return "\n".join(filter(None, (text, prompts.render("core/steer_ids", variables).text)))
