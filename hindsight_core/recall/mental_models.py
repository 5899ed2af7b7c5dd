"""Mental models shown with recall: listed now and then, within one budget (s1/S-MM-1)."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from hindsight_core.banks.base import ListsMentalModels, MentalModel
from hindsight_core.errors import BankError
from hindsight_core.recall.clip import clip

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.config.settings.recall import MentalModels as Settings
    from hindsight_core.recall.scopes import BankScope
    from hindsight_core.recall.search import Cleans
    from hindsight_core.services import Clock

logger = logging.getLogger("hindsight_core.recall")
OVERHEAD = 200
LEAST_BANK = OVERHEAD + 64
LEAST_MODEL = 120
PROJECT = "project:"


@dataclass(frozen=True, slots=True)
class Shown:
    """A mental model as it goes before the model, cleaned and cut to its share."""

    bank: str
    name: str
    text: str


class Models:
    """The mental models of a session's banks.

    Args:
        settings: The section `mental_models`.
        sanitiser: Cleans what a bank gives.
        clock: Aware UTC now.
    """

    def __init__(self, settings: Settings, sanitiser: Cleans, clock: Clock) -> None:
        self._settings = settings
        self._sanitiser = sanitiser
        self._clock = clock
        self._kept: dict[str, tuple[datetime, tuple[MentalModel, ...]]] = {}
        self.failed = 0

    async def of(self, banks: Sequence[Bank], scopes: Mapping[str, BankScope]) -> tuple[Shown, ...]:
        """Those that this project sees, by bank and name; a bank that fails has none."""
        if not self._settings.inject:
            return ()
        having = [bank for bank in banks if isinstance(bank, ListsMentalModels)]
        listed = await asyncio.gather(*(self._listed(bank) for bank in having))
        share = self._settings.max_chars // max(1, len(having))
        found: list[Shown] = []
        for bank, models in zip(having, listed, strict=True):
            own = visible(models, scopes.get(bank.id))
            found += self._fitted(bank.id, own, share)
        return tuple(found)

    async def _listed(self, bank: ListsMentalModels) -> tuple[MentalModel, ...]:
        known = self._kept.get(bank.id)
        ttl = timedelta(milliseconds=self._settings.cache_ttl_ms)
        if known is not None and timedelta(0) <= self._clock() - known[0] <= ttl:
            return known[1]
        try:
            models = await bank.mental_models()
        except BankError as error:
            self.failed += 1
            logger.info("no mental models of bank %s: %s", bank.id, error)
            return ()
        self._kept[bank.id] = (self._clock(), models)
        return models

    def _fitted(self, bank: str, models: Sequence[MentalModel], share: int) -> list[Shown]:
        if not models or share < LEAST_BANK:
            return []
        room = max(LEAST_MODEL, (share - OVERHEAD) // len(models))
        clean = (Shown(bank, model.name, self._clean(model.text, room)) for model in models)
        return [shown for shown in clean if shown.text]

    def _clean(self, text: str, room: int) -> str:
        lines = [self._sanitiser.fact_text(line) for line in text.splitlines() if line.strip()]
        return clip("\n".join(line for line in lines if line), room)


def models_key(models: Sequence[Shown]) -> str:
    """What stands for these texts in the shown-set; another text is another key."""
    told = "\n".join(f"{model.bank}/{model.name}: {model.text}" for model in models)
    return f"mental-models {hashlib.sha256(told.encode()).hexdigest()[:16]}"


def visible(models: Sequence[MentalModel], scope: BankScope | None) -> list[MentalModel]:
    """Of a project's bank those of this project and of none; sorted by name."""
    if scope is not None and scope.kind == "project" and scope.project:
        own = f"{PROJECT}{scope.project}"
        models = [
            model
            for model in models
            if own in model.tags or not any(tag.startswith(PROJECT) for tag in model.tags)
        ]
    return sorted((replace(model) for model in models), key=lambda model: model.name)
