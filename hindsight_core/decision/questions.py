"""The question table of one decision: what may be asked about a turn and its banks (s1/S-DEC-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hindsight_core.prompt_contexts_decision import Question

if TYPE_CHECKING:
    from hindsight_core.config.settings.bank import BankEntry
    from hindsight_core.prompts import Prompts

INJECT = "inject"
_READ, _WRITE = "read:", "write:"


def read_id(bank: str) -> str:
    """The question whether a bank is read this turn."""
    return _READ + bank


def write_id(bank: str) -> str:
    """The question whether a turn is written to a bank."""
    return _WRITE + bank


def read_questions(
    prompts: Prompts, entries: Sequence[BankEntry], *, banks: bool
) -> dict[str, str]:
    """The recall call's table: one ``inject``, and ``read:`` for each readable bank.

    Args:
        prompts: Renders what each question asks.
        entries: Banks that may be read.
        banks: Ask which of them to read, not only whether to.
    """
    table = {INJECT: _asks(prompts, "inject", None)}
    if banks:
        table |= {read_id(entry.id): _asks(prompts, "read", entry) for entry in entries}
    return table


def write_questions(prompts: Prompts, entries: Sequence[BankEntry]) -> dict[str, str]:
    """The retain call's table: ``write:`` for each bank whose writes are decided."""
    return {write_id(entry.id): _asks(prompts, "write", entry) for entry in entries}


def chosen(answers: Mapping[str, bool], *, prefix: str) -> tuple[str, ...]:
    """Banks whose question was answered yes, in the order of the answers."""
    return tuple(
        question.removeprefix(prefix)
        for question, yes in answers.items()
        if yes and question.startswith(prefix)
    )


def dropped(named: Iterable[str], *, offered: Iterable[str]) -> tuple[str, ...]:
    """Banks that an answer spoke of and that nobody offered (s1/S-DEC-3)."""
    known = set(offered)
    strange = (question for question in named if question not in known)
    return tuple(question.removeprefix(_READ).removeprefix(_WRITE) for question in strange)


def _asks(prompts: Prompts, kind: str, entry: BankEntry | None) -> str:
    variables = Question(
        kind=kind,
        bank=entry.id if entry else "",
        role=entry.role if entry else "",
        purpose=(entry.purpose or "") if entry else "",
    )
    return " ".join(prompts.render("decision/question", variables).text.split())
