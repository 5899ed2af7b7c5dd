"""What a person sees of memory in the real omp: widget, panel, commands, a memory beside ours."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.timeout(200)
GATEWAY = "The API gateway listens on port 8443 behind nginx."
READY = "🧠 ● proj ↙↗ 0d 1f"


def has(*words: str) -> Any:
    return lambda lines: all(word in "\n".join(lines) for word in words)


def test_the_widget_says_what_was_recalled(omp: Any, omp_screen: Any) -> None:
    omp.learn(GATEWAY)
    terminal = omp_screen()
    terminal.until(READY)
    terminal.type("Which port does the API gateway listen on?")
    terminal.press("Enter")

    terminal.until(has("Understood.", "↙ recall by words"))
    terminal.until(lambda lines: [("→1" in li) for li in lines if li.startswith("🧠")] == [True])
    assert GATEWAY not in "".join(file.read_text() for file in omp.session_files())


@pytest.mark.parametrize("opener", ["command", "shortcut"])
def test_the_panel_opens_and_takes_keys(omp: Any, omp_screen: Any, opener: str) -> None:
    omp.learn(GATEWAY)
    terminal = omp_screen()
    terminal.until(READY)
    if opener == "command":
        terminal.type("/mem")
        terminal.until("memory: status, settings, review, log, facts")
        terminal.press("Enter")
    else:
        terminal.press("M-h")

    for title in ("Status", "Settings", "Review", "Log", "Facts"):
        terminal.until(f"[{title}]")
        terminal.press("Tab")
    terminal.until("[Status]")
    terminal.press("Escape")
    terminal.until(lambda lines: not any("[Status]" in line for line in lines))


def test_commands_are_offered_and_answer(omp: Any, omp_screen: Any) -> None:
    omp.learn(GATEWAY)
    terminal = omp_screen()
    terminal.until(READY)
    terminal.type("/mem-re")
    terminal.until(has("mem-recall", "mem-retain"))
    terminal.type("call gateway")
    terminal.press("Enter")

    terminal.until(f"- {GATEWAY}")


def test_beside_omps_own_memory_there_is_one_notice_and_no_widget(
    omp: Any, omp_screen: Any
) -> None:
    omp.settings.write_text(f"{omp.settings.read_text()}memory: {{backend: mnemopi}}\n")
    terminal = omp_screen()

    lines = terminal.until("omp's own memory (memory.backend: mnemopi) is on")

    assert "\n".join(lines).count("Memory is off") == 1
    assert not any(line.startswith("🧠") for line in lines)
