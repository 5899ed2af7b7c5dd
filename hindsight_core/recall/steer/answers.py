"""Answers of the steer stages, read leniently; the older plugin's names count too."""

from __future__ import annotations

from pydantic import AliasChoices, BaseModel, Field, field_validator


class SteerQueryAnswer(BaseModel):
    """``steer/query``: one search key; an empty one means that there is nothing to look for."""

    query: str = Field(description="a search key, or an empty text")

    @field_validator("query", mode="before")
    @classmethod
    def _one_line(cls, value: object) -> object:
        if value is None:
            return ""
        return " ".join(value.split()) if isinstance(value, str) else value


class SteerJudgeAnswer(BaseModel):
    """``steer/judge``: ids of the memories to send.

    An ``instruction``, which older templates asked for, is not read: memories are data.
    """

    relevant_ids: list[str] = Field(
        validation_alias=AliasChoices("relevant_ids", "relevantIds"),
        description="ids of the memories to send",
    )
    reason: str = ""

    @field_validator("relevant_ids", mode="before")
    @classmethod
    def _texts(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        return list(dict.fromkeys(item.strip() for item in value if isinstance(item, str)))

    @field_validator("reason", mode="before")
    @classmethod
    def _text(cls, value: object) -> str:
        return " ".join(value.split()) if isinstance(value, str) else ""
