"""The candidates source over the memorize pipeline of the folder above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from hindsight_core.identity import fact_id
from hindsight_core.memorize.lifecycle.keeper import Keeper
from hindsight_core.memorize.lifecycle.memory import Memory
from hindsight_core.memorize.parts import ActiveParts
from hindsight_core.memorize.runner import Memorizer, MemorizeReport
from hindsight_core.memory import Fact
from hindsight_core.testing.transcripts import TranscriptBuilder

ACCEPT = {"accept": True, "reason": "it lasts"}


def candidate(text: str, evidence: str | None = None, **changes: object) -> dict[str, Any]:
    """A raw candidate of a model's answer."""
    return {
        "text": text,
        "kind": "user_profile",
        "scope": "global",
        "confidence": 0.9,
        "evidence": evidence or text,
        **changes,
    }


def script(*candidates: Mapping[str, Any], **stages: object) -> dict[str, object]:
    """A model that proposes these and accepts everything."""
    usual: dict[str, object] = {
        "extraction": {"memories": list(candidates)},
        "validation": ACCEPT,
        "merge": {"action": "add"},
        "investigation": {"memories": []},
        "investigation_validation": ACCEPT,
    }
    return {f"capture/{name}": reply for name, reply in {**usual, **stages}.items()}


@dataclass
class ActiveKit:
    """One pipeline with capture on."""

    memorizer: Memorizer
    bank: Any
    model: Any
    events: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    @property
    def keeper(self) -> Keeper:
        return self.memorizer.active.keeper

    async def hear(self, talk: TranscriptBuilder, reason: str = "idle") -> list[MemorizeReport]:
        return await self.memorizer.remember_transcript(talk.transcript(), reason=reason)

    async def say(self, text: str) -> list[MemorizeReport]:
        talk = TranscriptBuilder()
        talk.user(text)
        return await self.hear(talk)

    async def memories(self) -> dict[str, Memory]:
        page = await self.bank.list_facts(limit=100)
        return {m.fact.text: m for m in (await self.keeper.of_facts(page.facts)).values()}

    def reasons(self) -> list[object]:
        return [fields["reason"] for name, fields in self.events if name.endswith("rejected")]

    def names(self) -> list[str]:
        return [name for name, _ in self.events]

    async def hold(self, text: str, *, actor: str = "user", **changes: object) -> Fact:
        """A memory that is stored already."""
        from hindsight_core.config.settings import Settings
        from hindsight_core.memorize.lifecycle import decay
        from hindsight_core.memorize.lifecycle.decay import Moment
        from hindsight_core.state.life import LifeRecord, Told

        kind = str(changes.pop("kind", "user_profile"))
        fact = Fact(fact_id(text), text, kind=kind)
        await self.bank.import_facts([fact])
        told = Told(actor, session_id="earlier", cause="an earlier cause")  # type: ignore[arg-type]
        priority = 1.0 if actor == "user" else 0.55
        record = LifeRecord(told, scope="global", priority=priority)
        moment = Moment(self.keeper._clock())
        begun = decay.begun(record, Settings().lifecycle, moment)
        record = replace(begun, **changes)
        await self.keeper.records.change(self.bank.id, [fact.id], lambda _: lambda held: record)
        return fact


@pytest.fixture
def active(kit, clock):
    """Makes a pipeline with capture on and a scripted model."""

    def make(reply: Mapping[str, object] | None = None, **more: object) -> ActiveKit:
        events: list[tuple[str, Mapping[str, object]]] = []
        sink = more.pop("sink", None) or (lambda name, fields: events.append((name, fields)))
        sections = {
            "memorize": {"mode": ["candidates"]},
            "capture": {"enabled": True},
            "investigation": {"enabled": True},
            "lifecycle": {"enabled": True},
            **more,
        }
        made = kit(
            dict(reply) if reply is not None else None,
            active=ActiveParts(project="here", cwd="/projects/shop", sink=sink),
            **sections,
        )
        return ActiveKit(made.memorizer, made.bank, made.model, events)

    return make


@pytest.fixture
def propose():
    return candidate


@pytest.fixture
def scripted():
    return script


@pytest.fixture
def talk() -> TranscriptBuilder:
    return TranscriptBuilder()


@pytest.fixture
def texts():
    def of(reports: Sequence[MemorizeReport]) -> list[str]:
        return [fact.text for report in reports for fact in report.stored]

    return of
