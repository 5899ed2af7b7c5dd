"""The panel's state machine: tabs, focus, constant height."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from rich.cells import cell_len

from hindsight_core.panel.panel import body_rows

TITLES = ["Status", "Settings", "Review", "Log", "Facts"]


@pytest.mark.spec("pi/U-10", "pi/TC-11")
async def test_tabs_go_round_from_anywhere(screen: Any) -> None:
    seen = [screen.panel.tab.title]
    for name in ("tab", "right", "tab", "right", "tab"):
        await screen.press(name)
        seen.append(screen.panel.tab.title)
    assert seen == [*TITLES, "Status"]

    await screen.press("shift+tab")
    assert screen.panel.tab.title == "Facts"
    await screen.press("left")
    assert screen.panel.tab.title == "Log"


@pytest.mark.spec("pi/U-10", "pi/TC-11")
async def test_tab_inside_a_list_switches_and_the_focus_is_back_on_the_strip(screen: Any) -> None:
    await screen.press("tab", "enter", "down", "down", "tab")
    assert screen.panel.tab.title == "Review"

    await screen.press("shift+tab")
    assert screen.panel.tab.title == "Settings"
    await screen.press("q")
    assert screen.panel.closed


@pytest.mark.spec("pi/U-10", "pi/TC-11")
async def test_escape_leaves_the_list_and_then_the_panel(screen: Any) -> None:
    await screen.press("tab", "enter", "escape")
    assert not screen.panel.closed
    await screen.press("escape")
    assert screen.panel.closed


@pytest.mark.spec("pi/U-10")
async def test_an_arrow_goes_into_the_list_and_moves(screen: Any) -> None:
    await screen.press("tab", "down")

    assert screen.body[1].startswith("› ")
    await screen.press("enter")
    assert not screen.panel.closed


@pytest.mark.spec("pi/U-10")
async def test_switching_clears_the_message(screen: Any, learn: Any) -> None:
    await learn("A is B.")
    await screen.go("Facts")
    await screen.press("enter", "p")
    assert screen.said.startswith("pinned")

    await screen.press("tab", "shift+tab")
    assert screen.said == ""


@pytest.mark.spec("pi/U-10")
async def test_a_text_input_owns_all_keys(screen: Any) -> None:
    await screen.go("Facts")
    await screen.press("enter", "/", "q", "r", "left", "x", "tab")

    assert screen.panel.tab.title == "Facts"
    assert screen.said.startswith("search: qxr")
    await screen.press("escape")
    assert screen.said == ""
    assert not screen.panel.closed


@pytest.mark.spec("pi/U-10")
async def test_reload_on_the_strip_shows_what_is_new(screen: Any, learn: Any) -> None:
    assert "0 documents, 0 facts" in screen.text
    await learn("A is B.")
    await screen.press("r")

    assert "1 documents, 1 facts" in screen.text


@pytest.mark.spec("pi/U-11")
def test_rows_of_the_body() -> None:
    assert [body_rows(rows) for rows in (24, 32, 40, 60, 0)] == [8, 10, 14, 15, 14]
    assert body_rows(9) == 5


@pytest.mark.spec("pi/U-11", "pi/TC-11")
@pytest.mark.parametrize(("rows", "width"), [(24, 100), (40, 100), (40, 60), (24, 20), (7, 4)])
async def test_the_height_is_constant_and_no_line_is_too_wide(
    screen: Any, learn: Any, rows: int, width: int
) -> None:
    await learn(*[f"数据库服务器 {n} 在端口 {5000 + n} 上运行 🚀 部署 " * 3 for n in range(30)])
    screen.size = (width, rows)
    heights = {len(screen.lines)}
    for _ in TITLES:
        await screen.press("tab", "enter")
        for _ in range(22):
            await screen.press("down")
            heights.add(len(screen.lines))
            assert max(cell_len(line) for line in screen.lines) <= width
    assert len(heights) == 1
    assert heights.pop() <= rows


@pytest.mark.spec("pi/U-11")
async def test_the_last_row_says_how_many_lines_are_left(screen: Any, learn: Any) -> None:
    await learn(*[f"Fact number {n}." for n in range(30)])
    screen.size = (80, 24)
    await screen.go("Facts")

    assert screen.body[-1] == "… 24 more lines"
    await screen.press("enter", "end")
    assert screen.body[-1].startswith("› ")
    assert "more lines" not in screen.text


@pytest.mark.spec("pi/U-01", "pi/C-13")
async def test_every_tab_has_something_to_say_without_a_bank(show: Any, dormant: Any) -> None:
    screen = show(dormant)
    await screen.panel.open()
    for _ in TITLES:
        assert screen.body
        await screen.press("enter", "down", "e", "d", "x", "u", "escape", "tab")
    assert not screen.panel.closed
    assert "INACTIVE" in screen.text


async def test_a_narrow_strip_shows_the_place(screen: Any) -> None:
    screen.size = (30, 24)
    await screen.press("tab")

    assert screen.lines[0] == "2/5  Settings"


@pytest.mark.parametrize(("colour", "height"), list(product([True, False], [24, 40])))
async def test_nothing_in_a_fact_steers_the_terminal(
    screen: Any, learn: Any, colour: bool, height: int
) -> None:
    from hindsight_core.panel.lines import drawn

    await learn("red \x1b[31malert\x07 [bold]markup[/bold] and\ttabs")
    await screen.go("Facts")
    lines = drawn(screen.panel.lines(100, height), width=100, colour=colour)

    text = "\n".join(lines)
    assert "[bold]markup[/bold]" in text
    assert "\x07" not in text
    assert "\x1b[31malert" not in text
    assert ("\x1b[" in text) is colour


async def test_a_text_longer_than_the_screen_is_read_line_by_line(screen: Any, learn: Any) -> None:
    await learn(" ".join(f"word{n}" for n in range(300)) + ".", "B is C.")
    screen.size = (60, 16)
    await screen.go("Facts")
    await screen.press("enter")
    while not any(line.startswith("›") and "word0" in line for line in screen.body):
        await screen.press("down")
    await screen.press("enter")
    assert "word299" not in screen.text
    for _ in range(80):
        await screen.press("down")
        if "word299" in screen.text:
            break
    assert "word299" in screen.text
    assert "word0 " not in screen.text
    for _ in range(80):
        await screen.press("up")
    assert "word0 " in screen.text
    await screen.press("end")
    assert screen.panel.tab.cursor == screen.panel.tab.count() - 1
