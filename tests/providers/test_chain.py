from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from hindsight_core.errors import BreakerOpen, BudgetExceeded, ConfigError, ProviderError
from hindsight_core.providers.base import Completion, CompletionRequest, Message, Usage
from hindsight_core.providers.chain import ModelChain
from hindsight_core.testing.clock import FakeClock
from hindsight_core.testing.models import HANG, ScriptedModel

Chain = Callable[..., ModelChain]


def by_model(**replies: Any) -> ScriptedModel:
    """Replies by the model asked."""
    return ScriptedModel({"*": lambda request: replies[request.model]})


def asked(model: ScriptedModel) -> list[str | None]:
    return [request.model for request in model.requests]


@pytest.mark.spec("pi/L-03", "pi/L-07", "pi/D-01", "am/A-PROMPT-3")
@pytest.mark.parametrize(
    "failure",
    [
        "",
        "  \n",
        ProviderError("no credits"),
        ProviderError("the key is not set", retryable=False),
        RuntimeError("boom"),
        ConfigError("wrong"),
        TimeoutError(),
        Completion(text="\x00", model="a"),
    ],
)
async def test_an_error_or_an_empty_text_is_a_failure_and_the_next_is_asked(
    make_chain: Chain, request_: CompletionRequest, failure: Any
) -> None:
    model = by_model(a=failure, b="answer")
    chain = make_chain(model, recall="a", recall_chain=["b", "c"])
    completion = await chain.complete(request_, purpose="recall")
    assert (completion.text, completion.model) == ("answer", "b")
    assert asked(model) == ["a", "b"]


@pytest.mark.spec("pi/L-03")
async def test_all_fail_and_the_last_error_is_raised(make_chain: Chain, request_: Any) -> None:
    model = by_model(a=RuntimeError("first"), b=ProviderError("second"), c=RuntimeError("third"))
    chain = make_chain(model, recall="a", recall_chain=["b", "c"])
    with pytest.raises(ProviderError, match="c failed: RuntimeError: third"):
        await chain.complete(request_, purpose="recall")


@pytest.mark.spec("pi/L-03")
async def test_a_fallback_is_debug_logged(
    make_chain: Chain, request_: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="hindsight_core")
    chain = make_chain(by_model(a=RuntimeError("boom"), b="fine"), recall="a", recall_chain=["b"])
    await chain.complete(request_, purpose="recall")
    assert "model.fallback stage=recall/judge failed=a" in caplog.text
    assert "boom" in caplog.text
    assert "next=b" in caplog.text


@pytest.mark.spec("pi/L-03", "pi/D-01", "am/A-PROMPT-3")
async def test_only_a_cancel_stops_the_walk(make_chain: Chain, request_: Any) -> None:
    model = by_model(a=HANG, b="answer")
    chain = make_chain(model, recall="a", recall_chain=["b"])
    task = asyncio.create_task(chain.complete(request_, purpose="recall"))
    while not model.requests:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asked(model) == ["a"]
    assert not chain.meter.stages


async def test_a_silent_model_gives_way_after_the_timeout(make_chain: Chain, request_: Any) -> None:
    model = by_model(a=HANG, b="answer")
    chain = make_chain(model, recall="a", recall_chain=["b"], timeout_ms=20)
    assert (await chain.complete(request_, purpose="recall")).text == "answer"


async def test_the_timeout_error_says_what_to_do(make_chain: Chain, request_: Any) -> None:
    chain = make_chain(by_model(a=HANG), recall="a", timeout_ms=20)
    with pytest.raises(ProviderError, match=r"a did not answer recall/judge within 0.02 s.*models"):
        await chain.complete(request_, purpose="recall")


async def test_an_outage_is_an_error_and_never_an_empty_answer(
    make_chain: Chain, request_: Any
) -> None:
    chain = make_chain(by_model(a=""), retain="a")
    with pytest.raises(ProviderError, match="empty text"):
        await chain.complete(request_, purpose="retain")


@pytest.mark.spec("pi/L-06")
async def test_without_a_chain_the_error_says_why(make_chain: Chain, request_: Any) -> None:
    with pytest.raises(
        ProviderError, match=r"no model for recall/judge: .*models.base_url"
    ) as error:
        await make_chain(provider="auto").complete(request_, purpose="recall")
    assert not error.value.retryable


async def test_an_unregistered_provider_is_named(make_chain: Chain, request_: Any) -> None:
    with pytest.raises(ProviderError, match=r"'mistral' is not registered .*fake"):
        await make_chain(provider="mistral").complete(request_, purpose="recall")


