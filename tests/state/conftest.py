"""A queue with everything around it, and a bank that can be made to fail."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from hindsight_core.banks.base import Bank
from hindsight_core.errors import BankError
from hindsight_core.memory import Document, Receipt
from hindsight_core.state.journal import Journal
from hindsight_core.state.outbox import Outbox
from hindsight_core.state.policy import QueuePolicy
from hindsight_core.state.queue import Queue
from hindsight_core.state.sessions import SessionState
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.memory_bank import FakeBank


class TroubledBank(FakeBank):
    """Fails as a whole (`failing`) or for single documents (`poison`)."""

    def __init__(self, bank_id: str = "shop") -> None:
        super().__init__(bank_id)
        self.poison: dict[str, Exception] = {}
        self.stored: list[str] = []

    async def retain(self, document: Document) -> Receipt:
        if document.id in self.poison:
            self.calls.append("retain")
            raise self.poison[document.id]
        receipt = await super().retain(document)
        self.stored.append(document.id)
        return receipt


@dataclass
class Place:
    """What one process has open over a home; `again` is the next process."""

    home: object
    clock: FakeClock
    policy: QueuePolicy = field(default_factory=QueuePolicy)
    opened: list = field(default_factory=list)

    def __post_init__(self) -> None:
        self.queue = Queue(self.home / "queue.db", self.clock, policy=self.policy)
        self.sessions = SessionState(self.home / "state.db", self.clock, self.queue)
        self.outbox = Outbox(self.queue, self.clock)
        self.journal = Journal(self.queue, self.clock)

    def close(self) -> None:
        self.journal.close()
        self.sessions.close()
        self.queue.close()
        for place in self.opened:
            place.close()

    def again(self) -> Place:
        self.opened.append(Place(self.home, self.clock, self.policy))
        return self.opened[-1]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def place(tmp_path, clock):
    place = Place(tmp_path, clock)
    yield place
    place.close()


@pytest.fixture
def bank() -> Bank:
    return TroubledBank()


@pytest.fixture
def away() -> BankError:
    return BankError("no connection")
