"""Settings of active memory: capture, lifecycle, steers (spec am)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from hindsight_core.config.settings.base import Count, Ms, Positive, Section, Share


class Capture(Section):
    """Facts captured from each user message."""

    enabled: bool = Field(default=False, description="Capture at all.")
    min_characters: Positive = Field(8, description="Shorter messages are left alone.")
    context_characters: Positive = Field(12000, description="Conversation given along.")
    confidence_threshold: Share = Field(0.72, description="Candidates under it are dropped.")
    similarity_threshold: Share = Field(0.82, description="Likeness from which facts may merge.")


class Investigation(Section):
    """Facts captured from the agent's own long investigations."""

    ordered: ClassVar = (("confidence_threshold", "maximum_confidence"),)

    enabled: bool = Field(default=False, description="Capture at all.")
    minimum_elapsed_ms: Ms = Field(60000, description="Shorter ones are left alone.")
    context_characters: Positive = Field(20000, description="Text given to the model.")
    confidence_threshold: Share = Field(0.62, description="Candidates under it are dropped.")
    maximum_confidence: Share = Field(0.75, description="Most that such a fact can have.")
    priority: Share = Field(0.55, description="Weight beside a fact of the user's.")
    similarity_threshold: Share = Field(0.78, description="Likeness from which facts may merge.")


class Lifecycle(Section):
    """Confidence that decays unless a fact proves useful."""

    ordered: ClassVar = (
        ("minimum_confidence", "initial_confidence", "maximum_confidence"),
        ("minimum_confidence", "deletion_threshold", "maximum_confidence"),
        ("minimum_decay_rate", "initial_decay_rate", "maximum_decay_rate"),
    )

    enabled: bool = Field(default=False, description="Decay at all.")
    initial_confidence: Share = Field(0.5, description="Of a new fact.")
    deletion_threshold: Share = Field(0.1, description="Under it a fact is retired.")
    minimum_confidence: Share = Field(0.05, description="Least that feedback leaves.")
    maximum_confidence: Share = Field(0.95, description="Most that feedback gives.")
    useful_delta: Share = Field(0.1, description="Added when a fact was useful.")
    unhelpful_delta: Share = Field(0.15, description="Taken when it was not.")
    initial_decay_rate: Share = Field(0.28, description="Share lost each day.")
    minimum_decay_rate: Share = Field(0, description="Least rate.")
    maximum_decay_rate: Share = Field(0.95, description="Highest rate.")
    decay_useful_delta: Share = Field(0.05, description="Taken off the rate when useful.")
    max_feedback_per_session: Count = Field(2, description="Answers counted a fact and session.")
    history_limit: Count = Field(50, description="Answers remembered a fact.")
    pinned_floor: Share = Field(0.5, description="Confidence that a pinned fact keeps.")
    expire_after_days: Count = Field(0, description="Retire after so many unused days; 0: never.")
    expire_after_sessions: Count = Field(
        0, description="Retire after so many sessions without use; 0: never."
    )


class Steer(Section):
    """Memories sent to the agent in the middle of its work."""

    enabled: bool = Field(default=False, description="Steer at all.")
    top_k: Positive = Field(10, description="Candidates shown to the judge.")
    context_characters: Positive = Field(16000, description="Conversation given along.")
    every_turns: Positive = Field(2, description="Look again after this many turns.")
    every_tool_results: Positive = Field(4, description="Or this many tool results.")
    thinking_characters: Positive = Field(1200, description="Or this much thinking.")
    cooldown_ms: Ms = Field(15000, description="Least time between two steers.")
    per_memory_cooldown_ms: Ms = Field(1800000, description="Least time for the same memory.")
    per_memory_turn_cooldown: Count = Field(4, description="Least turns for the same memory.")
    max_steers_per_memory: Count = Field(2, description="Times a memory is sent in a session.")
    min_vector_score: Annotated[float, Field(ge=-1, le=1)] = Field(
        0.28, description="Hits under it are dropped."
    )
    minimum_memory_age_minutes: Annotated[float, Field(ge=0)] = Field(
        30, description="This session's facts rest this long; 0 for not at all."
    )


class Consolidation(Section):
    """Merging of similar facts, on the user's command."""

    similarity_threshold: Share = Field(0.5, description="Likeness of a pair to be shown.")
    maximum_proposals: Positive = Field(10, description="Pairs shown at once.")
