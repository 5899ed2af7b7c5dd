"""What an agent is told of the memory: its skill file, the MCP server's instructions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.prompts import Prompts


def companion(stage: str, *, server: str) -> str:
    """A companion text, in the user's own words where they have overridden the template.

    Args:
        stage: The template.
        server: The name that the MCP server has in the agent.
    """
    from hindsight_core.prompt_contexts import Companion

    return _prompts().render(stage, Companion(server=server)).text


def _prompts() -> Prompts:
    from hindsight_core.configure import configure
    from hindsight_core.prompts import Prompts

    try:
        loaded, hooks = configure(cwd=Path.cwd(), env=os.environ, claim=False)
    except HindsightError:
        # What is wrong with the configuration is said elsewhere; the packaged text will do.
        return Prompts()
    return Prompts.from_loaded(loaded, plugin_dirs=hooks.template_dirs(loaded.settings))
