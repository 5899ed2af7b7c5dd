from __future__ import annotations

import pytest

from hindsight_core.hookspecs import hookimpl
from hindsight_core.plugins import load_hooks
from hindsight_core.turns import Plan, Turn


class Planner:
    @hookimpl
    def hindsight_plan_recall(self, turn):
        return Plan(reason="as traced")


async def test_a_trace_shows_hook_implementation_arguments_result_and_time(install, capsys):
    install("raising")
    hooks = load_hooks(env={"HINDSIGHT_MEM_TRACE": "1"})
    hooks.register_builtin(Planner())
    await hooks.plan_recall(Turn("t1", "s1", "x" * 5000))
    lines = [line for line in capsys.readouterr().err.splitlines() if "plan_recall" in line]
    assert len(lines) == 2
    assert "hindsight-raising:raising(turn=Turn(id='t1'" in lines[0]
    assert "FAILED, ValueError: no plan today" in lines[0] and " ms]" in lines[0]
    assert "hindsight-core:Planner" in lines[1] and "as traced" in lines[1]
    assert all(len(line) < 400 for line in lines)


async def test_secrets_are_not_traced(capsys):
    secret = "ghp_" + "A1b2C3d4E5" * 4
    hooks = load_hooks(env={"HINDSIGHT_MEM_TRACE": "1", "HINDSIGHT_MEM_PLUGINS": ""})
    hooks.register_builtin(Planner())
    await hooks.plan_recall(Turn("t1", "s1", f"token {secret}"))
    written = capsys.readouterr().err
    assert "plan_recall" in written and secret[:20] not in written


@pytest.mark.parametrize("value", ["", "0", "false"])
async def test_no_trace_unless_asked_for(value, capsys):
    hooks = load_hooks(env={"HINDSIGHT_MEM_TRACE": value, "HINDSIGHT_MEM_PLUGINS": ""})
    hooks.register_builtin(Planner())
    await hooks.plan_recall(Turn("t1", "s1", "x"))
    assert capsys.readouterr().err == ""
