"""The block: recalled facts between lines that no fact and no template can close (protocol.md).

The tags and the order of the parts are fixed here, the wrapper's sentences are the packaged
``core/*`` templates, and what stands between them is ``blocks/recall``, which a user may override.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hindsight_core.memory import Hit
from hindsight_core.prompt_contexts_recall import (
    BriefingBlock,
    MentalModelsBlock,
    ModelText,
    RecallBlock,
    UserBlock,
    Wrapper,
)
from hindsight_core.prompt_fields import FactLine
from hindsight_core.recall.clip import one_line
from hindsight_core.recall.escape import OPEN_TAG, escape, escape_tags
from hindsight_core.recall.lines import fact_lines
from hindsight_core.turns import Block, BlockKind, RecallOutcome

if TYPE_CHECKING:
    from hindsight_core.prompts import Prompts
    from hindsight_core.recall.mental_models import Shown


def recall_block(
    prompts: Prompts,
    hits: Sequence[Hit],
    *,
    queries: Sequence[str] = (),
    found: int = 0,
    reminder: str | None = None,
    with_bank: bool | None = None,
    above: str = "",
) -> Block | None:
    """The block of a turn; None when there is neither a fact nor a reminder to show (pi/R-21).

    Args:
        prompts: Renders the templates.
        hits: Facts to show, best first.
        queries: What was searched for.
        found: How many facts the banks gave.
        reminder: Stands below the facts under its own label, or alone.
        with_bank: Name each fact's bank; None does so where there is more than one.
        above: Stands before the facts, or alone: mental models.

    Raises:
        PromptError: A template cannot be rendered.
    """
    facts = _facts(prompts, hits, queries=queries, found=found, with_bank=with_bank) if hits else ""
    if facts:
        display = f"recalled {len(hits)} of {found} found: {one_line(' | '.join(queries))}"
        text = wrap(prompts, "recall", recalled=f"{above}\n{facts}", reminder=reminder)
        memories = tuple((hit.id, hit.score) for hit in hits)
        return Block(kind="recall", text=text, memories=memories, display=display)
    if above:
        text = wrap(prompts, "mental-model", recalled=above, reminder=reminder)
        return Block(kind="mental-model", text=text, display="mental models")
    if reminder and reminder.strip():
        text = wrap(prompts, "reminder", reminder=reminder)
        return Block(kind="reminder", text=text, display=f"reminded: {reminder.strip()}")
    return None


def turn_block(
    prompts: Prompts,
    outcome: RecallOutcome,
    *,
    models: Sequence[Shown] = (),
    reminder: str | None = None,
) -> Block | None:
    """The one block of a turn: a briefing, facts, or a reminder alone; None for none of them.

    Raises:
        PromptError: A template cannot be rendered.
    """
    queries = tuple(dict.fromkeys(searched.query.text for searched in outcome.searched))
    above = _models(prompts, models)
    if outcome.briefing and (
        block := _briefing_block(prompts, outcome, queries, above=above, reminder=reminder)
    ):
        return block
    return recall_block(
        prompts,
        outcome.hits,
        queries=queries,
        found=outcome.found,
        reminder=reminder,
        with_bank=_several(outcome),
        above=above,
    )


def _models(prompts: Prompts, models: Sequence[Shown]) -> str:
    if not models:
        return ""
    labels, several = labels_of(prompts), len({model.bank for model in models}) > 1
    shown = tuple(
        ModelText(
            name=_safe(model.name, labels),
            text="\n".join(escape(line, labels=labels) for line in model.text.splitlines()),
            bank=_safe(model.bank, labels) if several else None,
        )
        for model in models
    )
    return prompts.render("blocks/mental_models", MentalModelsBlock(shown)).text.strip()


def _briefing_block(
    prompts: Prompts,
    outcome: RecallOutcome,
    queries: Sequence[str],
    *,
    above: str,
    reminder: str | None,
) -> Block | None:
    labels = labels_of(prompts)
    lines = (line.strip() for line in (outcome.briefing or "").splitlines())
    variables = BriefingBlock(
        queries=tuple(_safe(query, labels) for query in queries),
        found=outcome.found,
        briefing="\n".join(_safe(line, labels) for line in lines if line),
        facts=safe_lines(outcome.hits, labels, with_bank=_several(outcome)),
    )
    text = prompts.render("blocks/briefing", variables).text.strip()
    if not text:
        return None
    count = f"briefed from {len(outcome.hits)} of {outcome.found} found"
    return Block(
        kind="briefing",
        text=wrap(prompts, "briefing", recalled=f"{above}\n{text}", reminder=reminder),
        memories=tuple((hit.id, hit.score) for hit in outcome.hits),
        display=f"{count}: {one_line(' | '.join(queries))}\n{variables.briefing}",
    )


def model_block(prompts: Prompts, content: str, *, name: str) -> Block | None:
    """A mental model as the bank wrote it; None when it is empty (oc/O-RCL-2)."""
    labels = labels_of(prompts)
    text = "\n".join(escape(line.rstrip(), labels=labels) for line in content.strip().splitlines())
    if not text:
        return None
    display = f"mental model {one_line(name)}"
    text = wrap(prompts, "mental-model", recalled=text)
    return Block(kind="mental-model", text=text, display=display)


def user_block(prompts: Prompts, facts: Sequence[str], *, text: str = "") -> Block | None:
    """What is known about the person, for the system prompt; None for nothing (pi/UB-08).

    Raises:
        PromptError: A template cannot be rendered.
    """
    if not (facts or text.strip()):
        return None
    labels = labels_of(prompts)
    lines = (_safe(line, labels) for line in text.splitlines() if line.strip())
    variables = UserBlock(facts=tuple(_safe(fact, labels) for fact in facts), text="\n".join(lines))
    rendered = prompts.render("blocks/user", variables).text.strip()
    wrapped = wrap(prompts, "user", recalled=rendered)
    return Block(kind="user", text=wrapped, placement="system") if rendered else None


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


def _facts(
    prompts: Prompts,
    hits: Sequence[Hit],
    *,
    queries: Sequence[str],
    found: int,
    with_bank: bool | None,
) -> str:
    labels = labels_of(prompts)
    variables = RecallBlock(
        queries=tuple(_safe(query, labels) for query in queries),
        found=found,
        facts=safe_lines(hits, labels, with_bank=with_bank),
    )
    return prompts.render("blocks/recall", variables).text.strip()


def labels_of(prompts: Prompts) -> list[str]:
    """Lines of the wrapper, which no fact may imitate."""
    return [
        line
        for stage in ("core/open", "core/close", "core/reminder")
        for line in _core(prompts, stage, "recall").splitlines()
    ]


def _safe(text: str, labels: Sequence[str]) -> str:
    return escape(one_line(text), labels=labels)


def safe_lines(
    hits: Sequence[Hit], labels: Sequence[str], *, with_bank: bool | None
) -> tuple[FactLine, ...]:
    """Lines of hits that can neither close their block nor imitate a label of it."""

    def safe(text: str | None) -> str | None:
        return _safe(text, labels) if text else None

    return tuple(
        replace(
            line,
            text=_safe(line.text, labels),
            origin=safe(line.origin),
            kind=safe(line.kind),
            evidence=tuple(_safe(text, labels) for text in line.evidence),
            missing=tuple(_safe(path, labels) for path in line.missing),
            changed=tuple(_safe(path, labels) for path in line.changed),
        )
        for line in fact_lines(hits, with_bank=with_bank)
    )


def _several(outcome: RecallOutcome) -> bool | None:
    """A fact's bank is named where several were asked, and where several answered."""
    return True if len({item.bank for item in outcome.searched}) > 1 else None


def _core(prompts: Prompts, stage: str, kind: str) -> str:
    return prompts.render(stage, Wrapper(kind=kind)).text.strip()
