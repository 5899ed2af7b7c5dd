"""What the replaced plugin has memorized counts for the bank on its server."""

from __future__ import annotations

import json

import pytest

from hindsight_core.extension_host.branch import Branch
from hindsight_core.memorize.inherited import Inherited, inherited
from hindsight_core.testing.banks import FakeBank
from hindsight_core.transcript.entry import Entry
from hindsight_core.transcript.readers.pi import PiReader
from hindsight_core.transcript.record import STATE, Record
from hindsight_core.transcript.wire import entries_from_wire

OLD = "Remember that the gateway port is 8443."
NEW = "Remember that deployments run on Tuesday."


class ServerBank(FakeBank):
    """A bank that says it is on a Hindsight server."""

    backend = "hindsight"


def noted(talk, **data: object) -> None:
    """The plugin's record, as a reader gives it."""
    entry = talk.record("")
    talk.entries[-1] = Entry(
        entry.id, "host", (), entry.parent_id, entry.timestamp, synthetic=True,
        record=Record(STATE, data),
    )  # fmt: skip


@pytest.mark.spec("pi/M-04", "pi/M-07")
async def test_on_its_server_the_session_goes_on_behind_the_watermark(kit, talk, clock):
    first = talk.user(OLD)
    noted(talk, watermark=first.id)
    talk.user(NEW)
    server = kit(bank=ServerBank("shop-bank", clock=clock))
    reports = await server.remember(talk)
    assert [fact.text for report in reports for fact in report.stored] == [
        "Deployments run on Tuesday"
    ]
    assert await server.memorizer.is_known(talk.transcript())


async def test_in_a_bank_that_holds_nothing_of_it_the_session_is_new(kit, talk):
    first = talk.user(OLD)
    noted(talk, watermark=first.id)
    talk.user(NEW)
    own = kit()
    await own.remember(talk)
    assert len(own.texts) == 2


async def test_our_own_cursor_counts_more(kit, talk, clock):
    first = talk.user(OLD)
    second = talk.user(NEW)
    server = kit(bank=ServerBank("shop-bank", clock=clock))
    await server.remember(talk)
    noted(talk, watermark=first.id)
    assert await server.cursor() == second.id
    assert not any(report.stored for report in await server.remember(talk))
    assert len(server.texts) == 2


def test_records_fold_and_the_last_of_each_counts(talk):
    ids = [talk.user(str(n)).id for n in range(3)]
    noted(talk, watermark=ids[0], ranges=[[None, ids[1]]])
    noted(talk, watermark=ids[2])
    noted(talk, watermark="gone")
    assert inherited(talk.path) == Inherited(ids[2], ((None, ids[1]),))


def records() -> list[dict[str, object]]:
    def said(own: str, parent: str | None, text: str) -> dict[str, object]:
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        return {"type": "message", "id": own, "parentId": parent, "message": message}

    data = {"watermark": "m1", "savedRanges": [["a", "m1"], "broken", {"end": 3}]}
    state = {"type": "custom", "id": "s", "parentId": "m1", "customType": STATE, "data": data}
    silent = {"type": "model_change", "id": "m1", "parentId": "a"}
    return [said("a", None, OLD), silent, state, said("b", "s", NEW)]


def test_a_running_session_tells_it_by_entries_that_the_core_knows():
    branch = Branch()
    path = entries_from_wire(branch.replace(records())).entries
    assert inherited(path) == Inherited("a", (("a", "a"),))

    # What comes later names what came before.
    branch = Branch()
    early = branch.replace(records()[:2])
    late = branch.update({"entries": records()[2:], "since": "m1"})["entries"]
    assert inherited(entries_from_wire([*early, *late]).entries).watermark == "a"


def test_a_session_file_tells_the_same(tmp_path):
    header = {"type": "session", "version": 3, "id": "s1", "cwd": "/srv/shop"}
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in [header, *records()]))
    assert inherited(PiReader().read(path).entries) == Inherited("a", (("a", "a"),))
