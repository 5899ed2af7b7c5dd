"""A Hindsight server keeps the rules of every bank, and its own."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest

from hindsight_core.banks.base import ReflectingBank
from hindsight_core.banks.export_lines import export_lines
from hindsight_core.banks.hindsight import HindsightBank
from hindsight_core.banks.hindsight.api import segment
from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.cli.promoting import promote_bank
from hindsight_core.config.settings import Settings
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id
from hindsight_core.memory import (
    Document,
    DocumentCopy,
    Fact,
    Provenance,
    Query,
    Scope,
    TagFilter,
)
from hindsight_core.services import utc_now
from hindsight_core.sharing.baseline import Baseline
from hindsight_core.sharing.folder import FactFolder
from hindsight_core.sharing.shareable import Shareable
from hindsight_core.sharing.sync import Sync
from hindsight_core.testing.banks import BankContract, document

pytestmark = [pytest.mark.server, pytest.mark.timeout(180), pytest.mark.usefixtures("loopback")]
TEXT = "# Decisions\n- Orders are kept in PostgreSQL\n- Redis caches the cart\n"


@pytest.fixture
async def server(hindsight_url):
    async with httpx.AsyncClient(base_url=f"{hindsight_url}/v1/default/banks") as client:
        yield client


@pytest.fixture
async def opened(hindsight_url, server, tmp_path):
    """Makes banks with files of their own, as different machines have; all are removed."""
    banks = []

    def make(name=None, machine="here", **sections):
        settings = Settings.model_validate({"hindsight": {"base_url": hindsight_url}, **sections})
        name = name or f"c-{uuid.uuid4().hex[:8]}"
        banks.append(HindsightBank(name, settings, side=tmp_path / f"{machine}.hindsight"))
        return banks[-1]

    yield make
    for bank in banks:
        await bank.close()
        await server.delete(f"/{segment(bank.id)}")


@pytest.fixture
async def bank(server, opened):
    bank = opened()
    # Observations come some time after the facts, and take their place in a search.
    await server.put(f"/{bank.id}", json={"enable_observations": False})
    return bank


class TestHindsightBank(BankContract):
    """Facts that come with a document are kept word for word, so that every rule holds."""


class TestExtraction:
    """Documents without facts: the server finds them."""

    @pytest.mark.spec("pi/H-02", "pi/H-03", "pi/H-05", "pi/H-06", "pi/H-11", "pi/D-24")
    async def test_a_text_becomes_facts_on_the_server(self, bank, server):
        receipt = await bank.retain(
            Document("w1", TEXT, context="pi session", tags=("shop",), metadata={"session": "s1"})
        )
        assert receipt.outcome == "stored"
        told = (await server.get(f"/{bank.id}/memories/list")).json()["items"]
        assert {item["id"] for item in told} == set(receipt.fact_ids)
        texts = {"Orders are kept in PostgreSQL", "Redis caches the cart"}
        assert {item["text"] for item in told} == texts
        assert all(item["context"] == "pi session" for item in told)
        [first, *_] = await bank.recall(Query("where are orders kept?"))
        assert first.fact.text == "Orders are kept in PostgreSQL"
        assert first.fact.provenance.session_id == "s1"
        assert (first.fact.document_id, first.fact.tags) == ("w1", ("shop",))
        stats = await bank.stats()
        assert (stats.documents, stats.facts) == (1, 2)

    async def test_the_same_write_again_changes_nothing(self, bank, server):
        first = await bank.retain(Document("w1", TEXT))
        again = await bank.retain(Document("w1", TEXT))
        assert set(again.fact_ids) == set(first.fact_ids)
        assert (await server.get(f"/{bank.id}/memories/list")).json()["total"] == 2

    async def test_another_text_of_the_same_document_replaces_it_there_and_back(self, bank):
        for text in ("- Alpha holds orders", "- Beta holds orders", "- Alpha holds orders"):
            await bank.retain(Document("w1", text))
            held = await bank.get_document("w1")
            assert held is not None
            assert [f.text for f in held.facts or ()] == [text[2:]]
            assert held.text == text

    @pytest.mark.spec("pi/D-24")
    async def test_a_failed_extraction_is_seen_and_can_be_tried_again(self, bank):
        for _ in range(2):
            with pytest.raises(BankError, match="did not store w1"):
                await bank.retain(Document("w1", "- FAIL500 is in this text"))

    @pytest.mark.spec("br/BR-41", "pi/H-09")
    async def test_what_was_taken_back_does_not_return_with_another_document(self, bank, server):
        receipt = await bank.retain(Document("w1", TEXT))
        facts = [await bank.get_fact(one) for one in receipt.fact_ids]
        [redis] = [fact.id for fact in facts if "Redis" in fact.text]
        await bank.set_state(redis, "invalidated", reason="Redis is gone")
        again = await bank.retain(Document("w2", "- Redis caches the cart\n- Tests use pytest"))
        assert len(again.fact_ids) == 1
        texts = [hit.fact.text for hit in await bank.recall(Query("Redis caches the cart"))]
        assert "Redis caches the cart" not in texts
        told = (await server.get(f"/{bank.id}/memories/list?state=invalidated")).json()["items"]
        assert [item["invalidation_reason"] for item in told] == ["Redis is gone"] * 2
        await bank.set_state(redis, "valid")
        assert "Redis caches the cart" in [
            hit.fact.text for hit in await bank.recall(Query("Redis caches the cart"))
        ]

    async def test_a_newer_document_supersedes_an_older_fact_for_every_machine(self, bank, opened):
        [old] = (await bank.retain(Document("w1", "- The queue prefetch is 20"))).fact_ids
        text = "The queue prefetch is 50"
        receipt = await bank.retain(Document("w2", f"- {text}", supersedes=((fact_id(text), old),)))
        elsewhere = opened(bank.id, "elsewhere")
        held = await elsewhere.get_fact(old)
        assert (held.state, held.superseded_by) == ("superseded", receipt.fact_ids[0])
        assert (await elsewhere.list_facts(state="superseded")).total == 1
        assert (await elsewhere.list_facts(state="invalidated")).total == 0

    async def test_append_adds_to_a_document_once(self, bank):
        await bank.append(Document("t1", "- Alpha holds orders"))
        await bank.append(Document("t1", "- Beta holds carts"))
        held = await bank.get_document("t1")
        assert sorted(f.text for f in held.facts) == ["Alpha holds orders", "Beta holds carts"]

    async def test_one_of_several_facts_cannot_be_deleted_and_this_is_said(self, bank):
        first, _ = (await bank.retain(Document("w1", TEXT))).fact_ids
        with pytest.raises(BankError, match="deletes no single fact") as caught:
            await bank.delete_fact(first)
        assert not caught.value.retryable
        assert (await bank.list_facts()).total == 2

    async def test_tags_isolate(self, bank):
        await bank.retain(Document("a", "- Orders are in PostgreSQL", tags=("a",)))
        await bank.retain(Document("b", "- Orders are in Oracle", tags=("b",)))
        wanted = Scope(tags=TagFilter(("a",), "any_strict"))
        hits = await bank.recall(Query("orders", scope=wanted))
        assert [hit.fact.text for hit in hits] == ["Orders are in PostgreSQL"]


class TestOtherCalls:
    async def test_a_bank_that_is_not_there_is_empty_and_stays_so(self, opened, server):
        bank = opened(f"missing-{uuid.uuid4().hex[:8]}")
        assert await bank.recall(Query("anything")) == []
        assert (await bank.stats()).facts == 0
        assert (await bank.list_facts(state=None)).total == 0
        assert (await bank.list_documents()).total == 0
        assert await bank.get_document("d") is None
        assert (await bank.reflect(Query("anything?"))).text == ""
        assert [f async for f in bank.export_facts()] == []
        names = [b["bank_id"] for b in await bank.api.banks()]
        assert bank.id not in names

    @pytest.mark.spec("pi/H-07")
    async def test_reflect_answers_and_names_its_facts(self, bank):
        await bank.retain(Document("w1", TEXT))
        assert isinstance(bank, ReflectingBank)
        answer = await bank.reflect(Query("where are orders kept?"))
        assert "PostgreSQL" in answer.text
        assert answer.fact_ids
        assert all(one.startswith(f"{bank.id}:") for one in answer.fact_ids)

    @pytest.mark.spec("pi/H-21")
    async def test_observations_are_found_and_cannot_be_changed(self, opened, server):
        bank = opened()
        await bank.retain(Document("w1", "- Orders are kept in PostgreSQL"))
        for _ in range(200):
            told = (await server.get(f"/{bank.id}/stats?refresh=true")).json()
            if told["total_observations"]:
                break
            await asyncio.sleep(0.1)
        [hit, *_] = await bank.recall(Query("where are orders kept?"))
        assert hit.fact.kind == "observation"
        with pytest.raises(BankError, match="observation"):
            await bank.set_state(hit.fact.id, "invalidated")
        assert (await bank.stats()).facts == 1
        assert (await bank.list_facts()).total == 1
        # What a search gives can be superseded all the same.
        pair = ((fact_id("Orders are kept in Oracle"), hit.fact.id),)
        await bank.retain(Document("w2", "- Orders are kept in Oracle", supersedes=pair))
        assert [f.text for f in (await bank.list_facts()).facts] == ["Orders are kept in Oracle"]

    @pytest.mark.spec("pi/W-06", "pi/H-04", "pi/H-13")
    async def test_missions_are_synchronised_and_a_name_is_kept(self, server, opened):
        bank = opened(memorize={"retain_mission": "Keep decisions"})
        await server.put(f"/{bank.id}", json={"name": "My own name"})
        await bank.ensure()
        told = (await server.get(f"/{bank.id}/config")).json()
        assert told["overrides"]["retain_mission"] == "Keep decisions"
        banks = {b["bank_id"]: b["name"] for b in await bank.api.banks()}
        assert banks[bank.id] == "My own name"

    async def test_facts_of_ours_are_whole_on_another_machine(self, bank, opened):
        await bank.retain(document("d1", "The demo is at 15:00 in room Oak"))
        elsewhere = opened(bank.id, "elsewhere")
        [copy] = [f async for f in elsewhere.export_facts()]
        assert copy == await bank.get_fact(copy.id)
        assert copy.document_id == "d1"

    async def test_ids_with_every_character(self, opened, server):
        bank = opened(f"a/b c?d:{uuid.uuid4().hex[:6]} ü漢")
        receipt = await bank.retain(Document("has/slash:1?x", "- Orders are kept in PostgreSQL"))
        assert len(receipt.fact_ids) == 1
        assert (await bank.get_document("has/slash:1?x")).facts
        assert await bank.delete_document("has/slash:1?x")
        assert not await bank.delete_document("has/slash:1?x")


class TestCopies:
    """An embedded bank carried to the server, and back again."""

    async def test_a_promoted_bank_is_the_same_bank(self, bank, tmp_path):
        told = Provenance(
            source="session-note", session_id="s1", entry_ids=("e1",), host="pi", speaker="user",
            quote="keep it", branch="main", commit="a" * 40, files=(("src/a.py", "0123abcd"),),
        )  # fmt: skip
        said = datetime(2030, 3, 4, 9, 30, 1, tzinfo=UTC)
        whole = Fact(
            "f1", "CART_TTL is 72 h", kind="decision", category="config", document_id="d1",
            timestamp=said, created_at=said, tags=("cart",), metadata={"file": "a.py"},
            provenance=told, pinned=True,
        )  # fmt: skip
        copies = [SqliteBank("demo", tmp_path / f"{name}.db") for name in ("one", "two")]
        source, back = copies
        await source.import_facts(
            [
                whole,
                replace(whole, id="f2", text="It was 24 h", state="superseded", superseded_by="f1",
                        pinned=False),
                replace(whole, id="f3", text="It is odd", state="invalidated", reason="no",
                        pinned=False, document_id="d2"),
                replace(whole, id="f4", text="It may be", state="pending", pinned=False),
            ]
        )  # fmt: skip
        document = Document("d2", "as told", context="why", tags=("x",), timestamp=said)
        await source.import_documents([DocumentCopy(document, ("f3", "f1"), said)])
        await source.forget(["a" * 20])
        done = await promote_bank(source, bank, progress=lambda text: None)
        assert (done.problems, done.notes, done.written) == ([], [], 4)
        assert (await promote_bank(source, bank, progress=lambda text: None)).written == 0
        await promote_bank(bank, back, progress=lambda text: None)
        lines = [[json.loads(line) async for line in export_lines(b)] for b in (source, back)]
        # The server does not keep when a document of ours was stored.
        for line in (line for found in lines for line in found if line.get("record")):
            line.pop("created_at", None)
        assert lines[1] == lines[0]
        for one in copies:
            await one.close()

    async def test_facts_travel_through_files_and_back(self, bank, tmp_path):
        folder, mine = FactFolder(tmp_path), SqliteBank("demo", tmp_path / "mine.db")
        await bank.retain(Document("w1", TEXT, tags=("shop",)))  # the server finds its facts
        told = Fact("f1", "CART_TTL is 72 h", kind="decision", tags=("cart",))
        await mine.import_facts([told])

        async def sync(one):
            baseline = Baseline.load(tmp_path / one.backend, bank=one.id, checkout=tmp_path)
            work = Sync(one, folder, baseline, Shareable(lambda f: f), utc_now)
            return await work.run(trusted=True, removed=lambda names: names)

        assert len((await sync(bank)).written) == 2
        report = await sync(mine)
        assert (len(report.taken), report.written) == (2, ["f1"])
        assert (await sync(bank)).taken == ["f1"]
        for one in (mine, bank, mine):
            report = await sync(one)
            assert not (report.written or report.taken or report.settled or report.tombs)
        await mine.edit_fact("f1", text="CART_TTL is 96 h")
        found = (await bank.list_facts(search="Redis")).facts[0]
        await bank.set_state(found.id, "invalidated", reason="gone")
        await sync(mine)
        await sync(bank)
        await sync(mine)
        assert (await bank.get_fact("f1")).text == "CART_TTL is 96 h"
        assert (await mine.get_fact(found.id)).state == "invalidated"
        await mine.close()
