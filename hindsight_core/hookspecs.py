"""Every hook, typed; the lifecycle of a session as a timeline.

::

    process start    register_banks register_embedders register_models register_decision_backends
                     register_tools register_commands register_cli register_importers
                     register_task_readers register_redactors register_checks register_profiles
                     register_sections
                     template_dirs
    a turn begins    plan_recall -> (search) -> filter_hits -> judge_hits -> remind -> after_recall
    in its loop      plan_recall -> (search) -> filter_hits -> judge_hits -> after_recall
    a window is due  filter_window -> extract_facts -> filter_facts -> resolve_facts
                     -> before_store -> (store) -> after_store
    a question       decide
    at any time      event

Kinds: *registration* hooks are called once and call ``register(name, factory)``; *first* stops at
the first result that is not None; *fold* passes the value through every implementation, None
leaving it as it is; *notify* calls all and ignores results. Run-time hooks may return their value
or an awaitable of it. All are called by `hindsight_core.plugins.Hooks`, with a deadline.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import pluggy

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Document, Fact, Hit, Query, Receipt
    from hindsight_core.transcript.entry import Window
    from hindsight_core.turns import Plan, RecallOutcome, Turn, Verdict

PROJECT = "hindsight"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

T = TypeVar("T")
Result: TypeAlias = "T | Awaitable[T | None] | None"
Register = Callable[[str, Callable[..., Any]], None]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What to do with one candidate fact.

    Attributes:
        action: ``add``; ``replace`` supersedes ``target``; ``skip`` because it is known.
        fact: The candidate, possibly with better text.
        target: Id of the stored fact, for ``replace`` and ``skip``.
        reason: For the log.
    """

    action: Literal["add", "replace", "skip"]
    fact: Fact
    target: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """Questions for the decision layer (spec s1, S-DEC).

    Attributes:
        questions: Ids: ``inject``, ``read:<bank>``, ``write:<bank>``.
        last_user_message: The person's newest words, whole.
        task_state: The open tasks, one a line; None when nobody could read them.
        activity: The latest talk, oldest first.
        asks: What each question asks, by its id.
    """

    questions: tuple[str, ...]
    last_user_message: str
    task_state: str | None = None
    activity: str | None = None
    asks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, with documented fields (README, Events)."""

    name: str
    fields: Mapping[str, Any]


class HookSpecs:
    """The specifications; implementations take any subset of the arguments."""

    # -- registration -----------------------------------------------------------------------

    @hookspec
    def hindsight_register_banks(self, register: Register) -> None:
        """Add bank backends: ``factory(settings, services) -> Bank``."""

    @hookspec
    def hindsight_register_embedders(self, register: Register) -> None:
        """Add embedders: ``factory(settings, services) -> Embedder``."""

    @hookspec
    def hindsight_register_models(self, register: Register) -> None:
        """Add model providers: ``factory(settings, services) -> Model``."""

    @hookspec
    def hindsight_register_decision_backends(self, register: Register) -> None:
        """Add decision backends: ``factory(settings, services) -> DecisionBackend``.

        It has ``answer(state, questions)``, and is asked where ``decision.backends`` names it.
        """

    @hookspec
    def hindsight_register_tools(self, register: Register) -> None:
        """Add tools for the agent: ``factory(settings, services) -> tool``.

        It has ``description``, ``parameters`` and ``call(arguments)``; the registered name is what
        the agent calls.
        """

    @hookspec
    def hindsight_register_commands(self, register: Register) -> None:
        """Add slash commands: ``factory(settings, services)`` gives one.

        It has ``description``, optionally ``argument_hint``, and ``run(arguments)``; the
        registered name is what the user types behind the slash.
        """

    @hookspec
    def hindsight_register_cli(self, register: Register) -> None:
        """Add commands to ``hindsight-mem``: ``factory()`` gives a click command."""

    @hookspec
    def hindsight_register_importers(self, register: Register) -> None:
        """Add transcript readers: ``factory() -> TranscriptReader``."""

    @hookspec
    def hindsight_register_task_readers(self, register: Register) -> None:
        """Add readers of a task list: ``factory() -> TaskReader``; it has ``read(entries)``."""

    @hookspec
    def hindsight_register_redactors(self, register: Register) -> None:
        """Add secret shapes: ``factory() -> Iterable[SecretRule]``."""

    @hookspec
    def hindsight_register_checks(self, register: Register) -> None:
        """Add checks to ``doctor``: ``factory(settings, services) -> check``, and ``check()``.

        It returns what is right in a few words, or raises with what is wrong and what to do.
        """

    @hookspec
    def hindsight_register_profiles(self, register: Register) -> None:
        """Add profiles: ``factory() -> dict`` of settings values, nothing else."""

    @hookspec
    def hindsight_register_sections(self, register: Register) -> None:
        """Add one's own settings section: ``register("toy", Model)`` makes ``plugins.toy`` valid.

        ``Model`` is a pydantic model; factories of the same plugin find it as ``services.section``.
        """

    @hookspec
    def hindsight_template_dirs(self, settings: Settings) -> Path | Sequence[Path] | None:
        """Folders with templates, searched after the user's and before the packaged ones."""

    # -- recall -----------------------------------------------------------------------------

    @hookspec
    def hindsight_plan_recall(self, turn: Turn) -> Result[Plan]:
        """First: what to search for in this turn, or a plan without queries and its reason.

        ``turn.occasion`` is ``steer`` in a running loop: then ``turn.context`` is what is going on.
        """

    @hookspec
    def hindsight_judge_hits(
        self, turn: Turn, query: Query, hits: Sequence[Hit]
    ) -> Result[Verdict]:
        """First: score a query's hits and say which to keep."""

    @hookspec
    def hindsight_filter_hits(
        self, turn: Turn, query: Query, hits: Sequence[Hit]
    ) -> Result[Sequence[Hit]]:
        """Fold: drop, reorder or mask hits before they are judged."""

    @hookspec
    def hindsight_after_recall(self, turn: Turn, outcome: RecallOutcome) -> Result[None]:
        """Notify: what the turn's recall came to."""

    @hookspec
    def hindsight_remind(self, turn: Turn) -> Result[str]:
        """First: a reminder that the memory exists, to stand below this turn's block."""

    # -- memorize ---------------------------------------------------------------------------

    @hookspec
    def hindsight_filter_window(self, window: Window) -> Result[Window]:
        """Fold: change a window after sanitising and before anything looks at it."""

    @hookspec
    def hindsight_extract_facts(self, window: Window) -> Result[Sequence[Fact]]:
        """First: the facts worth keeping; an empty sequence is an answer, None passes on."""

    @hookspec
    def hindsight_filter_facts(
        self, window: Window, facts: Sequence[Fact]
    ) -> Result[Sequence[Fact]]:
        """Fold: drop or change facts: evidence, durability, language, poison."""

    @hookspec
    def hindsight_resolve_facts(
        self, candidates: Sequence[Fact], neighbours: Mapping[str, Sequence[Hit]]
    ) -> Result[Sequence[Resolution]]:
        """First: add, replace or skip each candidate; ``neighbours`` by candidate id."""

    @hookspec
    def hindsight_before_store(self, document: Document) -> Result[Document]:
        """Fold: the last change to a document before it is queued."""

    @hookspec
    def hindsight_after_store(self, receipt: Receipt) -> Result[None]:
        """Notify: a document was stored, known, queued or given up."""

    # -- decisions and events ---------------------------------------------------------------

    @hookspec
    def hindsight_decide(self, request: DecisionRequest) -> Result[Mapping[str, bool]]:
        """First complete answer: one bool for each question asked."""

    @hookspec
    def hindsight_event(self, event: Event) -> Result[None]:
        """Notify: telemetry; names and fields are in the README."""
