"""The built-in implementations of the memorize hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.hookspecs import Resolution, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Fact, Hit
    from hindsight_core.stages import Stages
    from hindsight_core.transcript.entry import Window
    from hindsight_core.transcript.sanitise import Sanitiser


class MemorizePlugin:
    """Distills with a model, keeps the user's own statements without one.

    Args:
        settings: Sources, language, categories, bounds.
        stages: The retain models.
        sanitiser: Bounds and cleans what rules find.
    """

    def __init__(self, *, settings: Settings, stages: Stages, sanitiser: Sanitiser) -> None:
        self._settings = settings
        self._stages = stages
        self._sanitiser = sanitiser

    @hookimpl
    async def hindsight_extract_facts(self, window: Window) -> Sequence[Fact] | None:
        """With a model what it finds; without one the user's lasting statements, by rules."""
        if "distill" not in self._settings.memorize.mode:
            if "transcript" not in self._settings.memorize.mode:
                return None
            from hindsight_core.memorize.transcript.facts import transcript_facts

            return await transcript_facts(window, settings=self._settings, stages=self._stages)
        if self._stages.available("retain"):
            from hindsight_core.memorize.distill import Distiller

            redact = self._sanitiser.redact
            return await Distiller(self._settings, self._stages, redact=redact).facts(window)
        from hindsight_core.memorize.rules import user_facts

        return user_facts(window, limit=self._settings.security.max_fact_characters)

    @hookimpl
    def hindsight_filter_facts(self, window: Window, facts: Sequence[Fact]) -> Sequence[Fact]:
        """No planted instructions; what only a tool said names its source."""
        from hindsight_core.memorize.poison import without_poison

        return without_poison(window, facts)

    @hookimpl
    async def hindsight_resolve_facts(
        self, candidates: Sequence[Fact], neighbours: Mapping[str, Sequence[Hit]]
    ) -> Sequence[Resolution]:
        """Known, changed or new: by comparing, and where there is a model by asking it."""
        from hindsight_core.memorize.resolve import resolve
        from hindsight_core.memorize.run import current

        if (merge := current().merge) is not None:
            return await merge(candidates, neighbours)
        ask = current().ask and self._stages.available("retain")
        stages = self._stages if ask else None
        return await resolve(candidates, neighbours, stages=stages)
