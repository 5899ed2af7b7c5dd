"""Settings of the agent's tools: which ones, and how much they can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from hindsight_core.config.settings.base import Section, split_names

FurtherTool = Literal["status", "scope", "config", "bank", "mental_model"]


class Tools(Section):
    """The agent's tools."""

    further: Annotated[tuple[FurtherTool, ...], BeforeValidator(split_names)] = Field(
        (),
        description="Tools besides recall, retain, reflect and forget: `status`, `scope`, "
        "`config`, `bank`, `mental_model`.",
    )
    parameters: Literal["short", "full"] = Field(
        "short", description="`full` also lets the agent set scores, tag groups and metadata."
    )
    memory: bool = Field(
        default=False,
        description="Also the tools and slash commands of active memory: `memory_search`, "
        "`memory_store_result`, `memory_correct`, `memory_feedback`, `/memory` ...",
    )
