"""Copying an embedded bank into a bank on a server: carried, checked, never half believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hindsight_core.banks.base import CopyingBank

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.memory import Document, DocumentCopy, Fact

BATCH = 1000
PAGE = 100
SAMPLE = 50
_SHOWN = 10
# What has to arrive as it was, besides the text, the state and the pin.
_EXACT = ("kind", "category", "timestamp", "tags", "metadata", "provenance", "document_id")


@dataclass
class Promotion:
    """What became of a copy.

    Attributes:
        facts: In the source, in every state.
        documents: In the source.
        written: Facts that the target did not have like this.
        texts: Documents whose text, context and tags were written.
        checked: Facts read back.
        problems: What is not in the target as it should be.
        notes: What the target holds in another way.
    """

    facts: int = 0
    documents: int = 0
    written: int = 0
    texts: int = 0
    checked: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def promote_bank(source: Bank, target: Bank, *, progress: Callable[[str], None]) -> Promotion:
    """Copy everything and read a sample back.

    It goes by ids that come from content: what the target has already is not written again, so
    that a copy that broke off goes on when it is run again. Where both differ the source wins.
    The source is only read.

    Raises:
        BankError: One of the banks failed; what was written stays.
    """
    done = Promotion()
    await target.ensure()
    await _carry_facts(source, target, done, progress)
    await _carry_documents(source, target, done, progress)
    await _check(source, target, done, progress)
    progress("")
    return done


async def _carry_facts(
    source: Bank, target: Bank, done: Promotion, progress: Callable[[str], None]
) -> None:
    total = (await source.list_facts(state=None, limit=1)).total
    batch: list[Fact] = []
    async for fact in source.export_facts():
        batch.append(fact)
        done.facts += 1
        if len(batch) >= BATCH:
            done.written += await target.import_facts(batch)
            batch.clear()
            progress(f"{done.facts} of {total} facts")
    if batch:
        done.written += await target.import_facts(batch)


async def _carry_documents(
    source: Bank, target: Bank, done: Promotion, progress: Callable[[str], None]
) -> None:
    if await _carry_copies(source, target, done, progress):
        return
    while True:
        page = await source.list_documents(limit=PAGE, offset=done.documents)
        if not page.documents:
            return
        for document in page.documents:
            done.documents += 1
            done.texts += await _carry_document(document, target)
        progress(f"{done.documents} of {page.total} documents")


async def _carry_copies(
    source: Bank, target: Bank, done: Promotion, progress: Callable[[str], None]
) -> bool:
    """Documents and deleted sentences, exactly; False for a bank that cannot be told them."""
    if not (isinstance(source, CopyingBank) and isinstance(target, CopyingBank)):
        return False
    batch: list[DocumentCopy] = []
    async for copy in source.export_documents():
        batch.append(copy)
        done.documents += 1
        if len(batch) >= PAGE:
            done.texts += await target.import_documents(batch)
            batch.clear()
            progress(f"{done.documents} documents")
    done.texts += await target.import_documents(batch)
    await target.forget(sorted(await source.forgotten()))
    return True


async def _carry_document(document: Document, target: Bank) -> bool:
    """Write a document's own text; not where the target's has grown since."""
    held = await target.get_document(document.id)
    if held is not None:
        if _told(held) == _told(document):
            return False
        mine = {fact.id for fact in document.facts or ()}
        if any(fact.id not in mine for fact in held.facts or ()):
            return False
    # An explicit write would revive what a person has invalidated.
    await target.retain(replace(document, explicit=False))
    return True


def _told(document: Document) -> tuple[object, ...]:
    members = tuple(fact.id for fact in document.facts or ())
    return document.text, document.context, document.tags, dict(document.metadata), members


async def _check(
    source: Bank, target: Bank, done: Promotion, progress: Callable[[str], None]
) -> None:
    there = (await target.list_facts(state=None, limit=1)).total
    if there < done.facts:
        done.problems.append(f"the target lists {there} facts of {done.facts}")
    step, number, renamed = max(1, done.facts // SAMPLE), 0, 0
    async for fact in source.export_facts():
        number += 1
        if number % step:
            continue
        done.checked += 1
        progress(f"{done.checked} facts read back")
        held = await target.get_fact(fact.id)
        problem = _difference(fact, held)
        if problem is not None:
            done.problems.append(f"{fact.id}: {problem}")
        renamed += held is not None and problem is None and held.state != fact.state
    if renamed:
        done.notes.append(
            f"{renamed} of {done.checked} facts read back are retired under another name there: "
            "the target does not know every state"
        )
    hidden = len(done.problems) - _SHOWN
    if hidden > 0:
        done.problems[_SHOWN:] = [f"and {hidden} more"]


def _difference(fact: Fact, held: Fact | None) -> str | None:
    if held is None:
        return "it is not there"
    if held.text != fact.text:
        return "its text differs"
    if (held.state == "valid") != (fact.state == "valid"):
        return f"it is {fact.state} here and {held.state} there"
    for name in _EXACT:
        if getattr(held, name) != getattr(fact, name):
            return f"its {name.replace('_', ' ')} differs"
    return "its pin is lost" if fact.pinned and not held.pinned else None


async def outlook(source: Bank) -> Promotion:
    """What a copy would carry."""
    facts = await source.list_facts(state=None, limit=1)
    documents = await source.list_documents(limit=1)
    return Promotion(facts=facts.total, documents=documents.total)