@pytest.mark.spec("pi/L-04")
async def test_messages_and_options_reach_the_model(make_chain: Chain) -> None:
    model = by_model(a="fine")
    messages = (Message("user", "q"), Message("assistant", "a"), Message("user", "r"))
    request = CompletionRequest(
        stage="tasks/detect", messages=messages, max_tokens=120, cache=True, session_id="S1"
    )
    await make_chain(model, recall="a").complete(request, purpose="recall")
    sent = model.requests[0]
    assert (sent.messages, sent.max_tokens, sent.cache, sent.session_id) == (
        messages,
        120,
        True,
        "S1",
    )


@pytest.mark.parametrize(("cap", "bound"), [(320, 320), (1536, 1000), (None, 1000)])
async def test_the_stage_cap_and_the_configured_bound_meet(
    make_chain: Chain, cap: int | None, bound: int
) -> None:
    model = by_model(a="fine")
    request = CompletionRequest("recall/queries", (Message("user", "q"),), max_tokens=cap)
    await make_chain(model, recall="a", max_tokens=1000).complete(request, purpose="recall")
    assert model.requests[0].max_tokens == bound


async def test_an_open_breaker_answers_without_a_call(
    make_chain: Chain, request_: Any, clock: FakeClock
) -> None:
    model = by_model(a=RuntimeError("down"), b="fine")
    chain = make_chain(model, recall="a")
    for _ in range(3):
        with pytest.raises(ProviderError, match="down"):
            await chain.complete(request_, purpose="recall")
    begun = time.perf_counter()
    with pytest.raises(BreakerOpen, match=r"model a .*down"):
        await chain.complete(request_, purpose="recall")
    assert time.perf_counter() - begun < 0.05
    assert len(model.requests) == 3
    clock.advance(30)
    model.replies.set("*", "up again")
    assert (await chain.complete(request_, purpose="recall")).text == "up again"


@pytest.mark.spec("br/BR-53")
async def test_a_failed_first_call_does_not_outlive_its_seconds(
    make_chain: Chain, request_: Any
) -> None:
    model = ScriptedModel({"*": [ProviderError("404"), "found"]})
    chain = make_chain(model, recall="a")
    with pytest.raises(ProviderError):
        await chain.complete(request_, purpose="recall")
    assert (await chain.complete(request_, purpose="recall")).text == "found"


@pytest.mark.spec("br/BR-58")
async def test_a_turn_never_waits_for_a_busy_provider(
    make_chain: Chain, request_: Any, clock: FakeClock
) -> None:
    model = ScriptedModel({"*": [ProviderError("429", retry_after=7), "fine"]})
    chain = make_chain(model, recall="a", recall_chain=["b"])
    with pytest.raises(ProviderError):
        await chain.complete(request_, purpose="recall")
    assert clock.slept == []
    assert asked(model) == ["a"]
    with pytest.raises(BreakerOpen):
        await chain.complete(request_, purpose="recall")
    clock.advance(6.9)
    with pytest.raises(BreakerOpen):
        await chain.complete(request_, purpose="recall")
    assert asked(model) == ["a"]


@pytest.mark.spec("br/BR-58")
async def test_a_write_waits_as_long_as_it_may(
    make_chain: Chain, request_: Any, clock: FakeClock
) -> None:
    model = ScriptedModel({"*": [ProviderError("429", retry_after=7), "fine"]})
    chain = make_chain(model, retain="a")
    assert (await chain.complete(request_, purpose="retain")).text == "fine"
    assert clock.slept == [7]


@pytest.mark.spec("br/BR-58")
@pytest.mark.parametrize("seconds", [3600, 10**9])
async def test_a_long_wait_goes_back_to_the_caller(
    make_chain: Chain, request_: Any, clock: FakeClock, seconds: float
) -> None:
    model = ScriptedModel({"*": ProviderError("429", retry_after=seconds)})
    chain = make_chain(model, retain="a")
    with pytest.raises(ProviderError) as error:
        await chain.complete(request_, purpose="retain")
    assert (error.value.retry_after, error.value.retryable) == (seconds, True)
    assert clock.slept == []
    assert len(model.requests) == 1


