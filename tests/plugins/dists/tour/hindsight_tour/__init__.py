"""Every hook once, in its smallest useful form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from hindsight_core import hookimpl

if TYPE_CHECKING:
    from hindsight_core.hookspecs import DecisionRequest, Event, Register, Resolution
    from hindsight_core.memory import Document, Fact, Hit, Query, Receipt
    from hindsight_core.transcript.entry import Window
    from hindsight_core.turns import Plan, RecallOutcome, Turn, Verdict


class Section(BaseModel):
    """The section ``plugins.tour``."""

    greeting: str = "hello"


class Tour:
    """An entry point may name a class; it is made without arguments."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    @hookimpl
    def hindsight_register_banks(self, register: Register) -> None:
        """The factory is given settings and services, and returns a bank."""
        register("tour-bank", lambda settings, services: object())

    @hookimpl
    def hindsight_register_embedders(self, register: Register) -> None:
        """The object has identity, dimensions and embed."""
        register("tour-embedder", lambda settings, services: object())

    @hookimpl
    def hindsight_register_models(self, register: Register) -> None:
        """The object has complete."""
        register("tour-model", lambda settings, services: object())

    @hookimpl
    def hindsight_register_decision_backends(self, register: Register) -> None:
        """The object has answer."""
        register("tour-decisions", lambda settings, services: object())

    @hookimpl
    def hindsight_register_tools(self, register: Register) -> None:
        """A tool for the agent."""
        register("tour_tool", lambda settings, services: object())

    @hookimpl
    def hindsight_register_commands(self, register: Register) -> None:
        """A slash command."""
        register("tour", lambda settings, services: object())

    @hookimpl
    def hindsight_register_cli(self, register: Register) -> None:
        """``hindsight-mem tour``."""
        register("tour", _command)

    @hookimpl
    def hindsight_register_importers(self, register: Register) -> None:
        """A reader of transcripts."""
        register("tour", lambda: object())

    @hookimpl
    def hindsight_register_task_readers(self, register: Register) -> None:
        """A reader of a task list."""
        register("tour", lambda: object())

    @hookimpl
    def hindsight_register_redactors(self, register: Register) -> None:
        """Secret shapes of one's own; this plugin has none."""
        register("tour", lambda: ())

    @hookimpl
    def hindsight_register_checks(self, register: Register) -> None:
        """A check of ``hindsight-mem doctor``."""
        register("tour", lambda settings, services: lambda: None)

    @hookimpl
    def hindsight_register_profiles(self, register: Register) -> None:
        """A named set of settings."""
        register("tour", lambda: {"recall": {"max_lines": 3}})

    @hookimpl
    def hindsight_register_sections(self, register: Register) -> None:
        """Settings of one's own."""
        register("tour", Section)

    @hookimpl
    def hindsight_template_dirs(self) -> Path | None:
        """No templates."""
        return None

    @hookimpl
    def hindsight_plan_recall(self, turn: Turn) -> Plan | None:
        """Search for nothing when the prompt says so; else let the next planner decide."""
        from hindsight_core.turns import Plan

        if "do not look" in turn.prompt:
            return Plan(reason="the prompt says not to look")
        return None

    @hookimpl
    async def hindsight_judge_hits(
        self, turn: Turn, query: Query, hits: Sequence[Hit]
    ) -> Verdict | None:
        """Leave judging to others; a hook may be asynchronous."""
        return None

    @hookimpl
    def hindsight_filter_hits(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Drop what was marked as noise."""
        return [hit for hit in hits if "noise" not in hit.fact.tags]

    @hookimpl
    def hindsight_after_recall(self, outcome: RecallOutcome) -> None:
        """Note what came of it."""
        self.seen.append(f"recall: {outcome.outcome}")

    @hookimpl
    def hindsight_remind(self, turn: Turn) -> str | None:
        """No reminder."""
        return None

    @hookimpl
    def hindsight_filter_window(self, window: Window) -> Window | None:
        """Leave out what a program wrote in the user's name."""
        own = tuple(entry for entry in window.entries if not entry.synthetic)
        return replace(window, entries=own) if own else None

    @hookimpl
    def hindsight_extract_facts(self, window: Window) -> Sequence[Fact] | None:
        """Leave extraction to others."""
        return None

    @hookimpl
    def hindsight_filter_facts(self, facts: Sequence[Fact]) -> Sequence[Fact]:
        """Keep facts of at least three words."""
        return [fact for fact in facts if len(fact.text.split()) >= 3]

    @hookimpl
    def hindsight_resolve_facts(
        self, candidates: Sequence[Fact], neighbours: Mapping[str, Sequence[Hit]]
    ) -> Sequence[Resolution] | None:
        """Leave the decision to others."""
        return None

    @hookimpl
    def hindsight_before_store(self, document: Document) -> Document:
        """Tag every document."""
        return replace(document, tags=(*document.tags, "tour"))

    @hookimpl
    def hindsight_after_store(self, receipt: Receipt) -> None:
        """Note what became of it."""
        self.seen.append(f"store: {receipt.outcome}")

    @hookimpl
    def hindsight_decide(self, request: DecisionRequest) -> Mapping[str, bool] | None:
        """Never inject into a greeting."""
        if request.last_user_message.strip().lower() in ("hi", "hello"):
            return dict.fromkeys(request.questions, False)
        return None

    @hookimpl
    def hindsight_event(self, event: Event) -> None:
        """Count events."""
        self.seen.append(event.name)


def _command() -> Any:
    import click

    @click.command()
    def tour() -> None:
        """Say hello."""
        click.echo("hello from the tour")

    return tour
