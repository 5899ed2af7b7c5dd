"""Forgets a whole session: what it wrote, what it was about to write, and what it says later."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hindsight_core.errors import MemoryOff

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went.

    Attributes:
        documents: Ids of the documents that were deleted.
        facts: How many facts the bank holds less.
    """

    documents: tuple[str, ...]
    facts: int


async def forget_session(runtime: Runtime, session_id: str) -> Forgotten:
    """Delete what a session stored, and take nothing of it any more.

    A fact that another session has stated as well stays. The session's mode is ``ignored`` from
    now on: the agent's own transcript still holds what was said, and a resumed session would be
    memorized again.

    Raises:
        MemoryOff: Nothing may be written.
        BankError: The bank is away; the command can be given again.
    """
    from hindsight_core.state.choices import SessionChoices
    from hindsight_core.state.erasure import documents_of, erase_session

    if runtime.read_only:
        raise MemoryOff("bank.read_only is set: nothing is deleted")
    await SessionChoices(runtime.sessions).change(
        session_id, lambda choices: replace(choices, mode="ignored")
    )
    bank = runtime.bank
    before = (await bank.stats()).facts
    gone = []
    for document in await documents_of(runtime.queue, bank.id, session_id):
        held = await bank.get_document(document)
        if await bank.delete_document(document):
            gone.append(document)
            ids = [fact.id for fact in (held.facts or () if held else ())]
            left = [fact_id for fact_id in ids if await bank.get_fact(fact_id) is None]
            await runtime.active.forget(left)
    await erase_session(runtime.queue, runtime.sessions, bank.id, session_id)
    runtime.log.write("forget", session=session_id, bank=bank.id, documents=len(gone))
    return Forgotten(tuple(gone), max(0, before - (await bank.stats()).facts))