class Counting:
    """Answers when it is told to and knows how many wait."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.most = 0
        self.go = asyncio.Event()

    async def complete(self, request: CompletionRequest) -> Completion:
        self.running.append(request.stage)
        self.most = max(self.most, len(self.running))
        await self.go.wait()
        self.running.remove(request.stage)
        return Completion(text="fine", model="slow")


@pytest.mark.spec("br/BR-58")
async def test_at_most_four_calls_run_at_once_and_a_turn_finds_a_place(make_chain: Chain) -> None:
    model = Counting()
    chain = make_chain(retain="a", factories={"fake": lambda *_: model})

    def ask(stage: str, purpose: Any) -> asyncio.Task[Completion]:
        request = CompletionRequest(stage, (Message("user", "q"),))
        return asyncio.create_task(chain.complete(request, purpose=purpose))

    writes = [ask("memorize/extract", "retain") for _ in range(30)]
    turns = [ask("recall/judge", "recall") for _ in range(5)]
    for _ in range(20):
        await asyncio.sleep(0)
    assert sorted(model.running) == [*["memorize/extract"] * 3, "recall/judge"]
    model.go.set()
    await asyncio.gather(*writes, *turns)
    assert model.most == 4


@pytest.mark.spec("br/BR-56")
async def test_a_slow_model_is_slow_and_not_dead(
    make_chain: Chain, request_: Any, clock: FakeClock
) -> None:
    model = ScriptedModel({"*": [HANG, HANG, HANG, "late but fine"]})
    chain = make_chain(model, recall="a", timeout_ms=5)
    for _ in range(3):
        with pytest.raises(ProviderError, match="did not answer"):
            await chain.complete(request_, purpose="recall")
    assert not model.closed
    clock.advance(30)
    assert (await chain.complete(request_, purpose="recall")).text == "late but fine"


async def test_a_plain_function_runs_beside_the_loop(make_chain: Chain, request_: Any) -> None:
    class Plain:
        def complete(self, request: CompletionRequest) -> Completion:
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            return Completion(text="plain", model="p")

    chain = make_chain(recall="a", factories={"fake": lambda *_: Plain()})
    assert (await chain.complete(request_, purpose="recall")).text == "plain"


@pytest.mark.parametrize("answer", ["a text", None, {"text": "x"}])
async def test_a_plugin_that_answers_something_else_has_failed(
    make_chain: Chain, request_: Any, answer: Any
) -> None:
    class Odd:
        async def complete(self, request: CompletionRequest) -> Any:
            return answer

    chain = make_chain(recall="a", factories={"fake": lambda *_: Odd()})
    with pytest.raises(ProviderError, match="not a Completion"):
        await chain.complete(request_, purpose="recall")


async def test_a_factory_that_fails_is_a_failed_candidate(make_chain: Chain, request_: Any) -> None:
    def broken(*_: Any) -> Any:
        raise ImportError("no module named torch")

    model = by_model(b="fine")
    factories = {"broken": broken, "fake": lambda *_: model}
    chain = make_chain(recall="broken:x", recall_chain=["b"], factories=factories)
    assert (await chain.complete(request_, purpose="recall")).text == "fine"


async def test_calls_are_metered_by_stage(make_chain: Chain, request_: Any) -> None:
    model = ScriptedModel({"*": "12345678"}, usage=Usage(input_tokens=100, output_tokens=7))
    chain = make_chain(model, recall="a")
    await chain.complete(request_, purpose="recall")
    assert chain.meter.snapshot() == {
        "recall/judge": {"calls": 1, "inputTokens": 100, "outputTokens": 7}
    }


async def test_tokens_are_estimated_where_nobody_counts(make_chain: Chain, request_: Any) -> None:
    chain = make_chain(ScriptedModel({"*": "12345678"}), recall="a")
    await chain.complete(request_, purpose="recall")
    counts = chain.meter.stages["recall/judge"]
    assert (counts.output_tokens, counts.estimated) == (2, 1)
    assert counts.input_tokens > 10


@pytest.mark.spec("pi/D-27")
async def test_failed_calls_count_too(make_chain: Chain, request_: Any) -> None:
    chain = make_chain(by_model(a="", b="fine"), recall="a", recall_chain=["b"])
    await chain.complete(request_, purpose="recall")
    counts = chain.meter.stages["recall/judge"]
    assert (counts.calls, counts.failures) == (2, 1)


async def test_a_used_up_budget_stops_before_the_call(make_chain: Chain, request_: Any) -> None:
    model = ScriptedModel({"*": "fine"}, usage=Usage(input_tokens=60, output_tokens=40))
    chain = make_chain(model, recall="a", budget={"tokens_per_day": 100})
    await chain.complete(request_, purpose="recall")
    with pytest.raises(BudgetExceeded, match="tokens_per_day"):
        await chain.complete(request_, purpose="recall")
    assert len(model.requests) == 1


async def test_closing_closes_the_providers(make_chain: Chain, request_: Any) -> None:
    model = ScriptedModel({"*": "fine"})
    chain = make_chain(model, recall="a")
    await chain.complete(request_, purpose="recall")
    await chain.close()
    assert model.closed


def test_importing_the_chain_is_light() -> None:
    program = (
        "import sys, hindsight_core.providers.chain, hindsight_core.providers.builtin\n"
        "heavy = {'httpx', 'pydantic', 'numpy', 'jinja2', 'rich', 'json_repair'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
