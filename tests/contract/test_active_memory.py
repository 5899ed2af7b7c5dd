"""Active memory does the same over every bank: capture, merge, feedback, expiry, consolidation."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from hindsight_core import hookimpl
from hindsight_core.testing import HashEmbedder
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.qdrant import QdrantDouble

pytestmark = [pytest.mark.timeout(300)]
BLUE = "The user's favourite colour is blue."
ORANGE = "The user's favourite colour is orange."
TABS = "The user prefers tabs in Python files."
WIDE = "In Python files the user prefers tabs of width four."
BOTH = "The user prefers tabs of width four in Python files."
SAID = {
    "my favourite colour is blue": BLUE,
    "my favourite colour is orange": ORANGE,
    "I prefer tabs in Python files": TABS,
    "in Python files I prefer tabs of width four": WIDE,
}


class Embeds:
    """A plugin with an embedder that needs no model."""

    @hookimpl
    def hindsight_register_embedders(self, register: Any) -> None:
        register("hash", lambda settings, services: HashEmbedder(512))


def extraction(request: Any) -> dict[str, Any]:
    message = request.messages[0].content.split("[message]")[1]
    return {
        "memories": [
            {
                "text": text,
                "kind": "user_profile",
                "scope": "global",
                "confidence": 0.9,
                "evidence": said,
            }
            for said, text in SAID.items()
            if said in message
        ]
    }


def merge(request: Any) -> dict[str, Any]:
    """Another colour takes the place of the one that is stored."""
    new = request.messages[0].content.split("[new memory]")[1].split("[end of new")[0].strip()
    stored = request.messages[0].content.split("[stored memories]")[1].split("[end of")[0]
    for line in stored.strip().splitlines():
        name, _, text = line.partition(": ")
        if "colour" in text and "colour" in new:
            return {"action": "replace", "target_id": name}
    return {"action": "add"}


REPLIES = {
    "capture/extraction": extraction,
    "capture/validation": {"accept": True, "reason": "it lasts"},
    "capture/merge": merge,
    "capture/consolidate": {"merge": True, "text": BOTH, "reason": "the same wish"},
    "capture/consolidate_validation": {"accept": True, "reason": "nothing is lost"},
    "*": "NONE",
}


class Scenario:
    """One memory over one bank."""

    def __init__(self, memory: Any, clock: FakeClock) -> None:
        self.memory, self.clock = memory, clock
        self.active = memory.runtime.active

    def run(self, work: Any) -> Any:
        return self.memory.run(work)

    def held(self) -> dict[str, Any]:
        """Active memories by text."""
        found = self.run(self.active.of_facts(self.memory.facts()))
        return {m.fact.text: m for m in found if m.fact.state == "valid"}

    def ranked(self, query: str) -> dict[str, float]:
        """Texts with their weighed scores, best first."""
        hits = self.run(self.memory.runtime.recall.search(query, limit=10))
        found = self.run(self.active.weigh(hits))
        return {item.hit.fact.text: item.score for item in found}

    def rate(self, fact_id: str, outcome: str, session: str) -> Any:
        token = self.run(self.active.shown([fact_id], session_id=session))
        return self.run(
            self.active.feedback(
                token, fact_id, outcome=outcome, reason="said so", session_id=session
            )
        )

    def play(self) -> None:
        # A preference is captured with its evidence, a request is not.
        self.memory.session(
            "By the way, my favourite colour is blue.", "Rename it to shop, please."
        )
        [blue] = self.held().values()
        told = blue.record.told
        assert (blue.fact.text, told.evidence) == (BLUE, "my favourite colour is blue")
        assert (told.actor, blue.record.confidence) == ("user", 0.5)

        # Feedback moves it; what it has earned goes over to the memory that takes its place.
        assert self.rate(blue.fact.id, "useful", "s1").memory.record.confidence == 0.6
        self.memory.session("No, my favourite colour is orange.")
        [orange] = self.held().values()
        assert (orange.fact.text, orange.record.useful) == (ORANGE, 1)
        assert orange.record.supersedes == (blue.fact.id,)
        assert [told.text for told in orange.record.earlier] == [BLUE]

        # Feedback moves the ranking.
        self.memory.session("I prefer tabs in Python files.")
        self.memory.session("You know, in Python files I prefer tabs of width four.")
        before = self.ranked("tabs in Python files")
        best, other = list(before)[:2]
        assert {best, other} == {TABS, WIDE}
        first, second = (self.held()[text].fact.id for text in (best, other))
        for session in ("s1", "s2", "s3"):
            if session != "s3":
                self.rate(first, "unhelpful", session)
            for _ in range(2):
                self.rate(second, "useful", session)
        after = self.ranked("tabs in Python files")
        share = before[other] / before[best]
        assert after[other] / after[best] > 1.5 * share
        if share > 0.7:  # about as likely for this bank
            assert next(iter(after)) == other

        # One memory stands for two.
        [proposal] = self.run(self.active.propose())
        done = self.run(self.active.combine(proposal))
        assert sorted(self.held()) == sorted([ORANGE, BOTH])
        assert len(done.record.earlier) == 2

        # Unused days expire it, a pinned one stays, one call brings it back.
        self.run(self.memory.runtime.bank.pin_fact(done.fact.id, pinned=True))
        for _ in range(8):
            self.clock.advance(days=1)
            self.run(self.active.sweep("s9"))
        assert list(self.held()) == [BOTH]
        gone = self.run(self.active.memory(orange.fact.id))
        assert (gone.fact.state, gone.record.expired_by) == ("invalidated", "low_confidence")
        assert "lifecycle.deletion_threshold" in gone.fact.reason
        self.run(self.active.restore(orange.fact.id))
        self.run(self.active.sweep("s9"))
        assert sorted(self.held()) == sorted([ORANGE, BOTH])


@pytest.fixture
def scenario(new_memory: Any) -> Any:
    def make(**bank: Any) -> Scenario:
        clock = FakeClock(datetime(2026, 1, 1, 9, 0, tzinfo=UTC))
        memory = new_memory(
            Embeds(),
            settings={"profile": "active-memory", **bank},
            replies=REPLIES,
            clock=clock,
        )
        return Scenario(memory, clock)

    return make


@pytest.mark.spec("am/A-MERGE", "am/A-RANK", "am/A-LIFE-1", "am/A-COMP-4")
def test_the_embedded_bank(scenario: Any) -> None:
    scenario().play()


def test_the_embedded_bank_with_vectors(scenario: Any) -> None:
    scenario(embeddings={"provider": "hash"}).play()


@pytest.mark.spec("am/A-STORE-5", "am/A-MERGE", "am/A-LIFE-1", "am/A-COMP-4")
def test_a_qdrant_collection(scenario: Any, loopback: None) -> None:
    double = QdrantDouble()
    with double.serving() as url:
        scenario(
            bank={"id": "shop", "backend": "qdrant"},
            qdrant={"url": url},
            embeddings={"provider": "hash"},
        ).play()
    double.close()


@pytest.fixture
def server_bank(hindsight_url: str) -> Iterator[tuple[str, str]]:
    name = f"a-{uuid.uuid4().hex[:8]}"
    with httpx.Client(base_url=f"{hindsight_url}/v1/default/banks", timeout=60) as client:
        client.put(f"/{name}", json={"enable_observations": False})
        yield hindsight_url, name
        client.delete(f"/{name}")


@pytest.mark.server
@pytest.mark.spec("am/A-MERGE", "am/A-LIFE-1", "am/A-COMP-4")
def test_a_hindsight_server(scenario: Any, loopback: None, server_bank: tuple[str, str]) -> None:
    url, name = server_bank
    scenario(bank={"id": name, "backend": "hindsight"}, hindsight={"base_url": url}).play()
