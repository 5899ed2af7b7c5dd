"""Puts the pipelines of a runtime together: which banks, which scopes, which built-ins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.memorize.active import ActiveMemory
    from hindsight_core.memorize.lifecycle.sink import EventSink
    from hindsight_core.memorize.parts import ActiveParts
    from hindsight_core.memorize.runner import Memorizer
    from hindsight_core.memory import Hit
    from hindsight_core.recall.runner import RecallRunner
    from hindsight_core.recall.scopes import BankScope
    from hindsight_core.recall.steer.known import Known
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.life import LifeRecord


def recall_runner(runtime: Runtime) -> RecallRunner:
    """The recall pipeline over every bank that may be read."""
    from hindsight_core.banks.several import open_several
    from hindsight_core.recall.builtin import RecallPlugin
    from hindsight_core.recall.runner import RecallRunner
    from hindsight_core.worktree.plugin import TreeMarks

    settings, stages, sanitiser = runtime.settings, runtime.stages, runtime.sanitiser
    runtime.hooks.register_builtin(
        RecallPlugin(settings=settings, stages=stages, sanitiser=sanitiser)
    )
    if settings.steer.enabled:
        _register_steers(runtime)
    if settings.recall.check_files and runtime.worktree is not None:
        runtime.hooks.register_builtin(TreeMarks(runtime.worktree, bank=runtime.bank_id))
    scopes = runtime.recall_scopes
    return RecallRunner(
        settings=settings,
        hooks=runtime.hooks,
        banks=open_several(runtime.open_bank, scopes, own=runtime.bank_id),
        stages=stages,
        sanitiser=sanitiser,
        clock=runtime.clock,
        scopes=scopes,
        log=runtime.log,
    )


def _register_steers(runtime: Runtime) -> None:
    from hindsight_core.recall.steer.plugin import SteerPlugin

    async def look_up(hits: Sequence[Hit]) -> Mapping[str, Known | None]:
        own = [hit for hit in hits if hit.bank in _remembering(runtime)]
        return {hit.id: None for hit in own} | {
            item.hit.id: known_of(item.record) for item in await runtime.active.weigh(own)
        }

    runtime.hooks.register_builtin(
        SteerPlugin(
            runtime.settings, runtime.stages, runtime.clock, look_up=look_up, log=runtime.log
        )
    )


def known_of(record: LifeRecord) -> Known:
    """A memory's lifecycle record as steers see it."""
    from hindsight_core.memorize.lifecycle.ranking import weight
    from hindsight_core.recall.steer.known import Known

    told = record.told
    return Known(
        actor=told.actor,
        confidence=record.confidence,
        weight=weight(record),
        scope=record.scope,
        session_id=told.session_id,
        created_at=record.created_at,
        said=tuple(filter(None, (told.user_text, told.evidence))),
    )


def recall_scopes(runtime: Runtime) -> Mapping[str, BankScope]:
    """How each bank that may be read is searched, the project's first."""
    from hindsight_core.config.bank_entries import bank_entries
    from hindsight_core.memorize.labels import Labels
    from hindsight_core.recall.scopes import ProjectPlace, bank_scopes

    here = Labels.of(runtime.loaded)
    place = ProjectPlace(here.project_id, here.repo_key, here.project)
    entries = [e for e in bank_entries(runtime.settings, runtime.bank_id) if e.readable]
    own, host = runtime.bank_id, runtime.loaded.host
    return bank_scopes(runtime.settings, entries, own=own, place=place, host=host)


def memorizer(runtime: Runtime, bank_id: str, *, first: bool) -> Memorizer:
    """The memorize pipeline into one bank.

    Args:
        runtime: The opened configuration.
        bank_id: Where its facts go.
        first: No other pipeline of this runtime has brought the built-in hooks yet.
    """
    from hindsight_core.memorize.builtin import MemorizePlugin
    from hindsight_core.memorize.labels import Labels
    from hindsight_core.memorize.runner import Memorizer
    from hindsight_core.worktree.plugin import TreeStamps

    settings, stages, sanitiser = impersonal(runtime.settings), runtime.stages, runtime.sanitiser
    if first:
        runtime.hooks.register_builtin(
            MemorizePlugin(settings=settings, stages=stages, sanitiser=sanitiser)
        )
        if runtime.worktree is not None:
            runtime.hooks.register_builtin(TreeStamps(runtime.worktree, runtime.clock))
    return Memorizer(
        settings=settings,
        hooks=runtime.hooks,
        bank=runtime.open_bank(bank_id),
        stages=stages,
        outbox=runtime.outbox,
        sessions=runtime.sessions,
        sanitiser=sanitiser,
        clock=runtime.clock,
        labels=Labels.of(runtime.loaded),
        active=_active_parts(runtime, bank_id),
    )


def event_sink(runtime: Runtime) -> EventSink:
    """What happens to memories goes into the activity log, until somebody else listens."""
    from hindsight_core.budget import working_session
    from hindsight_core.memorize.lifecycle.sink import EventSink

    def log(name: str, fields: Mapping[str, object]) -> None:
        of = {"session": working_session(), "bank": runtime.bank_id}
        runtime.log.write(name, **{**of, **fields})

    return EventSink(log)


def _remembering(runtime: Runtime) -> tuple[str, ...]:
    """The project's bank, and the person's where there is one."""
    personal = runtime.settings.bank.user_id
    own = runtime.bank_id
    return (own, personal) if personal and personal != own else (own,)


def _active_parts(runtime: Runtime, bank_id: str) -> ActiveParts:
    from hindsight_core.memorize.lifecycle.place import memory_project
    from hindsight_core.memorize.parts import ActiveParts

    project, personal = runtime.loaded.project, _remembering(runtime)[1:]
    shared = bool(personal) and bank_id not in personal
    return ActiveParts(
        embedder=runtime.embedder,
        project=memory_project(project),
        cwd=str(project.checkout or project.root or ""),
        sink=runtime.active_sink,
        is_personal=bank_id in personal,
        personal=(lambda: runtime.memorizer_of(personal[0]).active) if shared else None,
    )


def active_memory(runtime: Runtime) -> ActiveMemory:
    """Active memory of the project's bank, and of the person's."""
    own, *personal = (_active_memory(runtime, bank_id) for bank_id in _remembering(runtime))
    own.personal = personal[0] if personal else None
    return own


def _active_memory(runtime: Runtime, bank_id: str) -> ActiveMemory:
    from hindsight_core.memorize.active import ActiveMemory
    from hindsight_core.memorize.lifecycle.keeper import Keeper
    from hindsight_core.memorize.lifecycle.place import memory_project

    keeper = Keeper.of(
        runtime.open_bank(bank_id),
        runtime.sessions,
        settings=runtime.settings,
        clock=runtime.clock,
        sink=runtime.active_sink,
    )
    return ActiveMemory(
        keeper,
        project=memory_project(runtime.loaded.project),
        events=runtime.active_sink,
        writing=lambda: runtime.memorizer_of(bank_id).active,
    )


def impersonal(settings: Settings) -> Settings:
    """Settings without the personal bank: who has these and one bank has no other (pi/UB-02)."""
    bank = settings.bank.model_copy(update={"user_id": None})
    return settings.model_copy(update={"bank": bank})
