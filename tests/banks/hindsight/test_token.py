"""Where the bearer token comes from, and what a 401 does."""

from __future__ import annotations

import httpx
import pytest

from hindsight_core.errors import BankError

OLD, NEW = "-".join(("old", "key")), "-".join(("new", "key"))


def guarded(key):
    """Stats for whoever has the key."""

    def answer(request):
        if request.headers.get("authorization") == f"Bearer {key}":
            return httpx.Response(200, json={"total_nodes": 3})
        detail = "Authentication failed: Invalid API key"
        return httpx.Response(401, json={"detail": detail})

    return answer


async def test_the_token_of_the_settings_is_sent(opened, server):
    server.answers["GET stats"] = guarded(OLD)
    assert (await opened(hindsight={"token": OLD}).stats()).facts == 3


async def test_the_token_of_a_variable_is_sent(opened, server, monkeypatch):
    monkeypatch.setenv("SHOP_MEMORY", OLD)
    server.answers["GET stats"] = guarded(OLD)
    assert (await opened(hindsight={"token_env": "SHOP_MEMORY"}).stats()).facts == 3


async def test_a_variable_that_is_not_set_is_named(opened, server):
    with pytest.raises(BankError, match="SHOP_MEMORY, which is not set"):
        await opened(hindsight={"token_env": "SHOP_MEMORY"}).stats()
    assert server.requests == []


async def test_a_renewed_file_is_read_after_a_401_and_the_call_made_once_more(
    opened, server, tmp_path
):
    file = tmp_path / "token"
    file.write_text(f"{OLD}\n")
    bank = opened(hindsight={"token_file": str(file)})
    server.answers["GET stats"] = guarded(OLD)
    await bank.stats()
    file.write_text(f"{NEW}\n")
    server.answers["GET stats"] = guarded(NEW)
    assert (await bank.stats()).facts == 3
    assert len(server.asked("GET stats")) == 3
    assert (await bank.stats()).facts == 3
    assert len(server.asked("GET stats")) == 4


async def test_the_same_wrong_token_is_not_sent_again_and_again(opened, server, tmp_path):
    file = tmp_path / "token"
    file.write_text(OLD)
    bank = opened(hindsight={"token_file": str(file)})
    server.answers["GET stats"] = guarded(NEW)
    with pytest.raises(BankError, match="token_file") as caught:
        await bank.stats()
    assert OLD not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("content", [None, "", "two words", "naïve"])
async def test_a_file_without_a_usable_token_is_named(opened, server, tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BankError, match=str(file)):
        await opened(hindsight={"token_file": str(file)}).stats()
    assert server.requests == []
