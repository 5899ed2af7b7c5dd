"""A shared form as a fact of the bank."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hindsight_core.memory import Fact, FactState, Provenance

if TYPE_CHECKING:
    from hindsight_core.sharing.fact_file import FactFile

SOURCE = "shared"
"""`Provenance.source` of a fact that came with the repository."""


def taken(form: FactFile, held: Fact | None) -> Fact:
    """What the bank is to hold; what only it knows of the fact stays."""
    fact = held or Fact(id=form.id, text=form.text, provenance=Provenance(source=SOURCE))
    said = fact.timestamp
    # Files tell seconds: the same moment stays as exact as it was.
    same = said is not None and form.said is not None and said.replace(microsecond=0) == form.said
    tags = fact.tags if set(fact.tags) == set(form.tags) else form.tags
    return replace(
        fact,
        text=form.text,
        kind=form.kind,
        category=form.category,
        state=cast("FactState", form.state),
        superseded_by=form.superseded_by,
        reason=form.reason,
        timestamp=said if same else form.said,
        tags=tags,
        provenance=replace(
            fact.provenance, speaker=form.speaker, commit=form.commit, files=form.files
        ),
    )
