"""Whatever happens to a session's path, each wording of each entry is sent once."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from hindsight_core.state.retention import prune
from hindsight_core.testing.transcripts import TranscriptBuilder
from hindsight_core.transcript.entry import Entry, Text


class History:
    """A session that is continued, edited, branched, compacted and carried on elsewhere."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.path: list[Entry] = []
        self.every: set[str] = set()
        self._number = 0

    def step(self) -> None:
        """One thing that happens to the path."""
        kind = self.random.choice(["say", "say", "say", "edit", "branch", "compact"])
        if kind == "edit" and self.path:
            self._edit(self.random.randrange(len(self.path)))
        elif kind == "branch" and len(self.path) > 2:
            del self.path[self.random.randrange(1, len(self.path)) :]
            self._say()
        elif kind == "compact" and len(self.path) > 4:
            del self.path[: self.random.randrange(1, len(self.path) - 2)]
            self._say()
        else:
            self._say()
        self.every |= {entry.text for entry in self.path}

    def _say(self) -> None:
        for _ in range(self.random.randint(1, 2)):
            for role in ("user", "assistant"):
                self._number += 1
                talk = TranscriptBuilder()
                entry = getattr(talk, role)(f"<{self._number}.0>")
                self.path.append(replace(entry, id=f"x{self._number}", parent_id=None))

    def _edit(self, at: int) -> None:
        old = self.path[at]
        number, version = old.text.strip("<>").split(".")
        words = f"<{number}.{int(version) + 1}>"
        # What stood there may come back, as it does when an edit is undone.
        self.path[at] = replace(old, parts=(Text(words),))


@pytest.mark.spec("s1/S-CUR-1", "s1/S-CUR-2", "s1/S-CUR-3", "s1/S-RET-4")
@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("document", ["window", "session"])
async def test_each_wording_is_sent_once(
    sender: Any, server: Any, growing: Any, clock: Any, seed: int, document: str
) -> None:
    bank = server if document == "window" else growing
    options = {"document": document, "update_mode": "append"}
    history, kit = History(seed), sender(bank=bank, retain=options)
    for _ in range(14):
        history.step()
        if history.random.random() < 0.3:
            kit = sender(bank=bank, retain=options)
        if history.random.random() < 0.1:
            clock.advance(days=91)
            await prune(kit.queue, kit.memorizer._parts.sessions, clock=clock)
        reports = await kit.remember(history.path)
        assert all(report.outcome in ("stored", "known", "empty") for report in reports)
        clock.advance(60)

    sent = "\n".join(document.text for document in bank.got)
    assert {text: sent.count(text) for text in history.every} == dict.fromkeys(history.every, 1)


@pytest.mark.spec("oc/O-CMP-5", "oc/O-CA-3")
@pytest.mark.parametrize("seed", range(16))
async def test_documents_that_are_replaced_hold_all_of_the_path(
    sender: Any, server: Any, clock: Any, seed: int
) -> None:
    options = {"document": "session", "document_name": "{session}", "update_mode": "replace"}
    history, kit = History(seed), sender(bank=server, retain=options)
    for _ in range(14):
        history.step()
        if history.random.random() < 0.3:
            kit = sender(bank=server, retain=options)
        await kit.remember(history.path)
        clock.advance(60)
        held = "\n".join(document.text for document in server.documents.values())
        assert [entry.text for entry in history.path if entry.text not in held] == []
