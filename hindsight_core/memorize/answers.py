"""Answers of the memorize stages (shared forms; read by `providers.structured`)."""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, BaseModel, Field, field_validator

from hindsight_core.providers.fitting import Rejects


class FactAnswer(BaseModel):
    """One fact that a model found."""

    text: str = Field(
        validation_alias=AliasChoices(
            "text", "content", "fact", "statement", "what", "bullet", "memory"
        )
    )
    category: str | None = Field(
        default=None, validation_alias=AliasChoices("category", "heading", "section", "type")
    )

    @field_validator("text")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        plain = " ".join(value.split())
        if not plain:
            raise ValueError("text is empty")
        return plain

    @field_validator("category", mode="before")
    @classmethod
    def _name(cls, value: Any) -> str | None:  # noqa: ANN401
        return value.strip() or None if isinstance(value, str) else None


class FactsAnswer(BaseModel):
    """``memorize/extract`` and ``memorize/merge``: facts; no facts is a normal answer."""

    facts: list[FactAnswer]
    rejected: Rejects = ()


class KeepAnswer(BaseModel):
    """``memorize/verify``: numbers of the facts to keep; an empty list rejects all."""

    keep: list[int]


class TopicsAnswer(BaseModel):
    """``memorize/topics``: search keys for the neighbours of a note."""

    queries: list[str]


class Update(BaseModel):
    """A new fact that changes a stored one, both by number."""

    fact: int
    known: int


class DedupAnswer(BaseModel):
    """``memorize/dedup``: new facts that the bank holds, and new facts that change stored ones."""

    known: list[int] = Field(default_factory=list)
    updates: list[Update] = Field(default_factory=list)


class RetireItem(BaseModel):
    """A stored fact that a window retires, and the words that say so."""

    id: str
    quote: str = Field(validation_alias=AliasChoices("quote", "evidence"))


class RetireAnswer(BaseModel):
    """``memorize/invalidate``: facts to retire; none is the normal answer."""

    retire: list[RetireItem]
    rejected: Rejects = ()


class RawFactAnswer(BaseModel):
    """One fact of a raw document."""

    text: str = Field(validation_alias=AliasChoices("text", "content", "fact", "statement"))
    kind: str = "fact"
    entities: list[str] = Field(default_factory=list)


class RawFactsAnswer(BaseModel):
    """``bank/facts``: the facts of a document for a bank without an extractor."""

    facts: list[RawFactAnswer]
    rejected: Rejects = ()
