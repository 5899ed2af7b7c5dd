"""A session of pi whose plugin is replaced: what it had sent is not sent again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from hindsight_core import hookimpl
from hindsight_core.banks.base import Capabilities
from hindsight_core.testing.memory_bank import FakeBank
from hindsight_core.testing.session import live_session
from hindsight_core.testing.transcripts import TranscriptBuilder

FILE = "/sessions/1.jsonl"
KEY = hashlib.sha256(FILE.encode()).hexdigest()[:16]


class Session:
    def __init__(self, new_memory: Any, *, cursors: str, trusted: bool, backend: str) -> None:
        bank = self.bank = FakeBank("shop", capabilities=Capabilities(extracts=True))
        bank.backend = backend

        class Plugin:
            @hookimpl
            def hindsight_register_banks(self, register: Any) -> None:
                register("kept", lambda settings, services: bank)

        settings = {
            "bank": {"id": "shop", "backend": "kept"},
            "memorize": {"mode": ["transcript"], "every_turns": 1},
        }
        self.memory = new_memory(Plugin(), settings=settings)
        runtime = self.memory.runtime
        folder = runtime.loaded.paths.home.parent / "project"
        path = folder / ".pi/hindsight/retain-cursors.json"
        path.parent.mkdir(parents=True)
        path.write_text(cursors)
        project = replace(runtime.loaded.project, trusted=trusted, root=folder)
        runtime.loaded = replace(runtime.loaded, project=project)
        self.notices: list[str] = []
        self.live = live_session(
            runtime, session_id="s1", file=FILE, tell=lambda _, text: self.notices.append(text)
        )

    def resume(self) -> list[str]:
        """Go on with a session of two turns; what was sent, at the end."""
        talk = TranscriptBuilder()
        for number in (1, 2):
            talk.user(f"question {number}")
            talk.assistant(f"answer {number}")
        run = self.memory.run
        run(self.live.started("resume", {"entries": talk.wire()}))
        talk.user("question 3")
        talk.assistant("answer 3")
        run(self.live.turn_end({"entries": talk.wire()}))
        run(self.live.end("quit", timeout_s=10))
        return [document.text for document in self.bank.documents.values()]


def cursors(count: int) -> str:
    return json.dumps({"version": 3, "sessions": {KEY: {"index": count - 1, "messageIds": []}}})


@pytest.mark.spec("s1/S-CUR-4")
def test_the_session_goes_on_where_the_plugin_stood(new_memory: Any) -> None:
    session = Session(new_memory, cursors=cursors(4), trusted=True, backend="hindsight")
    [sent] = session.resume()
    assert "question 3" in sent and "question 2" not in sent


@pytest.mark.parametrize(("trusted", "backend"), [(False, "hindsight"), (True, "sqlite")])
def test_a_project_without_trust_and_a_bank_without_its_documents_change_nothing(
    new_memory: Any, trusted: bool, backend: str
) -> None:
    session = Session(new_memory, cursors=cursors(4), trusted=trusted, backend=backend)
    assert "".join(session.resume()).count("question") == 3


@pytest.mark.spec("s1/S-CUR-5")
def test_a_broken_file_is_told_and_the_session_is_kept(new_memory: Any) -> None:
    session = Session(new_memory, cursors="{", trusted=True, backend="hindsight")
    assert "".join(session.resume()).count("question") == 3
    assert any("stored twice" in notice for notice in session.notices)
