"""Where there is no widget, the status line says why."""

from __future__ import annotations

from typing import Any

from hindsight_core.engine.opening import Opening, open_session
from hindsight_core.engine.status import line


def opened(folder: Any, **env: str) -> Opening:
    params = {"cwd": str(folder), "session": {"id": "s"}}
    return open_session(params, host="generic", env=env)


def test_inactive_states_are_named(tmp_path: Any) -> None:
    folder = tmp_path / "demo"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main")

    assert line(None, None) == "memory: not initialized"
    assert line(opened(folder), None) == "🧠 ○ demo · dormant"
    assert line(opened(folder, HINDSIGHT_MEM_OFF="1"), None).endswith("· off")
