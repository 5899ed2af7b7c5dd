"""What must not be written is in no file between two hooks of a turn, nor after it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

OFF = {"HINDSIGHT_MEM_DAEMON": "off"}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
SECRET = "ghp_" + "a1B2" * 9


def holding(hooks: Any, words: str) -> list[str]:
    files = [path for path in hooks.home.rglob("*") if path.is_file()]
    return [str(path) for path in files if words.encode() in _read(path)]


def _read(path):
    """A temporary file of the daemon may be gone before it is read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


@pytest.mark.parametrize("env", [OFF, {}], ids=["alone", "daemon"])
def test_a_prompt_whose_turn_has_not_ended_is_kept_without_what_is_private(
    hooks: Any, env: dict[str, str]
) -> None:
    hooks.learn("The API gateway listens on port 8443 behind nginx.")
    said = f"The word is otter <private>and heron</private> with {SECRET}."
    hooks.run("UserPromptSubmit", hooks.prompt(prompt=said), **env)
    between = [holding(hooks, word) for word in ("heron", SECRET)]
    hooks.run("Stop", hooks.prompt(last_assistant_message="Noted."), **env)
    hooks.run("SessionEnd", hooks.prompt(reason="other"), **env)

    assert between == [[], []]
    assert hooks.until(lambda: holding(hooks, "word is otter"))
    assert [holding(hooks, word) for word in ("heron", SECRET)] == [[], []]


@pytest.mark.spec("s1/S-RET-4", "s1/S-SES-2")
@pytest.mark.parametrize("env", [OFF, {}], ids=["alone", "daemon"])
@pytest.mark.parametrize("how", ["a mark", "its mode"])
def test_of_a_turn_that_is_left_out_nothing_is_written(
    hooks: Any, env: dict[str, str], how: str
) -> None:
    hooks.learn("The API gateway listens on port 8443 behind nginx.")
    hooks.run("UserPromptSubmit", hooks.prompt(prompt="The word is otter."), **env)
    hooks.run("Stop", hooks.prompt(last_assistant_message="Noted."), **env)
    said = "Which port has the API gateway? The word is heron."
    if how == "its mode":
        # The turn before it is durable behind the reply.
        assert hooks.until(lambda: "2 waiting" in hooks.mem("sessions", "list"))
        hooks.mem("sessions", "set", "s-1", "--mode", "read-only")
    else:
        said += " #nomem"
    recalled = hooks.run("UserPromptSubmit", hooks.prompt(prompt=said), **env)
    between = holding(hooks, "heron")
    hooks.run("Stop", hooks.prompt(last_assistant_message="About the heron: 8443."), **env)
    hooks.run("SessionEnd", hooks.prompt(reason="other"), **env)

    assert "8443" in str(recalled)
    assert hooks.until(lambda: holding(hooks, "word is otter"))
    assert between == []
    assert holding(hooks, "heron") == []
