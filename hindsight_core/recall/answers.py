"""Answers of the recall stages, read leniently: what is clear counts, the rest is left out."""

from __future__ import annotations

from pydantic import AliasChoices, BaseModel, Field, field_validator


class QueriesAnswer(BaseModel):
    """``recall/queries``: search keys, or none and why (pi/R-05)."""

    queries: list[str] = Field(validation_alias=AliasChoices("queries", "query"))
    reason: str | None = None
    # Older templates ask for it beside the queries; only a literal true lets them count.
    should_query: bool = Field(default=True, validation_alias="shouldQuery")
    # How to answer; everything but `reflect`, which the settings must allow, is a search (pi/R-03).
    op: str = "recall"

    @field_validator("queries", mode="before")
    @classmethod
    def _only_texts(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        texts = [" ".join(item.split()) for item in value if isinstance(item, str)]
        return list(dict.fromkeys(text for text in texts if text))

    @field_validator("reason", mode="before")
    @classmethod
    def _text_or_none(cls, value: object) -> str | None:
        return (value.strip() or None) if isinstance(value, str) else None

    @field_validator("op", mode="before")
    @classmethod
    def _known_or_recall(cls, value: object) -> str:
        return "reflect" if value == "reflect" else "recall"

    @field_validator("should_query", mode="before")
    @classmethod
    def _literally_true(cls, value: object) -> bool:
        return value is True

    @property
    def wanted(self) -> list[str]:
        """The queries to send."""
        return self.queries if self.should_query else []


class JudgeAnswer(BaseModel):
    """``recall/judge``: how good the hits are, and the numbers of those to keep (pi/R-12)."""

    score: int = Field(default=0, description="0 to 100")
    keep: list[int] = Field(description="numbers of the facts to keep, from 1")

    @field_validator("score", mode="before")
    @classmethod
    def _clamped(cls, value: object) -> int:
        number = _number(value)
        return 0 if number is None else round(min(100.0, max(0.0, number)))

    @field_validator("keep", mode="before")
    @classmethod
    def _numbers(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        numbers = (_number(item) for item in value)
        return [int(number) for number in numbers if number is not None]


class DetectAnswer(BaseModel):
    """``tasks/detect``: whether another task begins, its title and a search key (pi/T-05)."""

    changed: bool = Field(description="true only when another task begins")
    title: str = ""
    query: str = ""

    @field_validator("changed", mode="before")
    @classmethod
    def _literally(cls, value: object) -> bool:
        return value is True

    @field_validator("title", "query", mode="before")
    @classmethod
    def _one_line(cls, value: object) -> str:
        return " ".join(value.split()) if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < 1e9 else None
