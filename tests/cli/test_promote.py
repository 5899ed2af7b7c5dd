"""``bank promote``: from the embedded bank to a Qdrant on loopback, and what can go wrong."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.cli.promoting import promote_bank
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id
from hindsight_core.testing import ModelServer
from hindsight_core.testing.banks import FakeBank, document, fact
from hindsight_core.testing.qdrant import QdrantDouble

OLD, NEW = "The queue prefetch is 20", "The queue prefetch is 50"
WRONG, KEPT = "Deploys run on Fridays", "Never force-push main"
SAID = datetime(2030, 3, 4, 9, 30, tzinfo=UTC)


async def fill(path):
    """Two documents, a sentence in both, each state, a pin, and a fact without a document."""
    bank = SqliteBank("demo", path)
    known = fact(OLD, timestamp=SAID, tags=("broker",), metadata={"file": "a.py"})
    first = replace(document("d1", known, WRONG, KEPT), context="why", text="## Queue\n- all of it")
    await bank.retain(first)
    pair = ((fact_id(NEW), fact_id(OLD)),)
    await bank.retain(document("d2", NEW, KEPT, supersedes=pair, explicit=True))
    await bank.set_state(fact_id(WRONG), "invalidated", reason="never on Fridays")
    await bank.pin_fact(fact_id(KEPT), pinned=True)
    await bank.import_facts([fact("Lunch is at noon", state="pending")])
    await bank.close()


def rows(path):
    async def read():
        bank = SqliteBank("demo", path)
        try:
            return [f async for f in bank.export_facts()]
        finally:
            await bank.close()

    return asyncio.run(read())


@pytest.fixture
def source(_empty_home):
    path = _empty_home / "memory/banks/demo.db"
    asyncio.run(fill(path))
    return path


@pytest.fixture
def server():
    double = QdrantDouble()
    yield double
    double.close()


@pytest.fixture
def targets(server, monkeypatch):
    """A Qdrant and an embedder on loopback, configured by the environment."""
    with server.serving() as qdrant, ModelServer({}) as models:
        for key, value in {
            "QDRANT__URL": qdrant,
            "EMBEDDINGS__PROVIDER": "openai",
            "EMBEDDINGS__BASE_URL": models.url,
            "EMBEDDINGS__MODEL": "hash",
        }.items():
            monkeypatch.setenv(f"HINDSIGHT_MEM_{key}", value)
        yield


@pytest.mark.usefixtures("loopback", "targets")
class TestToQdrant:
    def test_everything_is_there_and_the_source_as_it_was(self, mem, source):
        before = rows(source)
        said = mem("bank", "promote", "--to", "qdrant", "--bank", "demo", "--json")
        assert (said.code, said.err) == (0, "")
        told = {key: said.data[key] for key in ("facts", "documents", "written", "checked")}
        assert told == {"facts": 5, "documents": 2, "written": 5, "checked": 5}
        assert (said.data["problems"], said.data["notes"]) == ([], [])
        assert said.data["next"] == ["hindsight-mem config set bank.backend qdrant"]
        assert rows(source) == before

    def test_the_setting_that_it_names_makes_it_the_bank(self, mem, source):
        before = rows(source)
        command = mem("bank", "promote", "--to", "qdrant", "--bank", "demo", "--json").data["next"]
        assert mem(*command[0].split()[1:]).code == 0
        found = mem("recall", "queue prefetch", "--bank", "demo", "--json").data
        assert NEW in str(found)
        assert OLD not in str(found)
        stats = mem("bank", "stats", "--bank", "demo", "--json").data
        assert stats["states"] == {"valid": 2, "superseded": 1, "invalidated": 1, "pending": 1}
        assert stats["backend"] == "qdrant"
        exported = mem("bank", "export", "--bank", "demo").out
        lines = [json.loads(line) for line in exported.splitlines()]
        assert [line["id"] for line in lines if "record" not in line] == [f.id for f in before]
        assert [line["id"] for line in lines if "record" in line] == ["d1", "d2"]
        again = mem("bank", "promote", "--to", "qdrant", "--bank", "demo", "--json").data
        assert (again["written"], again["next"]) == (0, [])

    def test_again_writes_nothing(self, mem, source, server):
        mem("bank", "promote", "--to", "qdrant", "--bank", "demo")
        server.calls.clear()
        said = mem("bank", "promote", "--to", "qdrant", "--bank", "demo", "--json")
        assert (said.data["written"], said.data["unchanged"]) == (0, 5)
        assert not [call for call in server.calls if call.startswith("PUT")]

    def test_dry_run_asks_the_server_nothing(self, mem, source, server):
        said = mem("bank", "promote", "--to", "qdrant", "--bank", "demo", "--dry-run")
        assert "would carry 5 facts and 2 documents of demo to demo on qdrant" in said.out
        assert (said.code, server.calls) == (0, [])

    def test_under_another_name(self, mem, source):
        said = mem("bank", "promote", "--to", "qdrant", "--bank", "demo", "--as", "team", "--json")
        assert said.data["target"] == "team"
        assert "hindsight-mem config set --project bank.id team" in said.data["next"]

    def test_a_server_that_fails_is_told(self, mem, source, server):
        server.answer = 503
        said = mem("bank", "promote", "--to", "qdrant", "--bank", "demo")
        assert said.code == 1
        assert "503" in said.err
        server.answer = None
        assert mem("bank", "promote", "--to", "qdrant", "--bank", "demo").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--to", "qdrant", "--bank", "demo"), "set embeddings.provider to semantic, or"),
        (("--to", "qdrant", "--bank", "none"), "no embedded bank none"),
        (("--to", "sqlite", "--bank", "demo"), "--to hindsight or qdrant"),
        (("--to", "nowhere", "--bank", "demo"), "nowhere"),
        (("--bank", "demo"), "--to"),
    ],
)
def test_what_the_user_can_correct(mem, source, arguments, says):
    said = mem("bank", "promote", *arguments)
    assert said.code == 2
    assert says in said.err


@asynccontextmanager
async def opened(path):
    await fill(path)
    bank = SqliteBank("demo", path)
    try:
        yield bank
    finally:
        await bank.close()


def quiet(_text):
    """No progress."""


async def test_documents_keep_text_context_and_members(tmp_path):
    target = FakeBank("demo")
    async with opened(tmp_path / "demo.db") as source:
        await promote_bank(source, target, progress=quiet)
    first, second = await target.get_document("d1"), await target.get_document("d2")
    assert (first.text, first.context) == ("## Queue\n- all of it", "why")
    assert [f.text for f in first.facts] == [OLD, WRONG, KEPT]
    assert [f.text for f in second.facts] == [NEW, KEPT]
    kept = await target.get_fact(fact_id(OLD))
    assert (kept.state, kept.superseded_by) == ("superseded", fact_id(NEW))
    assert (kept.timestamp, kept.tags, dict(kept.metadata)) == (SAID, ("broker",), {"file": "a.py"})
    assert (await target.get_fact(fact_id(WRONG))).reason == "never on Fridays"
    assert (await target.get_fact(fact_id(KEPT))).pinned


async def test_a_broken_copy_goes_on_where_it_ended(tmp_path):
    class Tired(FakeBank):
        rest = 1

        async def retain(self, document):
            if self.rest == 0:
                raise BankError("the server has gone")
            self.rest -= 1
            return await super().retain(document)

    target = Tired("demo")
    async with opened(tmp_path / "demo.db") as source:
        with pytest.raises(BankError, match="gone"):
            await promote_bank(source, target, progress=quiet)
        target.rest = 9
        done = await promote_bank(source, target, progress=quiet)
    assert (done.written, done.texts, done.problems) == (0, 1, [])


async def test_a_document_that_grew_in_the_target_is_left(tmp_path):
    target = FakeBank("demo")
    async with opened(tmp_path / "demo.db") as source:
        await promote_bank(source, target, progress=quiet)
        await target.retain(document("d2", NEW, KEPT, "Prefetch is logged"))
        await promote_bank(source, target, progress=quiet)
    assert [f.text for f in (await target.get_document("d2")).facts][-1] == "Prefetch is logged"


async def test_what_is_not_as_it_should_be_is_a_problem(tmp_path):
    class Lossy(FakeBank):
        async def import_facts(self, facts):
            changed = {OLD: {"state": "valid"}, KEPT: {"pinned": False}, NEW: {"text": "?"}}
            kept = [replace(f, **changed.get(f.text, {})) for f in facts if f.text != WRONG]
            return await super().import_facts(kept)

        async def retain(self, document):
            return None

    async with opened(tmp_path / "demo.db") as source:
        done = await promote_bank(source, Lossy("demo"), progress=quiet)
    assert done.problems == [
        "the target lists 4 facts of 5",
        f"{fact_id(OLD)}: it is superseded here and valid there",
        f"{fact_id(WRONG)}: it is not there",
        f"{fact_id(KEPT)}: its pin is lost",
        f"{fact_id(NEW)}: its text differs",
    ]


async def test_states_that_the_target_does_not_know_are_noted(tmp_path):
    class TwoStates(FakeBank):
        async def import_facts(self, facts):
            retired = {"superseded": "invalidated", "pending": "invalidated"}
            return await super().import_facts(
                [replace(f, state=retired.get(f.state, f.state)) for f in facts]
            )

    async with opened(tmp_path / "demo.db") as source:
        done = await promote_bank(source, TwoStates("demo"), progress=quiet)
    assert done.problems == []
    assert "2 of 5 facts read back are retired under another name" in done.notes[0]
