"""Settings of memorize: what is kept, how it is written, queued and reviewed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from hindsight_core.config.settings.base import (
    Count,
    Ms,
    Names,
    Positive,
    Section,
    Text,
    split_names,
)

CategoryState = Literal["on", "off", "ban"]
Source = Literal["distill", "transcript", "candidates"]

DEFAULT_CATEGORIES: Mapping[str, CategoryState] = {
    "goal": "on",
    "decisions": "on",
    "constraints": "on",
    "knowhow": "on",
    "pitfalls": "on",
    "facts": "on",
    "code": "off",
    "domain": "off",
}


class Category(Section):
    """A category of facts of the user's own (pi/K-03)."""

    key: Text = Field(description="Its key; cannot be that of a built-in category.")
    label: str = Field("", description="Shown to people; the key when empty.")
    heading: str = Field("", description="Heading in notes; the label when empty.")
    clause: str = Field("", description="What belongs in it; unused when empty.")
    example: str = Field("", description="One example fact.")
    state: CategoryState = Field("on", description="Harvest it, leave it out, or reject it.")


class Memorize(Section):
    """Automatic memory of what was said."""

    enabled: bool = Field(
        default=True, description="The automatic contour; explicit commands go on."
    )
    mode: Annotated[tuple[Source, ...], BeforeValidator(split_names)] = Field(
        ("distill",), description="`distill`, `transcript`, `candidates`, or several of them."
    )
    every_turns: Count = Field(0, description="Also memorize after this many turns; 0 for never.")
    compact_timeout_ms: Ms = Field(
        5000, description="How long a compaction waits, in milliseconds."
    )
    language: Text = Field("en", description="Language of everything stored, a name or a code.")
    categories: Mapping[str, CategoryState] = Field(
        default_factory=lambda: dict(DEFAULT_CATEGORIES),
        description="Category -> `on`, `off` or `ban`; one not named keeps its default.",
    )
    custom_categories: tuple[Category, ...] = Field((), description="Categories of your own.")
    invalidate: bool = Field(
        default=False, description="Retire facts that the transcript contradicts."
    )
    strategy: str | None = Field(None, description="Retain strategy of the server.")
    summary_max_tokens: Positive = Field(6000, description="Size of the rolling summary.")
    chunk_input_fraction: Annotated[float, Field(gt=0, le=1)] = Field(
        0.5, description="Share of the model's window that a chunk may fill."
    )
    retain_mission: str | None = Field(None, description="What the server's retain looks for.")
    observations_mission: str | None = Field(None, description="What its observations look for.")


class Retain(Section):
    """How a document is written."""

    run_async: bool = Field(
        default=True, description="Let the server work after it accepted a document."
    )
    document: Literal["window", "session", "turns"] = Field(
        "window", description="A document a window, one a session, or one every few turns."
    )
    document_name: Text = Field(
        "{host}-session-{session}",
        description="Name of a session's document, of `{host}`, `{session}` and `{sessionHash}`.",
    )
    form: Literal["text", "json"] = Field(
        "text", description="A transcript as labelled paragraphs or as a JSON array."
    )
    extras: bool = Field(default=False, description="Also tool calls, results and reasoning.")
    delivery: Literal["immediate", "coalesced"] = Field(
        "immediate", description="Send each write at once, or gather them."
    )
    update_mode: Literal["append", "replace"] = Field(
        "replace", description="What happens to a document that exists."
    )
    content: Mapping[str, tuple[str, ...]] = Field(
        default_factory=lambda: {
            "user": ("text",),
            "assistant": ("text", "toolCall"),
            "toolResult": ("error",),
        },
        description="Parts of each role in mode `transcript`.",
    )
    tool_filter: Mapping[str, Mapping[str, tuple[str, ...]]] = Field(
        default_factory=dict, description="Tools included or excluded in mode `transcript`."
    )
    compact_tool_calls: bool = Field(default=True, description="One short line a tool call.")
    entities: Names = Field((), description="Entities named to the server with each document.")
    tags: Names = Field((), description="Further tags of each document.")
    metadata: Mapping[str, str] = Field(
        default_factory=dict, description="Further metadata of each document."
    )
    observation_scopes: tuple[tuple[str, ...], ...] = Field(
        (), description="Tag sets under which the server forms observations."
    )
    before_enqueue: Names = Field(
        (), description="Command that may veto a write: the job on stdin, exit 0 allows."
    )
    before_enqueue_timeout_ms: Ms = Field(5000, description="Its limit, in milliseconds.")
    post_reflect: bool = Field(
        default=False, description="Have a server reflect on what a session gave it."
    )


class Queue(Section):
    """The write queue."""

    shutdown_timeout_ms: Ms = Field(60000, description="How long a session's end waits.")
    shutdown_max_jobs: Positive = Field(100, description="Writes sent at a session's end at most.")
    flush_interval_ms: Ms = Field(0, description="Send queued writes this often; 0 for never.")
    flush_max_jobs: Positive = Field(10, description="Writes sent in one go at most.")
    flush_timeout_ms: Ms = Field(10000, description="Limit of one go, in milliseconds.")
    max_attempts: Positive = Field(5, description="Tries before a write is a dead letter.")
    backoff_ms: Ms = Field(1000, description="Wait after the first failure; doubled each time.")
    max_backoff_ms: Ms = Field(300000, description="Longest wait between two tries.")
    lease_ms: Positive = Field(30000, description="A worker silent this long has lost its writes.")
    batch: Positive = Field(10, description="Gathered writes that are sent together at the latest.")


class Review(Section):
    """The review of what was stored."""

    mode: Literal["after", "before", "off"] = Field(
        "after", description="Recalled before or only after a person has seen it."
    )
    auto_approve_days: Annotated[float, Field(ge=0)] = Field(
        7, description="Approved by itself after this many days; 0 for never."
    )
