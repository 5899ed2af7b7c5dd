"""A whole memory in a temporary folder, with plugins: tell it something, run a turn, see the block.

::

    def test_my_filter(memory):
        memory.remember("The queue prefetch is 50")
        assert "prefetch is 50" in memory.turn("what is the queue prefetch?").block.text
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Coroutine, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hindsight_core.hookspecs import hookimpl
from hindsight_core.testing.waiting import value_of

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.doctor import Finding
    from hindsight_core.engine.commands.base import CommandResult
    from hindsight_core.engine.live import LiveSession
    from hindsight_core.engine.tools.base import ToolResult
    from hindsight_core.hookspecs import Register
    from hindsight_core.memorize.report import MemorizeReport
    from hindsight_core.memory import Fact, Hit
    from hindsight_core.plugins import Hooks
    from hindsight_core.runtime import Runtime
    from hindsight_core.services import Clock
    from hindsight_core.transcript.entry import Entry
    from hindsight_core.turns import RecallOutcome

T = TypeVar("T")
Said = str | tuple[str, str]
BANK = "plugin-test"


class Memory:
    """One configuration with its plugins, opened; every call runs to its end.

    Args:
        folder: An empty folder for its home and its project.
        plugins: Modules or objects with hooks, used instead of the installed plugins; None uses
            what is installed.
        settings: Sections and their values, as in ``config.toml``.
        replies: What a scripted model answers, by stage (`hindsight_core.testing.models`); None
            for no model.
        clock: Aware UTC now; the real one when None.

    Raises:
        PluginError: A given plugin is wrong.

    Attributes:
        runtime: Everything behind it.
        model: The scripted model, to see what it was asked; None without ``replies``.
    """

    def __init__(
        self,
        folder: Path,
        *,
        plugins: Sequence[object] | None = None,
        settings: Mapping[str, Any] | None = None,
        replies: Mapping[str, object] | None = None,
        clock: Clock | None = None,
    ) -> None:
        from hindsight_core.runtime import Runtime
        from hindsight_core.services import utc_now
        from hindsight_core.testing.models import ScriptedModel

        (folder / "project").mkdir(parents=True)
        self.model = ScriptedModel(replies) if replies is not None else None
        loaded, hooks, env = _configured(folder, plugins, settings or {}, self.model)
        self.runtime: Runtime = Runtime(loaded, clock=clock or utc_now, env=env, hooks=hooks)
        self._runner = asyncio.Runner()
        self._turns = 0
        self._sessions = 0

    @property
    def problems(self) -> list[str]:
        """What is wrong with plugins, templates and settings."""
        return [*self.runtime.loaded.warnings, *self.runtime.problems]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of ``runtime``, in the loop in which everything else runs."""
        return self._runner.run(work)

    def remember(
        self, text: str, *, kind: str = "fact", tags: Sequence[str] = ()
    ) -> MemorizeReport:
        """Store one fact, as the agent's tool does."""
        return self.run(self.runtime.memorizer.retain_note(text, kind=kind, tags=tags))

    def session(self, *said: Said) -> list[MemorizeReport]:
        """Memorize a session: what the user said, or pairs of role and text."""
        from hindsight_core.transcript.entry import Transcript

        self._sessions += 1
        transcript = Transcript(f"session-{self._sessions}", "generic", _entries(said))
        return self.run(self.runtime.memorizer.remember_transcript(transcript, reason="manual"))

    def turn(self, prompt: str, *, before: Sequence[Said] = ()) -> RecallOutcome:
        """Recall for a prompt; ``block.text`` of the outcome is what a model would be given.

        The decision layer is asked first, where ``decision.inject_gate`` or ``bank_gate`` is set.

        Args:
            prompt: The user's words.
            before: What was said before in this session.
        """
        from hindsight_core.turns import Turn

        self._turns += 1
        turn = Turn(
            id=f"turn-{self._turns}",
            session_id="session",
            prompt=self.runtime.sanitiser.text(prompt),
            entries=tuple(self.runtime.sanitiser.entries(_entries(before))),
            banks=(self.runtime.bank_id,),
        )

        async def recall() -> RecallOutcome:
            decided = await self._live.deciding.read(turn, _entries(before))
            return await self.runtime.recall.run(decided)

        return self.run(recall())

    def search(self, text: str, *, limit: int = 10) -> list[Hit]:
        """The plain search of the tool and the command line."""
        return self.run(self.runtime.recall.search(text, limit=limit))

    def facts(self) -> list[Fact]:
        """What the bank holds, newest first."""
        return list(self.run(self.runtime.bank.list_facts(limit=500)).facts)

    def decide(
        self, message: str, *, questions: Mapping[str, str], backend: str | None = None
    ) -> Mapping[str, bool] | None:
        """Ask the plugins' policy (`hindsight_decide`), or a registered backend by its name.

        Args:
            message: What the user said last.
            questions: Id of each question and what it asks.
            backend: Name of a decision backend; None asks the hook.
        """
        from hindsight_core.hookspecs import DecisionRequest

        request = DecisionRequest(tuple(questions), message, asks=questions)
        if backend is None:
            return self.run(self.runtime.hooks.decide(request))
        made = self.create("decision_backends", backend)

        async def ask() -> Mapping[str, bool]:
            answer: Mapping[str, bool] = await value_of(made.answer(request, questions))
            return answer

        return self.run(ask())

    def tools(self) -> dict[str, Mapping[str, Any]]:
        """Tools that the agent is offered, by name, with description and schema."""
        return {tool["name"]: tool for tool in self._live.tools.describe()}

    def tool(self, name: str, **arguments: Any) -> ToolResult:  # noqa: ANN401
        """What the agent gets from a tool: ``content``, ``is_error`` and ``details``."""
        return self.run(self._live.tools.call(name, arguments))

    def slash(self, name: str, arguments: str = "") -> CommandResult:
        """What a slash command gives: ``text``, ``level``, ``prompt`` and ``panel``."""
        return self.run(self._live.commands.run(name, arguments))

    def doctor(self, name: str | None = None) -> list[Finding]:
        """What ``hindsight-mem doctor`` finds, all of it or the findings of one check."""
        from hindsight_core.doctor import examine

        found = self.run(examine(self.runtime))
        return [finding for finding in found if name in (None, finding.name)]

    @cached_property
    def _live(self) -> LiveSession:
        from hindsight_core.testing.session import live_session

        return live_session(self.runtime)

    def create(self, kind: str, name: str) -> Any:  # noqa: ANN401 - as different as the kinds
        """Make what a plugin registered, such as ``create("embedders", "toy")``."""
        runtime = self.runtime
        return runtime.hooks.create(kind, name, runtime.settings, runtime.services)

    def close(self) -> None:
        """Release files and connections."""
        try:
            self._runner.run(self.runtime.close())
        finally:
            self._runner.close()


