from __future__ import annotations

import subprocess
import sys


def test_help_lists_every_command_and_imports_none(mem):
    from hindsight_core.cli.main import COMMANDS

    said = mem("--help")
    assert said.code == 0
    assert all(name in said.out for name in COMMANDS)


def test_an_unknown_command_is_a_usage_error(mem):
    said = mem("forget-everything")
    assert said.code == 2
    assert "No such command" in said.err


def test_a_wrong_option_is_a_usage_error(mem):
    assert mem("recall", "x", "--nope").code == 2


def test_a_closed_pipe_is_no_traceback(mem):
    mem("remember", "--help")
    done = subprocess.run(
        f"{sys.executable} -m hindsight_core config show | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
