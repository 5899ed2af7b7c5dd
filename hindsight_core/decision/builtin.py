"""The decision backends and task readers that ship with the core, registered like any plugin's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.errors import ConfigError
from hindsight_core.hookspecs import Register, hookimpl

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.decision.base import DecisionBackend, TaskReader
    from hindsight_core.services import Services


class DecisionPlugin:
    """Registers the built-in ones; each module is imported when it is first used."""

    @hookimpl
    def hindsight_register_decision_backends(self, register: Register) -> None:
        """``typed`` and ``classifier`` over HTTP, ``text`` over the chat model."""
        register("typed", _typed)
        register("classifier", _classifier)
        register("text", _text)

    @hookimpl
    def hindsight_register_task_readers(self, register: Register) -> None:
        """Omp's own todo tool, and rpiv-todo."""
        register("omp-todo", _omp)
        register("rpiv-todo", _rpiv)


def _typed(settings: Settings, services: Services) -> DecisionBackend:
    from hindsight_core.providers.decisions import typed_backend

    return typed_backend(settings, services)


def _classifier(settings: Settings, services: Services) -> DecisionBackend:
    from hindsight_core.providers.decisions import classifier_backend

    return classifier_backend(settings, services)


def _text(settings: Settings, services: Services) -> DecisionBackend:
    from hindsight_core.decision.text import TextBackend

    if services.stages is None:
        raise ConfigError("no model may be called here")
    return TextBackend(services.stages)


def _omp() -> TaskReader:
    from hindsight_core.decision.readers.omp import OmpTodo

    return OmpTodo()


def _rpiv() -> TaskReader:
    from hindsight_core.decision.readers.rpiv import RpivTodo

    return RpivTodo()
