"""Banks that find facts themselves: one whose documents grow, and an older one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from hindsight_core.banks.base import Capabilities
from hindsight_core.memory import Document, Receipt
from hindsight_core.testing.memory_bank import FakeBank
from hindsight_core.testing.transcripts import TranscriptBuilder


class Server(FakeBank):
    """Takes texts as they are; every write that reached it is in `got`, in order."""

    def __init__(self, bank_id: str = "shop-bank", **options: object) -> None:
        super().__init__(bank_id, capabilities=Capabilities(extracts=True), **options)
        self.got: list[Document] = []

    async def retain(self, document: Document) -> Receipt:
        receipt = await super().retain(document)
        self.got.append(document)
        return receipt

    @property
    def texts(self) -> list[str]:
        return [document.text for document in self.documents.values()]


class GrowingServer(Server):
    """Adds to documents, each operation once."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)
        self.operations: list[str | None] = []

    async def appends(self) -> bool:
        return self.failing is None

    async def append(self, document: Document, *, operation: str | None = None) -> Receipt:
        self._call("append")
        if operation in self.operations:
            return Receipt("known", document.id)
        self.operations.append(operation)
        self.got.append(document)
        before = self.documents.get(document.id)
        text = f"{before.text}\n{document.text}" if before else document.text
        self.documents[document.id] = replace(document, text=text)
        return Receipt("stored", document.id)


@pytest.fixture
def server(clock):
    return Server(clock=clock)


@pytest.fixture
def growing(clock):
    return GrowingServer(clock=clock)


@pytest.fixture
def sender(kit):
    """A pipeline whose only source is the transcript."""

    def make(
        *, every_turns: int = 1, retain: dict | None = None, gate: object = None, **options: object
    ):
        memorize = {"mode": ["transcript"], "every_turns": every_turns}
        made = kit(memorize=memorize, retain=retain or {}, **options)
        made.outbox._gate = gate
        return made

    return make


@pytest.fixture
def spoken():
    """A session of so many turns: questions and answers."""

    def make(count: int, *, talk: TranscriptBuilder | None = None) -> TranscriptBuilder:
        talk = talk or TranscriptBuilder()
        start = sum(entry.role == "user" for entry in talk.path)
        for number in range(start + 1, start + count + 1):
            talk.user(f"question {number}")
            talk.assistant(f"answer {number}")
        return talk

    return make


@pytest.fixture
def occurrences():
    """How often each text stands in what a server got."""

    def count(documents: Sequence[Document], *texts: str) -> list[int]:
        return [sum(text in document.text for document in documents) for text in texts]

    return count
