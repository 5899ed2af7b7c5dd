"""What a person sees of memory in the real pi: widget, panel, commands, recalled facts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

GATEWAY = "The API gateway listens on port 8443 behind nginx."
CHINESE = "数据库服务器在端口 5432 上运行，备份每晚进行。"
ASK = "Which port does the API gateway listen on?"
TITLES = ["Status", "Settings", "Review", "Log", "Facts"]


def widgets(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("🧠")]


def panel(lines: list[str]) -> list[str]:
    """The lines of the panel, from its strip to its hints."""
    first = next(at for at, line in enumerate(lines) if "Settings" in line or "/5 " in line)
    last = next(at for at, line in enumerate(lines) if at > first and "esc" in line)
    return lines[first : last + 1]


def opened(terminal: Any) -> None:
    terminal.press("M-h")
    terminal.until("[Status]")


@pytest.mark.spec("pi/U-40", "pi/U-45", "pi/U-48", "pi/TC-12", "br/BR-50")
def test_the_widget_and_the_recalled_facts(pi: Any, pi_screen: Any) -> None:
    pi.learn(GATEWAY, CHINESE)
    terminal = pi_screen()
    ready = terminal.until("🧠 ● proj ↙↗ 0d 2f")
    assert any('bank "proj" ready' in line for line in ready)
    assert len(widgets(ready)) == 1

    terminal.type(ASK)
    terminal.press("Enter")
    lines = terminal.until("recalled 1 of")
    lines = terminal.until("0d 2f · ↙ recall by words · ")
    (widget,) = widgets(lines)
    assert "→1 · " in widget
    assert cell_len(widget) <= 72
    assert not any("memory:" in line for line in lines)
    session = "".join(file.read_text() for file in pi.session_files())
    assert GATEWAY not in session


@pytest.mark.spec("pi/U-01", "pi/U-10", "pi/U-11", "pi/TC-11", "pi/U-12")
@pytest.mark.parametrize("opener", ["command", "shortcut"])
def test_the_panel_opens_on_status_and_keeps_its_height(
    pi: Any, pi_screen: Any, opener: str
) -> None:
    pi.learn(*[f"Fact number {n} is about something else." for n in range(30)], CHINESE)
    terminal = pi_screen()
    terminal.until("🧠 ● proj")
    if opener == "command":
        terminal.type("/mem")
        terminal.until("memory: status, settings, review, log, facts")
        terminal.press("Enter")
    else:
        terminal.press("M-h")

    heights = set()
    for title in TITLES:
        lines = terminal.until(f"[{title}]")
        heights.add(len(panel(lines)))
        terminal.press("Tab")
    terminal.until("[Status]")
    assert heights == {15}
    terminal.press("BTab")
    terminal.until("[Facts]")
    terminal.press("Down")
    lines = terminal.until("esc back")
    assert CHINESE in "\n".join(lines)
    assert re.search(r"… \d+ more lines", "\n".join(lines))
    terminal.press("Escape")
    terminal.until("enter open")
    terminal.press("Escape")
    terminal.until(lambda lines: not any("Settings" in line for line in lines))
    assert len(widgets(terminal.screen())) == 1


@pytest.mark.spec("pi/U-20", "pi/U-24", "pi/C-15")
def test_a_setting_is_written_and_counts_after_a_reload(pi: Any, pi_screen: Any) -> None:
    terminal = pi_screen()
    terminal.until("🧠 ● proj ↙↗")
    opened(terminal)
    terminal.press("Tab")
    terminal.until("[Settings]")
    terminal.press("Down", "Down", "Enter")
    terminal.until("written to")
    assert "enabled = false" in (pi.memory / "config.toml").read_text()

    terminal.press("Escape")
    terminal.until("enter open")
    terminal.press("Escape")
    terminal.until(lambda lines: not any("[Settings]" in line for line in lines))
    terminal.type("/reload")
    terminal.press("Enter")
    terminal.until(lambda lines: any(re.match(r"🧠 ● proj ↙ ", line) for line in lines))


@pytest.mark.spec("pi/F-05")
def test_a_fact_is_edited_in_pis_own_editor_and_retired(pi: Any, pi_screen: Any) -> None:
    pi.learn(GATEWAY)
    terminal = pi_screen()
    terminal.until("🧠 ● proj")
    opened(terminal)
    terminal.press("BTab")
    terminal.until("1 of 1")
    terminal.press("Enter", "e")
    terminal.until("enter submit")
    terminal.type(" It moved to 9100.")
    terminal.press("Enter")
    terminal.until("changed: ")
    assert pi.facts() == [f"{GATEWAY} It moved to 9100."]

    terminal.press("x")
    terminal.until("why retire it")
    terminal.type("it was shut down")
    terminal.press("Enter")
    terminal.until("retired: ")
    assert pi.facts() == []


@pytest.mark.spec("pi/U-11", "pi/U-40")
def test_a_narrow_terminal_and_one_that_changes(pi: Any, pi_screen: Any) -> None:
    pi.learn(*[f"{CHINESE} {n}" for n in range(20)])
    terminal = pi_screen(size=(44, 24))
    terminal.until("🧠 ● proj")
    opened(terminal)
    terminal.press("BTab", "Down")
    lines = terminal.until("[fact]")
    assert all(cell_len(line) <= 44 for line in lines)

    terminal.resize(90, 40)
    wide = terminal.until(lambda lines: any("─" * 80 in line for line in panel(lines)))
    assert CHINESE in "\n".join(wide)
    terminal.resize(30, 24)
    lines = terminal.until(lambda lines: "5/5" in "\n".join(lines))
    assert all(cell_len(line) <= 30 for line in lines)


@pytest.mark.spec("pi/U-01", "pi/C-13", "pi/U-24")
def test_a_dormant_project_has_no_widget_and_is_declared_in_the_panel(
    pi: Any, pi_screen: Any
) -> None:
    (pi.memory / "config.toml").write_text("")
    terminal = pi_screen("--approve")
    terminal.until("0.0%/200k")
    terminal.type("/mem-save")
    terminal.press("Enter")
    lines = terminal.until("did nothing")
    assert "/mem, Settings" in " ".join(lines)
    assert widgets(lines) == []

    terminal.type("/mem")
    terminal.press("Escape", "Enter")
    terminal.until("INACTIVE")
    terminal.press("Tab", "Enter", "Enter")
    terminal.until("\nbank.id:")
    terminal.type("shop")
    terminal.press("Enter")
    terminal.until("written to")
    assert 'id = "shop"' in (pi.project / ".hindsight/config.toml").read_text()
    terminal.press("Escape")
    terminal.until("enter open")
    terminal.press("Escape")
    terminal.until(lambda lines: not any("[Settings]" in line for line in lines))
    terminal.type("/reload")
    terminal.press("Enter")
    terminal.until("🧠 ● shop ↙↗")


@pytest.mark.spec("pi/U-04")
@pytest.mark.parametrize("flag", ["--mem-only-tools", "--no-session"])
def test_tools_only_draws_nothing_and_has_no_commands(pi: Any, pi_screen: Any, flag: str) -> None:
    pi.learn(GATEWAY)
    terminal = pi_screen(flag)
    terminal.until("0.0%/200k")
    terminal.type(ASK)
    terminal.press("Enter")
    lines = terminal.until("Understood.")
    assert widgets(lines) == []
    terminal.type("/mem")
    terminal.until("/mem")
    assert "memory: status" not in "\n".join(terminal.screen())


@pytest.mark.spec("pi/S-03")
def test_a_second_copy_in_the_same_process_stands_down(pi: Any) -> None:
    pi.mem("install", "pi")
    pi.learn(GATEWAY)
    copy = pi.project.parent / "copy"
    subprocess.run(["cp", "-r", str(pi.memory / "shims/pi"), str(copy)], check=True)
    rpc = pi.rpc("-e", str(copy / "index.ts"))
    rpc.prompt(ASK)

    listed = subprocess.run(
        ["ps", "-ww", "-o", "args=", "--ppid", str(rpc.process.pid)],
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    assert listed.count("bridge --host pi") == 1
    request = pi.server.conversation()[-1]
    names = [tool["function"]["name"] for tool in request.body["tools"]]
    assert names.count("hindsight_recall") == 1
    assert rpc.close() == 0


@pytest.mark.spec("pi/U-01")
def test_rpc_clients_get_the_line_and_no_panel(pi: Any) -> None:
    pi.mem("install", "pi")
    rpc = pi.rpc()
    rpc.wait(lambda e: e.get("method") == "setWidget" and "● proj" in str(e.get("widgetLines")))
    names = {command["name"] for command in rpc.command(type="get_commands")["data"]["commands"]}
    rpc.send(type="prompt", message="/mem")
    told = rpc.wait(lambda e: e.get("method") == "notify" and "panel" in e["message"])

    assert "mem" in names
    assert "hindsight-mem panel" in told["message"]
    assert rpc.close() == 0
    assert Path(pi.memory / "shims/pi/screen.js").is_file()
