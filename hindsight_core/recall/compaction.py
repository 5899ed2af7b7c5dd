"""Recall for a compaction: what the bank knows about the talk that is about to be discarded."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from hindsight_core.prompt_contexts_recall import CompactionQuery
from hindsight_core.recall.clip import clip
from hindsight_core.recall.planner_plain import base_query
from hindsight_core.recall.rounds import Looked
from hindsight_core.transcript.path import after_last_compaction
from hindsight_core.turns import Plan, RecallOutcome, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight_core.config.settings import Settings
    from hindsight_core.recall.runner import RecallRunner
    from hindsight_core.transcript.entry import Entry

QUERY = "recall/compaction"
TURNS = 3
# The last message and the talk before it; a bank need not search with a whole file in it.
MAX_CHARACTERS = 4_000


async def recall_for_compaction(
    runner: RecallRunner, settings: Settings, turn: Turn
) -> RecallOutcome:
    """One search with the last message and the last turns (oc/O-CMP-2).

    Args:
        runner: Searches, and places what comes out.
        settings: Effective settings.
        turn: Its entries are the path before the compaction; it has no prompt of its own.
    """

    async def look(turn: Turn, deadline: float) -> RecallOutcome:
        talk = last_turns(turn.entries, TURNS)
        last = next((entry for entry in reversed(talk) if entry.role == "user"), None)
        if last is None:
            return RecallOutcome("skipped", reason="nothing was said")
        variables = CompactionQuery(
            request=clip(last.text.strip(), MAX_CHARACTERS // 2),
            transcript=clip("\n\n".join(_said(entry) for entry in talk), MAX_CHARACTERS),
        )
        text = runner.stages.prompts.render(QUERY, variables).text.strip()
        plan = Plan(queries=(base_query(settings, turn, text),), judge=False, floor=False)
        searched = await runner.searched(turn, plan, plan.queries)
        return runner.conclude(turn, Looked(plan, searched))

    return await runner.run(replace(turn, shown=frozenset()), how=look)


def last_turns(entries: Sequence[Entry], turns: int) -> list[Entry]:
    """What was said from the ``turns``-th last message of the person on (oc/O-TX-5)."""
    said = [
        entry
        for entry in after_last_compaction(entries)
        if entry.role in ("user", "assistant") and not entry.synthetic and entry.text.strip()
    ]
    starts = [place for place, entry in enumerate(said) if entry.role == "user"]
    if not starts:
        return []
    begin = starts[-turns] if len(starts) >= turns else starts[0]
    return list(islice(said, begin, None))


def _said(entry: Entry) -> str:
    return f"{entry.role.capitalize()}: {entry.text.strip()}"
