"""The block: recalled facts between lines that no fact and no template can close (protocol.md).

The tags and the order of the parts are fixed here, the wrapper's sentences are the packaged
``core/*`` templates, and what stands between them is ``blocks/recall``, which a user may override.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memory import Hit
from hindsight_core.prompt_contexts import Wrapper
from hindsight_core.prompt_contexts_recall import RecallBlock
from hindsight_core.prompt_fields import FactLine
from hindsight_core.recall.clip import one_line
from hindsight_core.recall.escape import OPEN_TAG, escape, escape_tags
from hindsight_core.recall.lines import fact_lines
from hindsight_core.turns import Block, BlockKind

if TYPE_CHECKING:
    from hindsight_core.prompts import Prompts


def recall_block(
    prompts: Prompts,
    hits: Sequence[Hit],
    *,
    queries: Sequence[str] = (),
    found: int = 0,
    reminder: str | None = None,
) -> Block | None:
    """The block of a turn; None when there is neither a fact nor a reminder to show (pi/R-21).

    Args:
        prompts: Renders the templates.
        hits: Facts to show, best first.
        queries: What was searched for.
        found: How many facts the banks gave.
        reminder: Stands below the facts under its own label, or alone.

    Raises:
        PromptError: A template cannot be rendered.
    """
    facts = _facts(prompts, hits, queries=queries, found=found) if hits else ""
    if facts:
        display = f"recalled {len(hits)} of {found} found: {one_line(' | '.join(queries))}"
        text = wrap(prompts, "recall", recalled=facts, reminder=reminder)
        memories = tuple((hit.id, hit.score) for hit in hits)
        return Block(kind="recall", text=text, memories=memories, display=display)
    if reminder and reminder.strip():
        return Block(kind="reminder", text=wrap(prompts, "reminder", reminder=reminder))
    return None


def wrap(
    prompts: Prompts, kind: BlockKind, *, recalled: str | None = None, reminder: str | None = None
) -> str:
    """Put text into the wrapper; ``recalled`` is labelled untrusted, the reminder automatic."""
    lines = [f'<{OPEN_TAG} kind="{kind}">']
    if recalled:
        lines += [_core(prompts, "core/open", kind), escape_tags(recalled.strip())]
        lines.append(_core(prompts, "core/close", kind))
    if reminder and reminder.strip():
        lines += [_core(prompts, "core/reminder", kind), escape_tags(reminder.strip())]
    return "\n".join([*lines, f"</{OPEN_TAG}>"])


def closing_line(prompts: Prompts) -> str:
    """The line below which no recalled facts stand any more."""
    return _core(prompts, "core/close", "recall")


def _facts(prompts: Prompts, hits: Sequence[Hit], *, queries: Sequence[str], found: int) -> str:
    labels = [
        line
        for stage in ("core/open", "core/close", "core/reminder")
        for line in _core(prompts, stage, "recall").splitlines()
    ]

    def safe(text: str) -> str:
        return escape(one_line(text), labels=labels)

    def safe_line(line: FactLine) -> FactLine:
        return replace(
            line,
            text=safe(line.text),
            origin=safe(line.origin) if line.origin else None,
            kind=safe(line.kind) if line.kind else None,
        )

    variables = RecallBlock(
        queries=tuple(safe(query) for query in queries),
        found=found,
        facts=tuple(safe_line(line) for line in fact_lines(hits)),
    )
    return prompts.render("blocks/recall", variables).text.strip()


def _core(prompts: Prompts, stage: str, kind: str) -> str:
    return prompts.render(stage, Wrapper(kind=kind)).text.strip()
