"""A project with a bank, and a panel over it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.config.layers import load
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact
from hindsight_core.panel.book import make_tabs
from hindsight_core.panel.keys import key
from hindsight_core.panel.lines import drawn
from hindsight_core.panel.panel import Panel
from hindsight_core.panel.view import PanelView
from hindsight_core.runtime import Runtime


class Screen:
    """A person at a panel: presses keys, reads lines."""

    def __init__(self, view: PanelView) -> None:
        self.view = view
        self.size = (100, 40)
        self.redrawn = 0
        self.panel = Panel(partial(make_tabs, view), changed=self._changed)

    def _changed(self) -> None:
        self.redrawn += 1

    async def press(self, *names: str) -> None:
        for name in names:
            await self.panel.key(key(name))
            await self.done()

    async def type(self, text: str) -> None:
        await self.panel.key(key("text", text=text))

    async def done(self) -> None:
        """Whatever was started has ended."""
        job = self.panel.tab.job
        if job is not None:
            await job

    @property
    def lines(self) -> list[str]:
        width, height = self.size
        return drawn(self.panel.lines(width, height), width=width, colour=False)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def body(self) -> list[str]:
        return [line for line in self.lines[2:-2] if line]

    @property
    def said(self) -> str:
        return self.lines[-2]

    async def go(self, title: str) -> None:
        while self.panel.tab.title != title:
            await self.press("tab")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main")
    monkeypatch.setenv("HINDSIGHT_MEM_HOME", str(tmp_path / "memory"))
    return folder


@pytest.fixture
def read(project: Path) -> Callable[[], Any]:
    """The configuration of a session in the project, which the host trusts."""
    return partial(load, cwd=project, host="pi", trusted=True)


@pytest.fixture
async def view(project: Path, read: Callable[[], Any]) -> AsyncIterator[PanelView]:
    (project / ".hindsight").mkdir()
    (project / ".hindsight/config.toml").write_text('[bank]\nid = "auto"\n')
    loaded = read()
    runtime = Runtime(loaded)
    yield PanelView(loaded=loaded, state="active", reason=None, runtime=runtime, reload=read)
    await runtime.close()


@pytest.fixture
async def dormant(read: Callable[[], Any]) -> PanelView:
    """The same project where no bank is declared."""
    reason = "No bank is declared for this project."
    return PanelView(loaded=read(), state="dormant", reason=reason, runtime=None, reload=read)


@pytest.fixture
async def screen(view: PanelView) -> AsyncIterator[Screen]:
    screen = Screen(view)
    await screen.panel.open()
    await screen.done()
    yield screen
    screen.panel.close()


@pytest.fixture
def show() -> Callable[[PanelView], Screen]:
    return Screen


@pytest.fixture
def learn(view: PanelView) -> Callable[..., Any]:
    """Stores facts in one document; gives their ids."""

    async def store(*texts: str, document: str = "given") -> list[str]:
        assert view.runtime is not None
        facts = tuple(Fact(id=fact_id(text), text=text) for text in texts)
        await view.runtime.bank.retain(Document(id=document, text="", facts=facts))
        return [fact.id for fact in facts]

    return store
