"""Settings of what surrounds the memory: safety, budget, logs, plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from hindsight_core.config.settings.base import Count, Names, Positive, Section


class Security(Section):
    """What never gets into the memory."""

    redact_secrets: bool = Field(default=True, description="Mask secrets on every path.")
    max_fact_characters: Positive = Field(1200, description="Longest fact kept.")
    private_paths: Names = Field((), description="Paths whose content is never remembered.")
    opt_out_marks: Names = Field(
        ("#nomem",), description="Words in a message that keep its turn from being written."
    )


class Budget(Section):
    """Bounds of automatic work; unlimited unless given."""

    tokens_per_day: Count | None = Field(None, description="Tokens a day.")
    tokens_per_session: Count | None = Field(None, description="Tokens a session.")
    calls_per_turn: Count | None = Field(None, description="Model calls a turn.")


class Log(Section):
    """Logs under the home's `logs`."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="Least level in the log file."
    )
    activity: bool = Field(default=True, description="Keep the activity log.")
    include_text: bool = Field(default=False, description="With prompts and facts in it.")
    per_session: bool = Field(
        default=False,
        description="What active memory does also in a file beside the host's session file.",
    )


class Status(Section):
    """The widget, which is one line, and notices."""

    style: Literal["off", "text", "emoji", "nerdfont"] = Field("emoji", description="Its signs.")
    max_length: Positive = Field(72, description="Its width in columns.")
    refresh_ms: Annotated[int, Field(ge=1000)] = Field(
        20000, description="How often the counts are asked for."
    )
    notify_startup: bool = Field(default=True, description="Tell when memory is ready.")
    notify_recall: bool = Field(default=False, description="Tell what was recalled.")
    notify_retain: bool = Field(default=True, description="Tell what was stored.")


class Plugins(Section):
    """Which plugins load; their own sections stand beside these keys."""

    load: Names = Field((), description="Order of plugins; template packs follow it.")
    block: Names = Field((), description="Plugins that are not loaded.")
    hook_timeout_ms: Positive = Field(2000, description="Limit of one call of a plugin.")
    sections: Mapping[str, Any] = Field(
        default_factory=dict, description="Plugin -> its own validated section."
    )
