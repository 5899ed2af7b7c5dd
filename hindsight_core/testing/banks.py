"""What every bank must do: subclass `BankContract` and give it a ``bank`` fixture."""

# A suite of tests: asserts are its purpose, names are its documentation.
# ruff: noqa: D102, S101

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import get_args

import pytest

from hindsight_core.banks.base import Bank, CopyingBank
from hindsight_core.errors import BankError
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact, Provenance, Query, Scope, TagFilter, TagMatch
from hindsight_core.recall.scopes import UNTAGGED, BankScope, Wanted
from hindsight_core.testing.memory_bank import FakeBank
from hindsight_core.testing.tag_match import tags_match

__all__ = ["BankContract", "FakeBank", "document", "fact", "tags_match"]

MONDAY = datetime(2030, 3, 4, 9, 30, 15, 123456, tzinfo=UTC)
TUESDAY = datetime(2030, 3, 5, 9, 30, tzinfo=UTC)
OLD = "The queue prefetch is 20"
NEW = "The queue prefetch is 50"


def fact(text: str, **values: object) -> Fact:
    """A fact with the id of its text."""
    return Fact(id=fact_id(text), text=text, **values)  # type: ignore[arg-type]


def document(document_id: str, *texts: str | Fact, **values: object) -> Document:
    """A document of facts, given as texts or whole."""
    facts = tuple(t if isinstance(t, Fact) else fact(t) for t in texts)
    lines = "\n".join(f"- {f.text}" for f in facts)
    return Document(id=document_id, text=lines, facts=facts, **values)  # type: ignore[arg-type]


async def found(bank: Bank, text: str, **values: object) -> list[str]:
    """Texts that a search gives back."""
    hits = await bank.recall(Query(text, **values))  # type: ignore[arg-type]
    return [hit.fact.text for hit in hits]


