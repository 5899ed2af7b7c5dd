"""A personal bank that hosts share by tags: each sees its own, over real bridges."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.identity import fact_id
from hindsight_core.memory import Document, Fact


@pytest.mark.spec("s1/S-TAG-2", "s1/S-TAG-6")
@pytest.mark.parametrize(("host_name", "seen"), [("pi", "8443"), ("generic", "9443")])
async def test_a_host_sees_what_was_written_from_it(host: Any, host_name: str, seen: str) -> None:
    host.memory.mkdir(parents=True)
    opened = SqliteBank("me", host.memory / "banks" / "me.db")
    for name, port in (("pi", 8443), ("generic", 9443)):
        text = f"The user's own API gateway listens on port {port}."
        fact = Fact(id=fact_id(text), text=text, tags=(f"harness:{name}",))
        await opened.retain(Document(id=name, text="", facts=(fact,)))
    await opened.close()
    (host.memory / "config.json").write_text(
        json.dumps({"profile": "s1enhanced", "bank": {"user_id": "me", "backend": "sqlite"}})
    )
    bridge = host.start(host=host_name)
    host.open(bridge)
    [block] = host.turn(bridge, "Which port does the user's API gateway listen on?")["blocks"]
    assert [port for port in ("8443", "9443") if port in block["text"]] == [seen]
