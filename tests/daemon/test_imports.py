"""What a spawned hook imports: its agent waits for it at every turn."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CLIENT = (
    "import sys; before = set(sys.modules); import hindsight_core.cli.entry, "
    "hindsight_core.daemon.client; "
)
ALONE = (
    "import sys; before = set(sys.modules); import os; "
    "from hindsight_core.daemon.local import answer_here; "
    "said = answer_here('claude-code', 'UserPromptSubmit', sys.stdin.buffer.read(), "
    "cwd=os.getcwd()); assert b'8443' in said, said; "
)
TELL = "found = sorted(set(sys.modules) - before); import json; print(json.dumps(found))"


@pytest.fixture
def imported(hooks):
    def run(code: str, payload: object) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-P", "-c", code + TELL],
            cwd=hooks.project, env=hooks.env, input=json.dumps(payload).encode(),
            capture_output=True, check=True,
        )  # fmt: skip
        found: list[str] = json.loads(done.stdout)
        return found

    return run


def test_the_client_needs_next_to_nothing(imported):
    found = imported(CLIENT, {})
    assert {name for name in found if not name.startswith("hindsight_core")} <= {"__future__"}
    assert len(found) < 10


def test_an_answer_without_a_daemon_leaves_out_what_a_prompt_does_not_need(hooks, imported):
    hooks.learn("The API gateway listens on port 8443 behind nginx.")
    found = set(imported(ALONE, hooks.prompt()))
    heavy = {"click", "rich", "httpx", "numpy", "importlib_metadata", "platformdirs", "mcp"}
    late = {
        "hindsight_core.prompt_contexts",
        "hindsight_core.engine.commands.book",
        "hindsight_core.engine.tools.box",
        "hindsight_core.engine.reviewing",
        "hindsight_core.panel",
        "hindsight_core.daemon.spare",
        "hindsight_host_generic.install.plan",
    }
    assert found & (heavy | late) == set()
