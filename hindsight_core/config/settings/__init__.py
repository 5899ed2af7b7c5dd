"""The whole configuration as one frozen value, `Settings`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from hindsight_core.config.settings.bank import Bank, BankEntry, Hindsight, Qdrant, Scope
from hindsight_core.config.settings.base import Section
from hindsight_core.config.settings.capture import (
    Capture,
    Consolidation,
    Investigation,
    Lifecycle,
    Steer,
)
from hindsight_core.config.settings.decision import Decision
from hindsight_core.config.settings.memorize import Category, Memorize, Queue, Retain, Review
from hindsight_core.config.settings.models import Embeddings, Models
from hindsight_core.config.settings.recall import MentalModels, Recall, Reminder, Tasks
from hindsight_core.config.settings.service import Budget, Log, Plugins, Security, Status
from hindsight_core.config.settings.tools import Tools

__all__ = [
    "Bank",
    "BankEntry",
    "Budget",
    "Capture",
    "Category",
    "Consolidation",
    "Decision",
    "Embeddings",
    "Hindsight",
    "Investigation",
    "Lifecycle",
    "Log",
    "Memorize",
    "MentalModels",
    "Models",
    "Plugins",
    "Qdrant",
    "Queue",
    "Recall",
    "Reminder",
    "Retain",
    "Review",
    "Scope",
    "Section",
    "Security",
    "Settings",
    "Status",
    "Steer",
    "Tasks",
    "Tools",
]


class Settings(Section):
    """Every setting; `hindsight_core.config.layers.load` makes one."""

    profile: str = Field("pi-hindsight", description="Named set of values to start from.")
    enabled: bool = Field(default=True, description="Master switch; false refuses everything.")
    agent_mode: Literal["opt-out", "opt-in"] = Field(
        "opt-out", description="Whether an agent needs a block of its own to have memory."
    )
    bank: Bank = Field(default_factory=Bank)
    scope: Scope = Field(default_factory=Scope)
    hindsight: Hindsight = Field(default_factory=Hindsight)
    qdrant: Qdrant = Field(default_factory=Qdrant)
    models: Models = Field(default_factory=Models)
    embeddings: Embeddings = Field(default_factory=Embeddings)
    recall: Recall = Field(default_factory=Recall)
    mental_models: MentalModels = Field(default_factory=MentalModels)
    tasks: Tasks = Field(default_factory=Tasks)
    reminder: Reminder = Field(default_factory=Reminder)
    tools: Tools = Field(default_factory=Tools)
    memorize: Memorize = Field(default_factory=Memorize)
    retain: Retain = Field(default_factory=Retain)
    queue: Queue = Field(default_factory=Queue)
    decision: Decision = Field(default_factory=Decision)
    capture: Capture = Field(default_factory=Capture)
    investigation: Investigation = Field(default_factory=Investigation)
    lifecycle: Lifecycle = Field(default_factory=Lifecycle)
    steer: Steer = Field(default_factory=Steer)
    consolidation: Consolidation = Field(default_factory=Consolidation)
    security: Security = Field(default_factory=Security)
    budget: Budget = Field(default_factory=Budget)
    review: Review = Field(default_factory=Review)
    log: Log = Field(default_factory=Log)
    status: Status = Field(default_factory=Status)
    agents: Mapping[str, Mapping[str, Any]] = Field(
        default_factory=dict, description="Agent -> any section again, for that agent alone."
    )
    prompts: Mapping[str, str] = Field(
        default_factory=dict, description="Stage -> template text, instead of a file."
    )
    plugins: Plugins = Field(default_factory=Plugins)