def _configured(
    folder: Path,
    plugins: Sequence[object] | None,
    settings: Mapping[str, Any],
    model: object,
) -> tuple[Loaded, Hooks, dict[str, str]]:
    from hindsight_core.config.contributed import contributions
    from hindsight_core.config.layers import load
    from hindsight_core.configure import plugins_of

    env = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder / "user"),
        "HINDSIGHT_MEM_HOME": str(folder / "home"),
    }
    if plugins is not None:
        env["HINDSIGHT_MEM_PLUGINS"] = ""
    given: dict[str, Any] = {
        name: dict(keys) if isinstance(keys, Mapping) else keys for name, keys in settings.items()
    }
    given.setdefault("bank", {}).setdefault("id", BANK)
    if model is not None:
        given["models"] = {"provider": "scripted", "model": "scripted", **given.get("models", {})}
    cwd = folder / "project"
    hooks = plugins_of(load(cwd=cwd, env=env, overrides=given), env=env)
    for plugin in plugins or ():
        _add(hooks, plugin)
    if model is not None:
        hooks.register_builtin(_Scripted(model), name="scripted")
    return load(cwd=cwd, env=env, overrides=given, **contributions(hooks)), hooks, env


def _add(hooks: Hooks, plugin: object) -> None:
    from hindsight_core.plugins.plugin import Plugin

    made = plugin() if inspect.isclass(plugin) else plugin
    name = getattr(made, "__name__", type(made).__name__).replace("_", "-")
    hooks.add(Plugin(name, name, "under test", object=made))


class _Scripted:
    """Registers the scripted model."""

    def __init__(self, model: object) -> None:
        self._model = model

    @hookimpl
    def hindsight_register_models(self, register: Register) -> None:
        """Make ``models.provider = "scripted"`` possible."""
        register("scripted", lambda settings, services: self._model)


def _entries(said: Sequence[Said]) -> tuple[Entry, ...]:
    from hindsight_core.transcript.entry import Entry, Text

    pairs = [("user", one) if isinstance(one, str) else one for one in said]
    return tuple(
        Entry(f"e{number}", role, (Text(text),), parent_id=f"e{number - 1}" if number else None)  # type: ignore[arg-type]
        for number, (role, text) in enumerate(pairs)
    )
