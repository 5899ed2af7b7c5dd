"""A whole recall in memory: fake banks, a scripted model, the real templates and hooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact, Hit, Provenance
from hindsight_core.plugins import Hooks
from hindsight_core.prompts import Prompts
from hindsight_core.recall.builtin import RecallPlugin
from hindsight_core.recall.runner import RecallRunner
from hindsight_core.stages import Stages
from hindsight_core.testing.banks import FakeBank
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.models import ScriptedModel
from hindsight_core.transcript.entry import Entry, Text
from hindsight_core.transcript.sanitise import Sanitiser
from hindsight_core.turns import RecallOutcome, Turn

SAID = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def make_fact(text: str, **changes: object) -> Fact:
    return Fact(**{"id": fact_id(text), "text": text, "timestamp": SAID, **changes})


@dataclass
class Log:
    """Stands for the activity log."""

    entries: list[dict] = field(default_factory=list)

    def write(self, type: str, /, **fields: object) -> None:
        self.entries.append({"type": type, **fields})


@dataclass
class Kit:
    """One configured recall.

    Attributes:
        model: Answers by stage; None script means that no model is configured.
    """

    settings: Settings
    banks: dict[str, FakeBank]
    model: ScriptedModel
    hooks: Hooks
    runner: RecallRunner
    stages: Stages
    log: Log

    @property
    def bank(self) -> FakeBank:
        return next(iter(self.banks.values()))

    async def run(self, prompt: str, **turn: object) -> RecallOutcome:
        given = {"id": "t1", "session_id": "s1", "prompt": prompt, "banks": tuple(self.banks)}
        return await self.runner.run(Turn(**{**given, **turn}))


@pytest.fixture
def fact():
    return make_fact


@pytest.fixture
def hit():
    def make(text: str, *, bank: str = "shop", score: float = 0.5, **changes: object) -> Hit:
        parts = changes.pop("parts", {})
        speaker = changes.pop("speaker", None)
        if speaker:
            changes["provenance"] = Provenance(speaker=speaker)
        return Hit(fact=make_fact(text, **changes), bank=bank, score=score, parts=parts)

    return make


@pytest.fixture
def entry():
    def make(role: str, text: str, **changes: object) -> Entry:
        return Entry(id=f"{role}-{abs(hash(text))}", role=role, parts=(Text(text),), **changes)

    return make


@pytest.fixture
def settings():
    def make(**sections: dict) -> Settings:
        return Settings.model_validate(sections)

    return make


@pytest.fixture
def prompts() -> Prompts:
    return Prompts()


@pytest.fixture
def template_dir(tmp_path: Path):
    """Writes an overriding template; gives a `Prompts` that prefers it."""

    def write(stage: str, text: str) -> Prompts:
        path = tmp_path / "templates" / f"{stage}.j2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return Prompts(dirs=(tmp_path / "templates",))

    return write


@pytest.fixture
def kit(prompts: Prompts):
    def make(
        *texts: str,
        script: dict | None = None,
        banks: dict[str, Sequence[str]] | None = None,
        bank_objects: dict[str, FakeBank] | None = None,
        plugins: Sequence[object] = (),
        templates: Prompts | None = None,
        **sections: dict,
    ) -> Kit:
        settings = Settings.model_validate(sections)
        clock = FakeClock(datetime(2026, 4, 1, tzinfo=UTC))
        held = dict(bank_objects or {})
        for bank_id, facts in (banks or ({} if held else {"shop": texts})).items():
            held[bank_id] = FakeBank(bank_id, clock=clock)
            held[bank_id].facts = {(f := make_fact(text)).id: f for text in facts}
        model = ScriptedModel(script or {}, configured=script is not None)
        stages = Stages(prompts=templates or prompts, models=model)
        sanitiser = Sanitiser()
        hooks = Hooks()
        hooks.register_builtin(RecallPlugin(settings, stages, sanitiser))
        for plugin in plugins:
            hooks.register_builtin(plugin, name=f"test-{id(plugin)}")
        log = Log()
        runner = RecallRunner(settings, hooks, held, stages, sanitiser, clock, log=log)
        return Kit(settings, held, model, hooks, runner, stages, log)

    return make
