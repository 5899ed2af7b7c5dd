"""What a session's person is told of a repository that memory does not know."""

from __future__ import annotations

from hindsight_core.engine.offer import OFFER


async def test_the_first_session_offers_to_read_the_history(host):
    refs = host.project / ".git/refs/heads"
    refs.mkdir(parents=True)
    (refs / "main").write_text("0123456789abcdef0123456789abcdef01234567\n")
    (host.project / ".git/HEAD").write_text("ref: refs/heads/main\n")
    bridge = host.start()
    host.open(bridge)
    assert bridge.wait(lambda: OFFER in bridge.notices("info"))
    assert await host.facts() == []
