"""A whole memorize pipeline: real queue, state, templates and hooks; scripted model, fake bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight_core.banks.base import Bank
from hindsight_core.config.settings import Settings
from hindsight_core.identity import fact_id
from hindsight_core.memorize.builtin import MemorizePlugin
from hindsight_core.memorize.labels import Labels
from hindsight_core.memorize.parts import ActiveParts
from hindsight_core.memorize.runner import Memorizer, MemorizeReport
from hindsight_core.memory import Fact
from hindsight_core.plugins import Hooks
from hindsight_core.prompts import Prompts
from hindsight_core.redact import Redactor
from hindsight_core.stages import Stages
from hindsight_core.state.outbox import Outbox
from hindsight_core.state.queue import Queue
from hindsight_core.state.sessions import SessionState
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.memory_bank import FakeBank
from hindsight_core.testing.models import ScriptedModel
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Entry, Transcript
from hindsight_core.transcript.sanitise import Sanitiser

NOTHING = {"known": [], "updates": []}


def facts_answer(*texts: str, category: str = "facts") -> dict:
    return {"facts": [{"text": text, "category": category} for text in texts]}


def keep_all(request) -> dict:
    """A verifier that keeps every fact that it is shown."""
    listed = request.messages[0].content.split("[facts]")[1].split("[end of facts]")[0]
    return {"keep": list(range(1, len(listed.strip().splitlines()) + 1))}


def script_of(**stages: object) -> dict:
    """A model that answers every stage; ``extract=...`` and so on change one."""
    usual = {
        "extract": {"facts": []},
        "verify": keep_all,
        "topics": {"queries": ["shop"]},
        "dedup": NOTHING,
        "summary": "Facts:\n- a summary",
    }
    return {f"memorize/{name}": reply for name, reply in {**usual, **stages}.items()}


@dataclass
class Kit:
    """One configured memorize pipeline over a home."""

    memorizer: Memorizer
    bank: FakeBank
    model: ScriptedModel
    queue: Queue
    sessions: SessionState
    hooks: Hooks
    outbox: Outbox

    async def remember(
        self, talk: TranscriptBuilder | Sequence[Entry], reason: str = "manual", **more: object
    ) -> list[MemorizeReport]:
        transcript = talk.transcript() if isinstance(talk, TranscriptBuilder) else talk
        if not isinstance(transcript, Transcript):
            transcript = Transcript("s1", "generic", tuple(transcript))
        return await self.memorizer.remember_transcript(transcript, reason=reason, **more)

    async def one(self, talk: TranscriptBuilder, reason: str = "manual") -> MemorizeReport:
        (report,) = await self.remember(talk, reason)
        return report

    async def cursor(self, session_id: str = "s1") -> str | None:
        return await self.sessions.cursor(self.bank.id, session_id)

    @property
    def texts(self) -> list[str]:
        """Texts of the valid facts of a `FakeBank`."""
        return [fact.text for fact in self.bank.facts.values() if fact.state == "valid"]

    def asked(self, stage: str) -> list[str]:
        """User messages of one memorize stage."""
        return [r.messages[0].content for r in self.model.asked(f"memorize/{stage}")]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2030, 2, 1, tzinfo=UTC))


@pytest.fixture
def talk() -> TranscriptBuilder:
    return TranscriptBuilder()


@pytest.fixture
def prompts() -> Prompts:
    return Prompts()


@pytest.fixture
def make_fact():
    def make(text: str, **changes: object) -> Fact:
        return Fact(**{"id": fact_id(text), "text": text, **changes})

    return make


@pytest.fixture
def script():
    return script_of


@pytest.fixture
def answer():
    return facts_answer


@pytest.fixture
def kit(tmp_path: Path, clock: FakeClock, prompts: Prompts):
    """Makes pipelines over one home; without a script there is no model."""
    opened: list = []

    def make(
        script: dict | None = None,
        *,
        bank: Bank | None = None,
        held: Sequence[Fact] = (),
        window: int = 32_000,
        plugins: Sequence[object] = (),
        project: str | None = "shop",
        model: object = None,
        outbox: type[Outbox] = Outbox,
        home: str = "home",
        labels: Labels | None = None,
        active: ActiveParts | None = None,
        **sections: dict,
    ) -> Kit:
        settings = Settings.model_validate(sections)
        place = tmp_path / home
        place.mkdir(exist_ok=True)
        bank = bank or FakeBank("shop-bank", clock=clock)
        if held:
            bank.facts.update({fact.id: fact for fact in held})
        model = model or ScriptedModel(script or {}, window=window, configured=script is not None)
        queue = Queue(place / "queue.db", clock, settings)
        sessions = SessionState(place / "state.db", clock, queue)
        opened.extend((sessions, queue))
        stages = Stages(prompts=prompts, models=model)
        sanitiser = Sanitiser(Redactor())
        hooks = Hooks()
        hooks.register_builtin(
            MemorizePlugin(settings=settings, stages=stages, sanitiser=sanitiser)
        )
        for plugin in plugins:
            hooks.register_builtin(plugin, name=f"test-{id(plugin)}")
        box = outbox(queue, clock)
        memorizer = Memorizer(
            settings=settings,
            hooks=hooks,
            bank=bank,
            stages=stages,
            outbox=box,
            sessions=sessions,
            sanitiser=sanitiser,
            clock=clock,
            project=project,
            labels=labels,
            active=active,
        )
        return Kit(memorizer, bank, model, queue, sessions, hooks, box)

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def failing():
    """A model script in which one stage fails in a way of its own."""
    from hindsight_core.errors import ProviderError

    def make(**stages: object) -> dict:
        down = {
            name: ProviderError("connection refused") for name in stages if stages[name] is None
        }
        return script_of(**{**stages, **down})

    return make
