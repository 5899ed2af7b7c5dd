"""``bank export`` and ``bank import``: an exact copy, and files that are not whole."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.identity import fact_id
from hindsight_core.memory import Fact, Provenance
from hindsight_core.state.life import Answer, LifeRecord, Told
from hindsight_core.state.lives import LifeRecords
from hindsight_core.state.sessions import SessionState
from hindsight_core.testing.banks import document, fact

SAID = datetime(2030, 3, 4, 9, 30, 1, 234567, tzinfo=UTC)
SECRET = "ghp_" + "A1b2C3d4E5" * 4
WHOLE = Fact(
    id="f-whole",
    text="CART_TTL is 72 h",
    kind="decision",
    category="config",
    state="superseded",
    document_id="d1",
    timestamp=SAID,
    created_at=SAID.replace(hour=10),
    tags=("cart", "ttl"),
    metadata={"file": "cart.py"},
    provenance=Provenance(
        source="session-note",
        session_id="s1",
        entry_ids=("e1", "e2"),
        host="pi",
        speaker="user",
        quote="make it 72 hours",
        branch="main",
        commit="a" * 40,
        files=(("src/cart.py", "0123456789abcdef"), ("a.md", "fedcba9876543210")),
    ),
    superseded_by="f-next",
    reason="raised",
    pinned=True,
)


@pytest.fixture
def bank(_empty_home):
    path = _empty_home / "memory/banks/shop.db"

    def use(work):
        async def run():
            opened = SqliteBank("shop", path)
            try:
                return await work(opened)
            finally:
                await opened.close()

        return asyncio.run(run())

    return use


async def fill(bank):
    """Every state, every field, a sentence in two documents, one deleted for good."""
    await bank.import_facts([WHOLE, fact("Lunch is at noon", state="pending")])
    both, gone = "Never force-push main", "The old key is gone"
    first = replace(document("d2", both, gone, tags=("git",), timestamp=SAID), text="as told")
    await bank.retain(replace(first, context="why", metadata={"project": "shop"}))
    await bank.retain(document("d3", "Releases are tagged", both, explicit=True))
    await bank.set_state(fact_id("Releases are tagged"), "invalidated", reason="not any more")
    await bank.delete_fact(fact_id(gone))


def test_every_field_has_a_value_other_than_its_default():
    for one in fields(Fact):
        assert getattr(WHOLE, one.name) != one.default, one.name
    for one in fields(Provenance):
        assert getattr(WHOLE.provenance, one.name) != one.default, one.name


def test_an_export_of_an_import_is_the_same_file(mem, bank, tmp_path):
    bank(fill)
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    said = mem("bank", "export", first, "--json").data
    assert (said["exported"], said["lines"]) == (4, 7)
    assert mem("bank", "import", first, "--bank", "copy").code == 0
    assert mem("bank", "export", second, "--bank", "copy").code == 0
    assert second.read_text() == first.read_text()
    assert mem("bank", "export").out == first.read_text()
    lines = [json.loads(line) for line in first.read_text().splitlines()]
    assert {line["version"] for line in lines} == {1}
    assert [line.get("record") for line in lines[4:]] == ["document", "document", "forgotten"]
    assert "The old key" not in first.read_text()
    [whole] = [f for f in mem("facts", "show", "f-whole", "--bank", "copy", "--json").data["facts"]]
    assert whole["provenance"]["quote"] == "make it 72 hours"
    assert (whole["superseded_by"], whole["reason"], whole["pinned"]) == ("f-next", "raised", True)


@pytest.fixture
def lives(_empty_home):
    """Lifecycle records of a bank, written or read."""

    def use(bank, records=None):
        async def run():
            sessions = SessionState(_empty_home / "memory/state.db")
            try:
                kept = LifeRecords(sessions.database)
                if records is not None:
                    await kept.put(bank, records)
                return await kept.everything(bank)
            finally:
                sessions.close()

        return asyncio.run(run())

    return use


def test_how_facts_stand_is_copied_too(mem, bank, lives, tmp_path):
    bank(fill)
    told = Told("user", session_id="s1", evidence="make it 72 hours", user_text=f"key {SECRET}")
    answers = (Answer("useful", "s1", "t1", "it helped", SAID),)
    life = LifeRecord(told, confidence=0.8, useful=1, answers=answers, decayed_on=SAID.date())
    lives("shop", {"f-whole": life})
    file, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    mem("bank", "export", file)
    said = mem("bank", "import", file, "--bank", "copy", "--json").data
    assert (said["lives"], said["bad"]) == (1, [])
    [copy] = lives("copy").values()
    assert replace(copy, told=told) == life
    assert SECRET not in str(copy)
    assert mem("bank", "import", file, "--bank", "copy", "--json").data["lives"] == 0
    mem("bank", "export", second, "--bank", "copy")
    assert mem("bank", "import", second, "--bank", "third", "--json").data["lives"] == 1
    mem("bank", "delete", "copy", "--yes")
    assert lives("copy") == {}


def test_importing_twice_adds_nothing(mem, bank, tmp_path):
    bank(fill)
    file = tmp_path / "a.jsonl"
    mem("bank", "export", file)
    mem("bank", "import", file, "--bank", "copy")
    again = mem("bank", "import", file, "--bank", "copy", "--json").data
    assert (again["imported"], again["unchanged"]) == (0, 4)
    assert (again["documents"], again["forgotten"]) == (0, 0)
    here = mem("bank", "import", file, "--json").data
    assert (here["imported"], here["documents"]) == (0, 0)


def test_a_file_of_a_newer_version_is_refused_whole(mem, tmp_path):
    file = tmp_path / "new.jsonl"
    file.write_text('{"version": 9, "text": "From the future"}\n{"text": "A plain one"}\n')
    said = mem("bank", "import", file)
    assert said.code == 2
    assert "newer version of hindsight-mem (form 9, this one reads up to 1)" in said.err
    assert "Nothing was imported" in said.err
    assert mem("facts", "list", "--json").data["total"] == 0
    file.write_text('{"text": "A plain one"}\n{"version": 9, "text": "From the future"}\n')
    said = mem("bank", "import", file, "--json")
    assert (said.code, said.data["imported"]) == (2, 1)
    assert "newer version" in said.data["bad"][0]["reason"]


@pytest.mark.parametrize("cut", [1, 30, 60])
def test_a_torn_last_line_is_told(mem, bank, tmp_path, cut):
    bank(fill)
    file = tmp_path / "a.jsonl"
    mem("bank", "export", file)
    text = file.read_text().splitlines(keepends=True)
    file.write_text("".join(text[:3]) + text[3][: -cut - 1])
    said = mem("bank", "import", file, "--bank", "copy", "--json")
    assert (said.code, said.data["imported"]) == (2, 3)
    assert said.data["bad"][0]["line"] == 4
    assert "the file ends in the middle of this line" in said.err


def test_a_file_of_another_editor_is_read(mem, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"text": "One"}\r\n\r\n{"text": "Two"}\r\n')
    assert mem("bank", "import", file, "--json").data["imported"] == 2


def test_a_last_line_without_its_end_is_whole(mem, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "One"}\n{"text": "Two"}')
    assert mem("bank", "import", file, "--json").data["imported"] == 2


def test_what_is_deleted_for_good_stays_so_in_the_copy(mem, bank, tmp_path):
    bank(fill)
    file = tmp_path / "a.jsonl"
    mem("bank", "export", file)
    bank(lambda b: b.delete_document("d2"))

    async def retold(copy):
        return await copy.retain(document("d9", "The old key is gone"))

    path = bank(lambda b: _path(b)).with_name("copy.db")
    mem("bank", "import", file, "--bank", "copy")

    async def run():
        copy = SqliteBank("copy", path)
        try:
            return await retold(copy)
        finally:
            await copy.close()

    assert asyncio.run(run()).fact_ids == ()


async def _path(bank):
    return bank.path


def test_a_file_that_cannot_be_written_whole_is_not_there(mem, bank, tmp_path):
    bank(fill)
    place = tmp_path / "none" / "a.jsonl"
    said = mem("bank", "export", place)
    assert (said.code, "cannot be written" in said.err) == (2, True)
    file = tmp_path / "a.jsonl"
    mem("bank", "export", file)
    assert [path.name for path in tmp_path.glob("*.jsonl*")] == ["a.jsonl"]
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"record": "document"}', "no id"),
        ('{"record": "document", "id": "d", "facts": "f1"}', "facts is not a list"),
        ('{"record": "forgotten"}', "no content"),
        ('{"record": "table"}', "none of fact, document, forgotten, life"),
        ('{"record": 7}', "no name"),
        ('{"record": "life", "id": "f1", "life": {"confidence": 2}}', "no lifecycle record"),
        ('{"record": "life", "life": {}}', "no id"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(mem, tmp_path, line, says):
    file = tmp_path / "a.jsonl"
    file.write_text(line + "\n" + '{"text": "A good one"}\n')
    said = mem("bank", "import", file, "--json")
    assert (said.code, said.data["imported"]) == (2, 1)
    assert says in said.data["bad"][0]["reason"]
