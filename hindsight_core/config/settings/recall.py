"""Settings of recall: when to search, how much of it reaches the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from hindsight_core.config.settings.base import Count, Ms, Names, Positive, Section, Text


class Recall(Section):
    """Automatic recall before a turn."""

    enabled: bool = Field(
        default=True, description="The automatic contour; explicit recall goes on."
    )
    mode: Literal["judged", "plain", "session-start", "off"] = Field(
        "judged",
        description="Queries and judgement by a model, one plain search, or once a session.",
    )
    effort: Literal["light", "normal", "thorough"] = Field(
        "normal", description="At most 2, 3 or 5 queries a turn."
    )
    max_queries: Positive = Field(8, description="Ceiling of queries in any pass.")
    max_lines: Positive = Field(8, description="Facts injected a turn at most.")
    context_tokens: Count = Field(5000, description="Conversation given to the query builder.")
    filter: Literal["model", "off"] = Field("model", description="Whether a model judges the hits.")
    timeout_ms: Ms = Field(30000, description="Limit of a turn's recall, in milliseconds.")
    child_max_lines: Count = Field(
        4, description="Facts injected in a sub-agent's session at most."
    )
    live_tokens: Count = Field(
        4000, description="Size of replayed blocks at which all go and recall starts afresh."
    )
    types: Names = Field((), description="Kinds of facts wanted; empty for all.")
    budget: Literal["low", "mid", "high"] = Field("mid", description="Effort of the bank.")
    max_tokens: Positive = Field(2048, description="Text that the bank may return, in tokens.")
    user_max_tokens: Positive = Field(400, description="The same for the user bank.")
    user_bank: bool = Field(
        default=False, description="Search the personal bank (bank.user_id) in every turn too."
    )
    complete: bool = Field(
        default=False,
        description="Each block is complete in itself: facts shown before are shown again.",
    )
    top_k: Positive = Field(8, description="Facts a bank in plain mode, after the quality pass.")
    min_scores: Mapping[str, Annotated[float, Field(ge=-1, le=1)]] = Field(
        default_factory=dict, description="Floors by part of the score; a part without one passes."
    )
    cache_ttl_ms: Ms = Field(0, description="How long the same request gets the same block.")
    check_files: bool = Field(
        default=True,
        description="Mark facts that name a file which is gone or different; rank them down.",
    )
    same_session_only: bool = Field(
        default=False, description="Recall only what this session stored."
    )
    reflect: bool = Field(
        default=False, description="Ask the bank for a composed answer, which is slow."
    )
    prefer_observations: bool = Field(
        default=True, description="Ask the server for observations first."
    )
    include_source_facts: bool = Field(
        default=False, description="Show the facts behind an observation."
    )
    max_source_facts_tokens: Positive = Field(4096, description="Bound of these, in tokens.")
    context_turns: Positive = Field(2, description="Turns that make a plain query.")
    roles: Names = Field(("user", "assistant"), description="Roles that make a plain query.")
    max_query_chars: Positive = Field(800, description="Length of a plain query.")
    query_preamble: Text | None = Field(None, description="Text before every plain query.")
    project_query_preamble: Text | None = Field(None, description="The same, project bank only.")
    user_query_preamble: Text | None = Field(None, description="The same, user bank only.")
    include_date_in_query: bool = Field(
        default=False, description="Name the date in a plain query."
    )
    include_repo_hints_in_query: bool = Field(
        default=True, description="Name the project in a plain query."
    )
    query_timestamp: Text | None = Field(None, description="Recall as of this moment (ISO 8601).")
    injection_position: Literal["after", "append", "prepend"] = Field(
        "after",
        description="After the last user message, before it (`append`), or first of all.",
    )
    session_start_prompt: Text | None = Field(
        None, description="Query of the recall at session start, instead of the built-in one."
    )
    session_start_mental_model: Text | None = Field(
        None, description="Mental model to inject at session start instead of a recall."
    )
    at_compaction: bool = Field(
        default=False, description="Also recall for the compaction's summary."
    )


class MentalModels(Section):
    """Mental models of a server bank, shown with recall (spec s1, S-MM)."""

    inject: bool = Field(default=False, description="Show them.")
    max_chars: Positive = Field(12000, description="Their size altogether.")
    cache_ttl_ms: Ms = Field(300000, description="How long a list is good for, in milliseconds.")


class Tasks(Section):
    """The task detector, which chooses between ordinary and deep recall."""

    detect: bool = Field(default=True, description="Look for a change of task.")
    history_turns: Annotated[int, Field(ge=2)] = Field(12, description="Turns it looks back.")
    title_tail: Count = Field(8, description="Past task titles it remembers.")
    deep_queries: Positive = Field(5, description="Queries of a deep recall at most.")
    deep_max_lines: Positive = Field(24, description="Facts of a deep recall at most.")


class Reminder(Section):
    """The reminder that there is a memory."""

    enabled: bool = Field(default=True, description="Remind at all.")
    turns: int = Field(5, description="Silent turns between two reminders; under 1 for none.")
