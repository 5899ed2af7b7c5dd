"""Answers of the capture and consolidation stages."""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, BaseModel, Field


class MemoriesAnswer(BaseModel):
    """``capture/extraction`` and ``capture/investigation``; each item is read by itself."""

    memories: list[dict[str, Any]]


class AcceptAnswer(BaseModel):
    """``capture/*validation``: only a plain true accepts."""

    accept: Any = None
    reason: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the answer is literally true."""
        return self.accept is True


class MergeAnswer(BaseModel):
    """``capture/merge``: anything that is not understood adds."""

    action: str = "add"
    target_id: str | None = Field(
        default=None, validation_alias=AliasChoices("target_id", "targetId")
    )
    text: str | None = None


class ConsolidateAnswer(BaseModel):
    """``capture/consolidate``: one sentence for several, or none."""

    merge: bool = False
    text: str = ""
    reason: str = ""
