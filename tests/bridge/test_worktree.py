"""A fact carries its commit, and says so when its file is gone: over real bridge processes."""

from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.banks.sqlite import SqliteBank
from hindsight_core.identity import fact_id

PAY = "Payments are captured in src/pay/capture.py by a nightly job."
ASK = "Where are payments captured?"
COMMIT = "c" * 40


@pytest.fixture
def checkout(host: Any) -> Any:
    """The host's project on a commit, with the file that the fact names."""
    git = host.project / ".git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/feature\n")
    (git / "refs/heads/feature").write_text(COMMIT + "\n")
    file = host.project / "src/pay/capture.py"
    file.parent.mkdir(parents=True)
    file.write_text("def capture(): ...\n")
    return host


async def held(host: Any, text: str) -> Any:
    bank = SqliteBank("demo", host.memory / "banks" / "demo.db")
    try:
        return await bank.get_fact(fact_id(text))
    finally:
        await bank.close()


async def test_it_is_stamped_and_later_marked(checkout: Any) -> None:
    bridge = checkout.start()
    checkout.open(bridge)
    bridge.call("tool/call", {"name": "hindsight_retain", "arguments": {"content": PAY}})
    told = (await held(checkout, PAY)).provenance
    assert (told.branch, told.commit) == ("feature", COMMIT)
    assert [path for path, _ in told.files] == ["src/pay/capture.py"]

    text = checkout.turn(bridge, ASK)["blocks"][0]["text"]
    assert PAY in text
    assert "a file it names" not in text

    file = checkout.project / "src/pay/capture.py"
    file.write_text("def capture(later): ...\n")
    again = checkout.start()
    checkout.open(again, session="s2")
    assert (
        f"a file it names has changed since] {PAY}"
        in checkout.turn(again, ASK)["blocks"][0]["text"]
    )

    file.unlink()
    last = checkout.start()
    checkout.open(last, session="s3")
    assert f"a file it names is gone] {PAY}" in checkout.turn(last, ASK)["blocks"][0]["text"]
    found = last.call("tool/call", {"name": "hindsight_recall", "arguments": {"query": ASK}})
    assert "missing: src/pay/capture.py" in found["content"]
    assert found["details"]["hits"][0]["missing"] == ["src/pay/capture.py"]


async def test_a_marked_fact_is_shown_once_all_the_same(checkout: Any) -> None:
    await checkout.learn("Refunds are handled in src/pay/refund.py, never by hand.")
    ask = "Where are refunds handled?"
    bridge = checkout.start()
    checkout.open(bridge)
    block = checkout.turn(bridge, ask)["blocks"][0]["text"]
    assert "a file it names is gone" in block
    told = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": block}]}
    resumed = checkout.start()
    checkout.open(resumed, reason="resume", entries=[told])
    assert checkout.turn(resumed, ask, entries=[told])["blocks"] == []
