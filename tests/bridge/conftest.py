"""Real bridge processes over a home of their own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact
from hindsight_core.testing.bridge import BridgeProcess

GATEWAY = "The API gateway listens on port 8443 behind nginx."
COFFEE = "The office coffee machine is descaled on Fridays."


class Host:
    """A host program: starts bridges, holds a conversation."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self.memory = home / "memory"
        self.project = home / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.env = {**os.environ, "HINDSIGHT_MEM_HOME": str(self.memory)}
        self.env["HINDSIGHT_MEM_BANK__ID"] = "demo"
        self._stack = stack
        self._turns = 0

    async def learn(self, *facts: str) -> None:
        """Put facts into the bank."""
        bank = SqliteBank("demo", self.memory / "banks" / "demo.db")
        held = tuple(Fact(id=fact_id(text), text=text) for text in facts)
        await bank.retain(Document(id="given", text="", facts=held))
        await bank.close()

    async def facts(self) -> list[str]:
        """Texts of the valid facts in the bank."""
        bank = SqliteBank("demo", self.memory / "banks" / "demo.db")
        page = await bank.list_facts(limit=1000)
        await bank.close()
        return [fact.text for fact in page.facts]

    def start(self, *, host: str = "generic", answers: Any = None, **env: str) -> BridgeProcess:
        """A bridge; names of settings in ``env`` are without their prefix."""
        more = {f"HINDSIGHT_{name}": value for name, value in env.items()}
        bridge = BridgeProcess(
            env={**self.env, **more}, cwd=self.project, host=host, answers=answers
        )
        return self._stack.enter_context(bridge)

    def open(
        self,
        bridge: BridgeProcess,
        *,
        session: str = "s1",
        capabilities: dict[str, Any] | None = None,
        reason: str = "startup",
        entries: list[dict[str, Any]] | None = None,
        **more: object,
    ) -> dict[str, Any]:
        """``initialize`` and ``session/start``; the result of the former."""
        opened: dict[str, Any] = bridge.call(
            "initialize",
            {
                "protocol": 1,
                "client": {"name": "test", "version": "1"},
                "cwd": str(self.project),
                "session": {"id": session, **more},
                "capabilities": capabilities or {},
            },
        )
        bridge.call("session/start", {"reason": reason, "entries": entries or []})
        return opened

    def turn(self, bridge: BridgeProcess, prompt: str, **more: object) -> dict[str, Any]:
        """``turn/start``."""
        self._turns += 1
        turn = {"turnId": f"t{self._turns}", "prompt": prompt, "entries": []}
        result: dict[str, Any] = bridge.call("turn/start", turn | more)
        return result


def entry(entry_id: str, role: str, text: str) -> dict[str, Any]:
    """An entry of a conversation."""
    return {"id": entry_id, "role": role, "parts": [{"type": "text", "text": text}]}


@pytest.fixture
def say() -> Callable[..., list[dict[str, Any]]]:
    """Entries of a conversation: texts of the user and the assistant in turn."""

    def conversation(*texts: str, start: int = 0) -> list[dict[str, Any]]:
        return [
            entry(f"e{start + n}", "assistant" if n % 2 else "user", text)
            for n, text in enumerate(texts)
        ]

    return conversation


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A host program with an empty memory."""
    with ExitStack() as stack:
        yield Host(tmp_path, stack)


@pytest.fixture
def judge() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Answers ``host/complete`` like a good model."""

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        replies: dict[str, object] = {
            "recall/queries": {"queries": ["API gateway port"]},
            "recall/judge": {"score": 90, "keep": [1]},
        }
        return {"text": json.dumps(replies.get(params["stage"], {"facts": []})), "model": "x/y"}

    return answer
