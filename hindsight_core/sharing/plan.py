"""What to do about one fact, from its file, its form in the bank, and what they had in common."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from hindsight_core.identity import fact_id
from hindsight_core.sharing.baseline import Met
from hindsight_core.sharing.conflicts import settle
from hindsight_core.sharing.fact_file import FactFile, deleted_form

FEW, MANY = 10, 0.3
"""So many facts, and so large a share of them, may be gone at once by deleting documents."""
Act = Literal[
    "same",      # nothing to do
    "write",     # the bank's form goes into the file
    "take",      # the file's form goes into the bank
    "both",      # the settled form goes into both
    "erase",     # deleted for good elsewhere: here too
    "retire",    # its file was removed: invalidated here, restorable
    "forget",    # gone on both sides: nothing is kept about it
    "wait",      # both sides changed, or it is hidden here: not for now
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known about one fact.

    Attributes:
        file: Its file; None where there is none.
        bank: Its shareable form in the bank; None where there is none.
        met: What they had in common.
        hidden: The bank holds it, but not for others: pending, private, not reviewed yet.
        unwanted: It was deleted for good here.
        lost: The bank has lost many facts at once, which nobody means by deleting.
        removed: Its file is gone because somebody removed it, not because of another branch.
    """

    file: FactFile | None = None
    bank: FactFile | None = None
    met: Met | None = None
    hidden: bool = False
    unwanted: bool = False
    lost: bool = False
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """What to do.

    Attributes:
        act: One of `Act`.
        form: The form to write or to take over.
        extra: A second fact, where both of two texts are kept.
        why: For a person, where it is not what one would expect.
    """

    act: Act
    form: FactFile | None = None
    extra: FactFile | None = None
    why: str | None = None


def decide(known: Known) -> Step:
    """The three-way decision."""
    if known.file is None:
        return _without_file(known)
    if known.bank is None:
        return _without_bank(known, known.file)
    return _with_both(known, known.file, known.bank)


def _without_file(known: Known) -> Step:
    bank, met = known.bank, known.met
    if bank is None:
        return Step("wait" if known.hidden else "forget")
    if met is None:
        # What was retired before anybody else knew it concerns nobody.
        return Step("write", bank) if bank.state == "valid" else Step("same")
    if bank.digest != met.held:
        if bank.state == "valid":
            return Step("write", bank, why="its file was removed, but it was changed here")
        return Step("forget")
    if not known.removed:
        return Step("wait")
    return Step("retire", bank) if bank.state == "valid" else Step("forget")


def _without_bank(known: Known, file: FactFile) -> Step:
    met = known.met
    changed = met is None or file.digest != met.digest
    if known.hidden:
        take = changed and file.state != "deleted"
        return Step("take", file) if take else Step("wait")
    if file.state == "deleted":
        return Step("same", file)
    if known.unwanted and met is not None:
        return Step("write", deleted_form(file.id))
    if known.unwanted:
        return Step("wait", why="it was deleted for good here")
    if met is None or changed or known.lost:
        return Step("take", file)
    return Step("write", deleted_form(file.id))


def _with_both(known: Known, file: FactFile, bank: FactFile) -> Step:
    met = known.met
    # The bank has no place for what a later version has added to the file.
    bank = replace(bank, more=file.more)
    if file.digest == bank.digest:
        return Step("same", file)
    file_same = met is not None and file.digest == met.digest
    bank_same = met is not None and replace(bank, more=()).digest == met.held
    if file_same and bank_same:
        return Step("same", file)
    if file_same:
        return Step("write", bank)
    if bank_same:
        return Step("erase", file) if file.state == "deleted" else Step("take", file)
    if file.state == "deleted":
        return Step("write", bank, why="it was deleted elsewhere, but changed here")
    # A bank does not tell when a fact was changed, so that no date can decide.
    first, *rest = settle(file, bank, how="both")
    why = "it was changed here and in the repository: both are kept" if rest else None
    return Step("both", first, rest[0] if rest else None, why=why)


def is_lost(shared: Collection[FactFile], held: Collection[str], unwanted: Collection[str]) -> bool:
    """Whether so much of what is shared is gone from the bank that it was not deleted but lost.

    What a person deletes for good is noted; only what is gone without that note counts.
    """
    gone = [f for f in shared if f.id not in held and fact_id(f.text) not in unwanted]
    return len(gone) > max(FEW, len(shared) * MANY)
