"""A decision layer with scripted backends, banks and tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from hindsight_core.config.bank_entries import bank_entries
from hindsight_core.config.settings import Settings
from hindsight_core.decision.ladder import Ladder
from hindsight_core.decision.router import Router
from hindsight_core.decision.tasks import OpenTasks
from hindsight_core.hookspecs import DecisionRequest
from hindsight_core.plugins import Hooks
from hindsight_core.plugins.plugin import Plugin
from hindsight_core.prompts import Prompts
from hindsight_core.testing.clock import FakeClock
from hindsight_core.transcript.entry import Entry, Text

START = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)


class Scripted:
    """A backend whose answers are written down; an exception is raised."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.states: list[DecisionRequest] = []
        self.asked: list[Mapping[str, str]] = []

    async def answer(self, state: DecisionRequest, questions: Mapping[str, str]) -> Any:
        self.states.append(state)
        self.asked.append(dict(questions))
        given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(given, BaseException):
            raise given
        return given(questions) if callable(given) else given


@dataclass
class Kit:
    """One decision layer.

    Attributes:
        settings: Sections `decision` and `bank`.
        backends: By name, in the order in which they are asked.
        clock: Moved by hand.
        window: Tokens of the decision model.
    """

    settings: Settings
    backends: dict[str, Any]
    hooks: Hooks
    clock: FakeClock
    window: int | None = None
    bridge: Any = None
    created: list[str] = field(default_factory=list)
    banks: Callable[[], Sequence[Any]] | None = None

    def __post_init__(self) -> None:
        entries = self.banks or (lambda: bank_entries(self.settings, "shop"))
        self.ladder = Ladder(
            self.hooks,
            self._create,
            names=tuple(self.backends),
            timeout_s=self.settings.decision.timeout_ms / 1000,
            clock=self.clock,
        )
        self.router = Router(
            self.settings.decision,
            entries,
            ladder=self.ladder,
            tasks=OpenTasks(self.hooks, self.bridge, timeout_s=1.0),
            prompts=Prompts(),
            clean=lambda text: text.replace("SECRET", "***"),
            window=self._window,
            clock=self.clock,
        )

    async def recall(self, message: str = "which port?", said=(), path=()):
        return await self.router.recall(message, said, path=path)

    async def retain(self, message: str = "which port?", said=(), path=()):
        return await self.router.retain(message, said, path=path)

    def _create(self, name: str) -> Any:
        self.created.append(name)
        return self.hooks.decision_backends[name].create()

    async def _window(self) -> int | None:
        return self.window


@pytest.fixture
def scripted():
    return Scripted


@pytest.fixture
def yes():
    """Answers every question with yes."""
    return lambda questions: dict.fromkeys(questions, True)


@pytest.fixture
def kit():
    def make(*answers: object, backends=None, plugins=(), more=None, **sections: dict) -> Kit:
        hooks = Hooks()
        for number, plugin in enumerate(plugins):
            hooks.add(Plugin(f"p{number}", f"hindsight-p{number}", "1", object=plugin))
        found = dict(backends or {})
        if answers:
            found["main"] = Scripted(*answers)

        class Registering:
            def hindsight_register_decision_backends(self, register):
                for name, backend in found.items():
                    register(name, lambda backend=backend: backend)

        from hindsight_core.hookspecs import hookimpl

        Registering.hindsight_register_decision_backends = hookimpl(
            Registering.hindsight_register_decision_backends
        )
        hooks.register_builtin(Registering())
        settings = Settings.model_validate(sections)
        return Kit(settings, found, hooks, FakeClock(START), **(more or {}))

    return make


@pytest.fixture
def entry():
    def make(role: str, text: str, **changes: object) -> Entry:
        return Entry(id=f"{role}-{abs(hash(text))}", role=role, parts=(Text(text),), **changes)

    return make
