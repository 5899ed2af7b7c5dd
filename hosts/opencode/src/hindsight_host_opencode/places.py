"""Where opencode keeps its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hindsight_core.host import InstallRequest

NAMES = ("opencode.json", "opencode.jsonc")
# An older name of the user's own file, still read.
OLDER = "config.json"


def config_dir(request: InstallRequest) -> Path:
    """The user's folder of configuration."""
    return user_config(request.env)


def user_config(env: Mapping[str, str]) -> Path:
    """``$XDG_CONFIG_HOME/opencode`` or ``~/.config/opencode``."""
    home = Path(env.get("HOME") or Path.home())
    configured = env.get("XDG_CONFIG_HOME")
    return (Path(configured) if configured else home / ".config") / "opencode"


def server_files(request: InstallRequest) -> list[Path]:
    """Files that may list server plugins: those that exist, else the one to make."""
    if request.project is not None:
        folders = (request.project, request.project / ".opencode")
        places = [folder / name for folder in folders for name in NAMES]
    else:
        places = [config_dir(request) / name for name in (*NAMES, OLDER)]
    return [path for path in places if path.exists()] or places[:1]


def tui_file(request: InstallRequest) -> Path:
    """The file that lists plugins of the terminal."""
    if request.project is not None:
        return request.project / ".opencode" / "tui.json"
    configured = request.env.get("OPENCODE_TUI_CONFIG")
    return Path(configured) if configured else config_dir(request) / "tui.json"
