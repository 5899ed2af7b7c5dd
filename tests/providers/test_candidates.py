from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindsight_core.providers.chain import ModelChain

MODELS = {
    "host/models": {
        "models": [
            {"id": "anthropic/small", "contextWindow": 200000},
            {"id": "openai/mini", "contextWindow": 128000},
            {"id": "google/flash"},
            {"id": "anthropic/large", "contextWindow": 1000000},
        ],
        "current": "anthropic/large",
    },
    "host/complete": lambda params: {"text": "fine", "model": params["model"] or "own"},
}


async def known(chain: ModelChain, request_: Any) -> ModelChain:
    await chain.complete(request_, purpose="recall")
    return chain


@pytest.mark.spec("pi/L-01", "pi/L-02")
async def test_order_and_label(
    make_chain: Callable[..., ModelChain], make_bridge, request_
) -> None:
    chain = make_chain(
        bridge=make_bridge(MODELS),
        recall="anthropic/small",
        model="openai/mini",
        recall_chain=["google/flash"],
    )
    await known(chain, request_)
    assert chain.label("recall") == "anthropic/small → openai/mini → google/flash → anthropic/large"
    assert await chain.context_window("recall") == 200_000


@pytest.mark.spec("pi/L-01")
async def test_unknown_ids_are_skipped_and_duplicates_collapse(
    make_chain, make_bridge, request_
) -> None:
    chain = make_chain(
        bridge=make_bridge(MODELS),
        recall="nowhere/model",
        recall_chain=["mini", "/mini", "openai/mini", "anthropic/large", "openai/mini"],
    )
    await known(chain, request_)
    assert chain.label("recall") == "openai/mini → anthropic/large"


@pytest.mark.spec("pi/D-27")
async def test_a_skipped_id_is_told_and_not_silently_the_session_model(
    make_chain, make_bridge, request_
) -> None:
    chain = make_chain(bridge=make_bridge(MODELS), recall="nowhere/cheap")
    await known(chain, request_)
    assert chain.unknown("recall") == ("nowhere/cheap",)
    assert chain.label("recall") == "anthropic/large"


@pytest.mark.spec("pi/L-01")
async def test_retain_has_its_own_keys_and_the_common_model_stands_in(
    make_chain, make_bridge, request_
) -> None:
    bridge = make_bridge(MODELS)
    own = await known(
        make_chain(
            bridge=bridge,
            recall="google/flash",
            recall_chain=["anthropic/small"],
            retain="openai/mini",
            retain_chain=["google/flash"],
        ),
        request_,
    )
    assert own.label("retain") == "openai/mini → google/flash → anthropic/large"
    common = await known(make_chain(bridge=bridge, model="openai/mini"), request_)
    assert common.label("retain") == "openai/mini → anthropic/large"


async def test_ids_count_as_known_while_the_host_does_not_say(make_chain, make_bridge) -> None:
    chain = make_chain(bridge=make_bridge({}), recall="anthropic/small")
    assert chain.label("recall") == "anthropic/small → session model"


@pytest.mark.spec("pi/L-06")
async def test_no_model_is_no_chain(make_chain) -> None:
    chain = make_chain(provider="auto")
    assert not chain.available("recall")
    assert not chain.available("retain")
    assert chain.label("recall") == "none"


def test_auto_prefers_a_configured_url_then_the_host(make_chain, make_bridge) -> None:
    url = "http://127.0.0.1:9/v1"
    assert make_chain(provider="auto", bridge=make_bridge({}), base_url=url).provider == "openai"
    assert make_chain(provider="auto", bridge=make_bridge({})).provider == "host"
    silent = make_bridge({}, capabilities=("entries",))
    assert make_chain(provider="auto", bridge=silent, base_url=url).provider == "openai"
    assert make_chain(provider="auto", bridge=silent).provider == "none"


def test_a_key_that_lies_around_is_no_consent(make_chain) -> None:
    with pytest.MonkeyPatch.context() as environment:
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            environment.setenv(name, "x" * 8)
        chain = make_chain(provider="auto")
    assert chain.provider == "none"
    assert "api_key_env" in chain.reason


def test_host_without_a_host_is_off_with_the_reason(make_chain) -> None:
    chain = make_chain(provider="host")
    assert not chain.available("retain")
    assert "the host offers no models" in chain.reason


def test_a_prefix_asks_another_provider(make_chain) -> None:
    chain = make_chain(provider="fake", recall="a", recall_chain=["ollama:qwen3:4b", "b:c"])
    assert chain.label("recall") == "a → ollama:qwen3:4b → b:c"
