"""What the user wrote about memory in opencode's own configuration, for work outside of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hindsight_core.jsonc import JsonSyntaxError, JsonText
from hindsight_host_opencode.install import ORIGINAL, PROFILE, SERVER
from hindsight_host_opencode.places import NAMES, OLDER

Json = dict[str, Any]
_BLOCK = "hindsight"


def options_in(folder: Path) -> Json:
    """The plugin's options and the agents' blocks, in the form that the shim passes on.

    Args:
        folder: The user's configuration folder of opencode; a file that cannot be parsed says
            nothing, opencode itself complains about it.
    """
    found: Json = {}
    agents: Json = {}
    for name in (OLDER, *NAMES):
        config = _config(folder / name)
        for spec, options in _plugins(config.get("plugin")):
            if ORIGINAL in spec.lower():
                ours = Path(spec).name == SERVER
                found |= options if ours else {"profile": PROFILE, **options}
        agents |= dict(_blocks(config.get("agent")))
    given = found.get("agents")
    blocks = {**(given if isinstance(given, dict) else {}), **agents}
    return found | {"agents": blocks} if blocks else found


def _plugins(listed: object) -> Iterator[tuple[str, Json]]:
    for item in listed if isinstance(listed, list) else []:
        spec, options = item if isinstance(item, list) and len(item) == 2 else (item, {})
        if isinstance(spec, str):
            yield spec, options if isinstance(options, dict) else {}


def _blocks(agents: object) -> Iterator[tuple[str, Json]]:
    for name, agent in agents.items() if isinstance(agents, dict) else ():
        if not isinstance(agent, dict):
            continue
        options = agent.get("options")
        inner = options.get(_BLOCK) if isinstance(options, dict) else None
        parts = [part for part in (agent.get(_BLOCK), inner) if isinstance(part, dict)]
        if parts:
            yield name, {key: value for part in parts for key, value in part.items()}


def _config(path: Path) -> Mapping[str, Any]:
    try:
        found = JsonText(path.read_text("utf-8")).value
    except (OSError, UnicodeDecodeError, JsonSyntaxError):
        return {}
    return found if isinstance(found, dict) else {}
