"""A Hindsight server of recorded answers, behind `httpx.MockTransport`."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import httpx
import pytest

from hindsight_core.banks.hindsight import HindsightBank
from hindsight_core.config.settings import Settings
from hindsight_core.testing.clock import FakeClock

# Answers of server 1.1.0, shortened.
RECORDED = {
    "GET /version": {"api_version": "1.1.0", "features": {"worker": True, "bank_config_api": True}},
    "GET /health": {"status": "healthy", "database": "connected"},
    "GET config": {"bank_id": "shop", "config": {"retain_chunk_size": 3000}, "overrides": {}},
    "PATCH config": {"bank_id": "shop", "config": {}, "overrides": {}},
    "PUT ": {"bank_id": "shop", "name": "shop", "mission": "", "background": ""},
    "GET stats": {
        "bank_id": "shop",
        "total_nodes": 5,
        "total_documents": 2,
        "nodes_by_fact_type": {"world": 2, "experience": 1, "observation": 2},
        "pending_operations": 0,
    },
    "POST memories": {
        "success": True,
        "bank_id": "shop",
        "items_count": 1,
        "async": True,
        "operation_id": None,
        "usage": None,
    },
    "POST memories/recall": {"results": [], "trace": None, "entities": None},
    "GET memories/list": {"items": [], "total": 0, "limit": 100, "offset": 0},
    "GET operations/*": {"status": "completed", "error_message": None, "child_operations": []},
    "POST reflect": {"text": "PostgreSQL.", "based_on": {"memories": [{"id": "f1"}]}},
}


class Server:
    """Answers by method and path, and remembers what was asked.

    Attributes:
        answers: ``"METHOD path inside of the bank"`` to an answer, a list of answers (the last
            one stays) or a function of the request; `httpx.Response`, JSON, or an exception.
    """

    def __init__(self):
        self.answers = dict(RECORDED)
        self.requests = []

    def asked(self, call):
        """Requests of one call, in order."""
        return [request for request in self.requests if self.name(request) == call]

    def bodies(self, call):
        return [json.loads(request.content) for request in self.asked(call)]

    def limits(self, call):
        return [request.extensions["timeout"]["read"] for request in self.asked(call)]

    @staticmethod
    def name(request):
        path = request.url.raw_path.decode().partition("?")[0]
        inside = path.split("/banks/", 1)
        if len(inside) == 1:
            return f"{request.method} {path}"
        return f"{request.method} {inside[1].partition('/')[2]}"

    def __call__(self, request):
        self.requests.append(request)
        name = self.name(request)
        key = name if name in self.answers else f"{name.rpartition('/')[0]}/*"
        answer = self.answers.get(key, httpx.Response(404, json={"detail": "Not Found"}))
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            # A response is sent once.
            return httpx.Response(
                answer.status_code, headers=answer.headers, content=answer.content
            )
        return httpx.Response(200, json=answer)


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def clock():
    return FakeClock(datetime(2030, 3, 4, 9, 30, tzinfo=UTC))


@pytest.fixture
async def opened(server, clock, tmp_path):
    """Makes banks from settings sections; all are closed at the end."""
    banks = []

    def make(bank_id="shop", **sections):
        banks.append(
            HindsightBank(
                bank_id,
                Settings.model_validate(sections),
                side=tmp_path / f"{len(banks)}.hindsight",
                clock=clock,
                transport=httpx.MockTransport(server),
            )
        )
        return banks[-1]

    yield make
    for bank in banks:
        await bank.close()


@pytest.fixture
def bank(opened):
    return opened()


def refusal(status, detail="", **headers):
    return httpx.Response(status, json={"detail": detail}, headers=headers)


@pytest.fixture(name="refusal")
def _refusal():
    """Makes an error answer as the server words it."""
    return refusal