class BankContract:
    """Rules that hold on every bank that stores our facts; each test gets an empty ``bank``."""

    async def test_fulfils_the_protocol(self, bank: Bank) -> None:
        await bank.ensure()
        await bank.ensure()
        assert isinstance(bank, Bank)
        assert (await bank.stats()).facts == 0

    @pytest.mark.spec("br/BR-71")
    async def test_what_was_just_stored_is_found(self, bank: Bank) -> None:
        receipt = await bank.retain(document("d1", "The demo is at 15:00 in room Oak"))
        assert receipt.outcome == "stored"
        hits = await bank.recall(Query("where is the demo?"))
        assert [hit.fact.id for hit in hits] == list(receipt.fact_ids)
        assert hits[0].bank == bank.id
        assert 0 < hits[0].score <= 1

    async def test_nothing_found_is_an_empty_list(self, bank: Bank) -> None:
        await bank.retain(document("d1", OLD))
        assert await found(bank, "zebra xylophone") == []
        assert await found(bank, "prefetch", limit=0) == []

    @pytest.mark.spec("br/BR-16")
    async def test_a_sentence_is_stored_once_even_from_two_documents(self, bank: Bank) -> None:
        await bank.retain(document("d1", OLD))
        receipt = await bank.retain(document("d2", "- the queue  prefetch is 20"))
        assert receipt.outcome == "known"
        assert (await bank.stats()).facts == 1
        assert len(await found(bank, "queue prefetch")) == 1

    async def test_the_same_document_again_is_known(self, bank: Bank) -> None:
        first = await bank.retain(document("d1", OLD, "CART_TTL is 30 minutes"))
        again = await bank.retain(document("d1", OLD, "CART_TTL is 30 minutes"))
        assert again.outcome == "known"
        assert again.fact_ids == first.fact_ids

    @pytest.mark.spec("pi/M-06")
    async def test_a_document_replaces_what_it_held(self, bank: Bank) -> None:
        await bank.retain(document("d1", "alpha uses port 1", "beta uses port 2"))
        await bank.retain(document("d2", "beta uses port 2"))
        await bank.retain(document("d1", "gamma uses port 3"))
        assert await found(bank, "alpha") == []
        # A bank may also give what it has linked to the best hit, after it.
        assert (await found(bank, "beta"))[0] == "beta uses port 2"
        held = await bank.get_document("d1")
        assert held is not None
        assert [f.text for f in held.facts or ()] == ["gamma uses port 3"]
        assert (await bank.stats()).documents == 2

    @pytest.mark.spec("br/BR-41")
    async def test_an_invalidated_fact_stays_so(self, bank: Bank) -> None:
        [old] = (await bank.retain(document("d1", OLD))).fact_ids
        retired = await bank.set_state(old, "invalidated", reason="wrong number")
        assert (retired.state, retired.reason) == ("invalidated", "wrong number")
        for again in (document("d1", OLD), document("d9", OLD), document("d1", NEW)):
            await bank.retain(again)
            assert OLD not in await found(bank, "queue prefetch")
        kept = await bank.get_fact(old)
        assert kept is not None
        assert kept.state == "invalidated"

    async def test_an_explicit_write_revives_an_invalidated_fact(self, bank: Bank) -> None:
        [old] = (await bank.retain(document("d1", OLD))).fact_ids
        await bank.set_state(old, "invalidated", reason="wrong")
        receipt = await bank.retain(document("note", OLD, explicit=True))
        assert (receipt.outcome, receipt.fact_ids) == ("stored", (old,))
        assert await found(bank, "queue prefetch") == [OLD]

    @pytest.mark.spec("br/BR-16")
    async def test_a_newer_fact_supersedes_and_can_be_superseded_back(self, bank: Bank) -> None:
        first = document("d1", fact(OLD, timestamp=MONDAY))
        await bank.retain(first)
        pair = ((fact_id(NEW), fact_id(OLD)),)
        await bank.retain(document("d2", fact(NEW, timestamp=TUESDAY), supersedes=pair))
        old = await bank.get_fact(fact_id(OLD))
        assert old is not None
        assert (old.state, old.superseded_by) == ("superseded", fact_id(NEW))
        assert await found(bank, "queue prefetch") == [NEW]
        await bank.retain(first)
        assert await found(bank, "queue prefetch") == [NEW]
        later = replace(fact(OLD), timestamp=TUESDAY.replace(hour=18))
        await bank.retain(document("d3", later, supersedes=((fact_id(OLD), fact_id(NEW)),)))
        assert await found(bank, "queue prefetch") == [OLD]

    async def test_a_pinned_fact_is_not_retired(self, bank: Bank) -> None:
        await bank.retain(document("d1", OLD))
        await bank.pin_fact(fact_id(OLD), pinned=True)
        with pytest.raises(BankError, match="pin"):
            await bank.set_state(fact_id(OLD), "invalidated")
        pair = ((fact_id(NEW), fact_id(OLD)),)
        await bank.retain(document("d2", NEW, supersedes=pair))
        assert set(await found(bank, "queue prefetch")) == {OLD, NEW}
        await bank.pin_fact(fact_id(OLD), pinned=False)
        assert (await bank.set_state(fact_id(OLD), "invalidated")).state == "invalidated"

    @pytest.mark.spec("br/BR-41")
    async def test_delete_really_deletes(self, bank: Bank) -> None:
        await bank.retain(document("d1", OLD, "CART_TTL is 30 minutes"))
        assert await bank.delete_fact(fact_id(OLD))
        assert not await bank.delete_fact(fact_id(OLD))
        assert await bank.get_fact(fact_id(OLD)) is None
        assert await found(bank, "queue prefetch") == []
        assert (await bank.list_facts(state=None)).total == 1
        assert await bank.delete_document("d1")
        assert not await bank.delete_document("d1")
        assert (await bank.list_facts(state=None)).total == 0

    async def test_editing_keeps_the_id_and_is_searchable(self, bank: Bank) -> None:
        await bank.retain(document("d1", OLD))
        edited = await bank.edit_fact(fact_id(OLD), text="Prefetch was removed", tags=["broker"])
        assert (edited.id, edited.tags) == (fact_id(OLD), ("broker",))
        assert await found(bank, "removed") == ["Prefetch was removed"]
        with pytest.raises(BankError):
            await bank.edit_fact(fact_id(OLD), text=" ")
        with pytest.raises(BankError):
            await bank.edit_fact("unknown", text="x")

    async def test_listing_pages_newest_first(self, bank: Bank) -> None:
        days = [MONDAY.replace(day=d) for d in (4, 6, 5)]
        facts = [fact(f"port {n} is open", timestamp=day) for n, day in enumerate(days)]
        await bank.retain(document("d1", *facts))
        await bank.set_state(facts[0].id, "invalidated", reason="closed")
        page = await bank.list_facts(limit=1)
        assert ([f.text for f in page.facts], page.total) == (["port 1 is open"], 2)
        rest = await bank.list_facts(limit=5, offset=1)
        assert [f.text for f in rest.facts] == ["port 2 is open"]
        assert (await bank.list_facts(state="invalidated")).total == 1
        assert (await bank.list_facts(state=None, search="PORT 0")).total == 1
        assert (await bank.list_facts(document_id="d9")).total == 0

    @pytest.mark.spec("s1/S-TAG-1")
    async def test_tag_filters_mean_what_the_server_means(self, bank: Bank) -> None:
        held = [(), ("a",), ("b",), ("a", "b"), ("a", "b", "c")]
        facts = [fact(f"port {n}", tags=tags) for n, tags in enumerate(held)]
        await bank.retain(document("d1", *facts))
        asked: tuple[tuple[str, ...], ...] = ((), ("a",), ("a", "b"))
        leaves = [TagFilter(tags, m) for tags, m in product(asked, get_args(TagMatch))]
        a, b = TagFilter(("a",), "any_strict"), TagFilter(("b",), "any_strict")
        groups = [
            TagFilter(all_of=(a, b)),
            TagFilter(any_of=(a, TagFilter((), "exact"))),
            TagFilter(none_of=(b,)),
            TagFilter(none_of=(a, b)),
            TagFilter(all_of=(a, TagFilter(none_of=(b,)))),
        ]
        for wanted in leaves + groups:
            right = {f.text for f in facts if tags_match(wanted, f.tags)}
            assert set(await found(bank, "port", scope=Scope(tags=wanted))) == right, wanted

    @pytest.mark.spec("s1/S-TAG-2", "s1/S-TAG-3", "s1/S-TAG-4", "s1/S-TAG-7")
    async def test_a_callers_tags_within_a_projects_scope(self, bank: Bank) -> None:
        ours, repo, x = "project:shop", "repo:shop-1", "x"
        held = [(), (ours,), (repo,), (ours, x), (ours, repo, x), (x,), ("project:depot", x)]
        facts = [fact(f"port {n}", tags=tags) for n, tags in enumerate(held)]
        await bank.retain(document("d1", *facts))
        project = TagFilter((ours, repo), "any_strict")
        not_x = TagFilter(none_of=(TagFilter((x,), "any_strict"),))
        for tags, wanted, right in (
            (project, Wanted(), {1, 2, 3, 4}),
            (project, Wanted((x,)), {3, 4}),
            (project, Wanted(groups=(not_x,)), {1, 2}),
            (project, Wanted((repo,), groups=(not_x,)), {2}),
            (project, Wanted((x,), "exact"), {4}),
            (TagFilter(any_of=(project, UNTAGGED)), Wanted(), {0, 1, 2, 3, 4}),
            (TagFilter(any_of=(project, UNTAGGED)), Wanted((x,), "any"), {0, 3, 4}),
            (None, Wanted(), {0, 1, 2, 3, 4, 5, 6}),
            (None, Wanted((x,), "exact"), {5}),
        ):
            query = BankScope(bank.id, tags=tags).narrow(Query("port"), wanted)
            hits = {hit.fact.text for hit in await bank.recall(query)}
            assert hits == {facts[n].text for n in right}, (tags, wanted)

    async def test_scope_limits_a_search(self, bank: Bank) -> None:
        one = fact("port 1 in src/app.py", kind="pitfall", timestamp=MONDAY)
        two = fact("port 2", timestamp=TUESDAY, provenance=Provenance("note", session_id="s2"))
        await bank.retain(document("d1", one))
        await bank.retain(document("d2", two))
        for scope, right in (
            (Scope(kinds=("pitfall",)), one),
            (Scope(until=TUESDAY), one),
            (Scope(since=TUESDAY), two),
            (Scope(file="src/app.py"), one),
            (Scope(document_id="d2"), two),
            (Scope(session_id="s2"), two),
        ):
            assert await found(bank, "port", scope=scope) == [right.text], scope

    async def test_a_copy_takes_documents_and_deletions(self, bank: Bank) -> None:
        if not isinstance(bank, CopyingBank):
            pytest.skip("this bank is copied by its facts alone")
        both = "CART_TTL is 30 minutes"
        first = replace(
            document("d1", OLD, both, tags=("broker",), metadata={"a": "b"}, timestamp=MONDAY),
            text="## Queue\n- all of it",
            context="why",
        )
        await bank.retain(first)
        await bank.retain(document("d2", NEW, both, explicit=True))
        await bank.delete_fact(fact_id(NEW))
        copies = [copy async for copy in bank.export_documents()]
        assert [copy.document.id for copy in copies] == ["d1", "d2"]
        assert copies[0].document == replace(first, facts=None)
        assert [list(copy.fact_ids) for copy in copies] == [
            [fact_id(OLD), fact_id(both)],
            [fact_id(both)],
        ]
        assert copies[1].document.explicit
        assert await bank.forgotten() == {fact_id(NEW)}
        assert await bank.import_documents(copies) == 0
        assert await bank.forget([fact_id(NEW)]) == 0
        moved = replace(copies[0], document=replace(copies[0].document, id="d3"))
        assert await bank.import_documents([moved]) == 1
        held = await bank.get_document("d3")
        assert held is not None
        assert (held.text, held.context) == (first.text, "why")
        assert [f.text for f in held.facts or ()] == [OLD, both]
        assert [copy async for copy in bank.export_documents()][-1] == moved
        assert await bank.forget([fact_id("It never rains")]) == 1
        receipt = await bank.retain(document("d4", "It never rains"))
        assert receipt.fact_ids == ()

    async def test_an_export_is_an_exact_copy(self, bank: Bank) -> None:
        whole = Fact(
            id="given-id",
            text="Ünïcode 漢字 survives",
            kind="decision",
            category="goal",
            state="superseded",
            document_id="d7",
            timestamp=MONDAY,
            created_at=TUESDAY,
            tags=("z", "a"),
            metadata={"file": "a.py"},
            provenance=Provenance("note", "s1", ("e1", "e2"), "pi", "user", "words"),
            superseded_by="other",
        )
        facts = [whole, fact(OLD, state="invalidated", reason="wrong"), fact(NEW, pinned=True)]
        assert await bank.import_facts(facts) == 3
        copy = [f async for f in bank.export_facts()]
        assert copy[0] == whole
        assert [(f.id, f.state, f.reason, f.pinned) for f in copy[1:]] == [
            (f.id, f.state, f.reason, f.pinned) for f in facts[1:]
        ]
        assert await bank.import_facts(copy) == 0
        assert [f async for f in bank.export_facts()] == copy
