"""Settings of the decision layer, which routes reads and writes (spec s1, S-DEC)."""

from __future__ import annotations

from pydantic import Field

from hindsight_core.config.settings.base import Ms, Names, Positive, Section, Share, Url


class Decision(Section):
    """Who decides whether and where to read and write."""

    enabled: bool = Field(default=True, description="False goes straight to the fallback banks.")
    inject_gate: bool = Field(default=False, description="Ask whether this turn needs memory.")
    bank_gate: bool = Field(default=False, description="Ask which banks to read.")
    backends: Names = Field(("text",), description="Backends tried in this order.")
    model: str | None = Field(None, description="Model of the text backend, `provider/id`.")
    base_url: Url | None = Field(None, description="Address of a typed decision service.")
    api_key_env: str | None = Field(None, description="Environment variable that holds its key.")
    threshold: Share = Field(0.5, description="Probability from which an answer is yes.")
    timeout_ms: Ms = Field(5000, description="Limit of one backend, in milliseconds.")
    max_context_chars: Positive | None = Field(
        None, description="Activity shown; by default a quarter of the model's window."
    )
    cache_ttl_ms: Ms = Field(60000, description="How long the same question has the same answer.")
    fallback_recall_banks: Names = Field((), description="Banks read when nobody answers.")
    fallback_retain_banks: Names = Field((), description="Banks written when nobody answers.")
    fallback_banks: Names = Field((), description="For both, where the list above is empty.")
