"""What goes over the wire, word for word, and answers that are not a Qdrant's."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import httpx
import pytest

from hindsight_core.banks.qdrant.client import Client
from hindsight_core.banks.qdrant.filters import scope_conditions, tag_filter
from hindsight_core.banks.qdrant.points import point_id
from hindsight_core.config.settings.bank import Qdrant
from hindsight_core.errors import BankError
from hindsight_core.memory import Scope, TagFilter
from hindsight_core.services import utc_now


def test_ids_come_from_bank_and_content():
    assert point_id("shop", "fact", "f1") == point_id("shop", "fact", "f1")
    assert len({point_id(b, k, "f1") for b in ("shop", "me") for k in ("fact", "document")}) == 4


def test_a_scope_as_a_filter():
    scope = Scope(
        kinds=("pitfall",),
        since=datetime(2030, 3, 4, tzinfo=UTC),
        until=datetime(2030, 3, 5, tzinfo=UTC),
        file="SRC/App.py",
        document_id="d1",
        session_id="s1",
    )
    assert scope_conditions(scope) == [
        {"key": "kind", "match": {"any": ["pitfall"]}},
        {"key": "moment", "range": {"gte": 1898812800000000, "lt": 1898899200000000}},
        {"key": "mentions", "match": {"text": "src/app.py"}},
        {"key": "document", "match": {"value": "d1"}},
        {"key": "session", "match": {"value": "s1"}},
    ]
    assert scope_conditions(Scope()) == []


@pytest.mark.spec("s1/S-TAG-1")
def test_tags_as_a_filter():
    a = {"key": "tags", "match": {"value": "a"}}
    untagged = {"key": "tag_count", "match": {"value": 0}}
    some = {"key": "tags", "match": {"any": ["a"]}}
    assert tag_filter(TagFilter(("a",), "any")) == {"should": [some, untagged]}
    assert tag_filter(TagFilter(("a",), "any_strict")) == some
    assert tag_filter(TagFilter(("a",), "all")) == {"should": [{"must": [a]}, untagged]}
    assert tag_filter(TagFilter((), "exact")) == {"must": [untagged]}
    none = TagFilter(none_of=(TagFilter(("a",), "any_strict"),))
    assert tag_filter(none) == {"must_not": [some]}


async def ask(answer, **section):
    def handle(request):
        return answer(request) if callable(answer) else answer

    client = Client(Qdrant(**section), clock=utc_now, transport=httpx.MockTransport(handle))
    try:
        return await client.request("POST", "/collections/shop/points", {"ids": ["ü"]})
    finally:
        await client.close()


@pytest.mark.parametrize("text", ["", "<html>Welcome", "[]", '{"ok": true}', "[" * 99_999])
async def test_an_answer_of_something_else(text):
    with pytest.raises(BankError, match=r"no answer of a Qdrant server.*qdrant\.url"):
        await ask(httpx.Response(200, text=text))


async def test_the_request_and_its_address():
    seen = []

    def answer(request):
        seen.append((str(request.url), json.loads(request.content)))
        return httpx.Response(200, json={"result": [], "status": "ok"})

    assert await ask(answer, url="http://qdrant.test:6333/base/") == []
    assert seen == [("http://qdrant.test:6333/base/collections/shop/points", {"ids": ["ü"]})]


async def test_no_credentials_in_messages():
    with pytest.raises(BankError) as seen:
        await ask(httpx.Response(403), url="http://me:word@qdrant.test")
    assert "word" not in str(seen.value)
    assert "qdrant.test" in str(seen.value)


async def test_what_the_server_says_is_shown_short():
    told = {"status": {"error": "Wrong input: \n" + "x" * 1000}}
    with pytest.raises(BankError, match="Wrong input: x") as seen:
        await ask(httpx.Response(400, json=told))
    assert len(str(seen.value)) < 600
