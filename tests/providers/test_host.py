from __future__ import annotations

from typing import Any

import pytest

from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import CompletionRequest, Message, Usage
from hindsight_core.providers.host import HostModel, host_models


async def test_the_wire_form(make_bridge) -> None:
    bridge = make_bridge(
        {"host/complete": {"text": "fine", "model": "a/b", "usage": {"inputTokens": 5}}}
    )
    request = CompletionRequest(
        stage="recall/queries",
        messages=(Message("user", "q"),),
        system="s",
        max_tokens=320,
        json=True,
        session_id="S1",
        cache=True,
        reasoning="off",
    )
    completion = await HostModel(bridge).complete(request)
    assert bridge.requests == [
        (
            "host/complete",
            {
                "stage": "recall/queries",
                "model": None,
                "messages": [{"role": "user", "content": "q"}],
                "system": "s",
                "maxTokens": 320,
                "responseFormat": "json",
                "reasoning": "off",
                "cache": True,
                "sessionId": "S1",
            },
        )
    ]
    assert (completion.text, completion.model) == ("fine", "a/b")
    assert completion.usage == Usage(input_tokens=5, output_tokens=0)


@pytest.mark.spec("pi/D-01")
@pytest.mark.parametrize("answer", [{}, {"text": ""}, {"text": None}, None, {"text": 5}])
async def test_an_empty_answer_of_the_host_is_a_failure(make_bridge, request_, answer: Any) -> None:
    with pytest.raises(ProviderError, match="empty text"):
        await HostModel(make_bridge({"host/complete": answer})).complete(request_)


@pytest.mark.spec("pi/L-01", "pi/D-01")
async def test_the_chain_walks_to_the_session_model(make_chain, make_bridge, request_) -> None:
    def complete(params: dict[str, Any]) -> Any:
        if params["model"] is not None:
            return ProviderError("no key for it")
        return {"text": "own", "model": "x/own"}

    models = {"models": [{"id": "a/b"}, {"id": "c/d"}], "current": None}
    bridge = make_bridge({"host/complete": complete, "host/models": models})
    chain = make_chain(bridge=bridge, recall="a/b", recall_chain=["c/d"])
    assert (await chain.complete(request_, purpose="recall")).text == "own"
    assert bridge.models_asked() == ["a/b", "c/d", None]


async def test_the_host_is_asked_for_its_models_once_a_minute(
    make_chain, make_bridge, request_, clock
) -> None:
    bridge = make_bridge({"host/complete": {"text": "t"}, "host/models": {"models": []}})
    chain = make_chain(bridge=bridge)
    for seconds in (0, 30, 31):
        clock.advance(seconds)
        await chain.complete(request_, purpose="recall")
    assert [method for method, _ in bridge.requests].count("host/models") == 2


@pytest.mark.parametrize(
    "answer",
    [ProviderError("gone"), {}, {"models": None}, {"models": [None, {}, {"id": 5}], "current": 7}],
)
async def test_a_host_that_lists_nothing_usable_still_completes(
    make_chain, make_bridge, request_, answer: Any
) -> None:
    bridge = make_bridge({"host/complete": {"text": "t"}, "host/models": answer})
    chain = make_chain(bridge=bridge, recall="a/b")
    assert (await chain.complete(request_, purpose="recall")).text == "t"
    assert bridge.models_asked() == ["a/b"]


async def test_context_windows(make_bridge) -> None:
    listed = [{"id": "a/b", "contextWindow": 8000}, {"id": "c/d", "contextWindow": -1}]
    found = await host_models(make_bridge({"host/models": {"models": listed, "current": "c/d"}}))
    assert (found.windows, found.current) == ({"a/b": 8000, "c/d": None}, "c/d")


@pytest.mark.spec("pi/L-02")
async def test_the_first_candidate_sizes_the_window(make_chain, make_bridge) -> None:
    listed = {"models": [{"id": "a/b", "contextWindow": 8000}, {"id": "c/d"}], "current": "a/b"}
    bridge = make_bridge({"host/models": listed})
    assert await make_chain(bridge=bridge, recall="c/d").context_window("recall") == 32_000
    assert await make_chain(bridge=bridge, recall="a/b").context_window("recall") == 8000
    assert await make_chain(bridge=bridge, context_window=500).context_window("recall") == 500
