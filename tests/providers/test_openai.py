from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from hindsight_core.config.settings import Settings
from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import CompletionRequest, Message, Usage
from hindsight_core.providers.openai import OpenAIModel, api_base, openai_factory
from hindsight_core.services import Services

FINE = {
    "model": "tiny-1",
    "choices": [{"message": {"role": "assistant", "content": "fine"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3},
}


class Server:
    """Answers requests from a list, the last answer for ever, and records them."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)

    def body(self, number: int = -1) -> dict[str, Any]:
        return json.loads(self.requests[number].content)


@pytest.fixture
def make(clock: Any) -> Callable[..., OpenAIModel]:
    def make_model(server: Server, **models: Any) -> OpenAIModel:
        models.setdefault("base_url", "http://models.test:8080/v1")
        settings = Settings.model_validate({"models": models})
        transport = httpx.MockTransport(server)
        return openai_factory(settings, Services(clock=clock), transport=transport)

    return make_model


@pytest.fixture
def ask(request_: CompletionRequest) -> CompletionRequest:
    return replace(request_, model="tiny", max_tokens=160, json=True)


async def test_the_request_on_the_wire(make, ask) -> None:
    server = Server(FINE)
    model = make(server)
    completion = await model.complete(ask)
    await model.close()
    sent = server.requests[0]
    assert str(sent.url) == "http://models.test:8080/v1/chat/completions"
    assert sent.headers["x-hindsight-stage"] == "recall/judge"
    assert "authorization" not in sent.headers
    assert server.body() == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "You judge. (hindsight stage: recall/judge)"},
            {"role": "user", "content": "which facts?"},
        ],
        "stream": False,
        "max_tokens": 160,
        "response_format": {"type": "json_object"},
    }
    assert (completion.text, completion.model) == ("fine", "tiny-1")
    assert completion.usage == Usage(input_tokens=12, output_tokens=3)


@pytest.mark.spec("pi/L-04")
async def test_text_blocks_are_joined_by_line_breaks(make, ask) -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]
    server = Server({"choices": [{"message": {"content": blocks}}]})
    completion = await make(server).complete(ask)
    assert completion.text == "one\ntwo"
    assert completion.usage is None


async def test_the_key_is_read_from_the_named_variable(make, ask, monkeypatch) -> None:
    secret = "-".join(["made", "up", "value"])
    monkeypatch.setenv("MY_KEY", f" {secret}\n")
    server = Server(FINE)
    await make(server, api_key_env="MY_KEY").complete(ask)
    assert server.requests[0].headers["authorization"] == f"Bearer {secret}"


@pytest.mark.spec("pi/L-03")
async def test_a_missing_key_is_a_failure_that_names_the_variable(make, ask, monkeypatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    server = Server(FINE)
    with pytest.raises(ProviderError, match="MY_KEY, which is not set") as error:
        await make(server, api_key_env="MY_KEY").complete(ask)
    assert not error.value.retryable
    assert server.requests == []


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://a:1", "http://a:1/v1"),
        ("http://a:1/", "http://a:1/v1"),
        ("http://a:1/v1", "http://a:1/v1"),
        ("http://a:1/v1/", "http://a:1/v1"),
        ("https://a/api/v1//", "https://a/api/v1"),
        ("https://a/openai", "https://a/openai"),
        ("http://a/v1/chat/completions", "http://a/v1"),
        ("http://a/v1?api-version=2", "http://a/v1?api-version=2"),
    ],
)
def test_the_base_url_is_taken_as_people_write_it(given: str, used: str) -> None:
    assert api_base(given) == used


async def test_a_query_in_the_base_url_stays(make, ask) -> None:
    server = Server(FINE)
    await make(server, base_url="http://a/v1?api-version=2").complete(ask)
    assert str(server.requests[0].url) == "http://a/v1/chat/completions?api-version=2"


def refused(message: str, status: int = 400) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message}})


async def test_json_mode_is_left_out_where_the_server_does_not_know_it(make, ask) -> None:
    server = Server(refused("'response_format.type' must be 'json_schema' or 'text'"), FINE)
    model = make(server)
    await model.complete(ask)
    assert "response_format" in server.body(0)
    assert "response_format" not in server.body(1)
    await model.complete(ask)
    assert "response_format" not in server.body(2)
    assert len(server.requests) == 3


async def test_the_newer_name_of_the_output_bound(make, ask) -> None:
    complaint = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    server = Server(refused(complaint), FINE)
    await make(server).complete(ask)
    assert server.body(1)["max_completion_tokens"] == 160
    assert "max_tokens" not in server.body(1)


async def test_another_400_is_not_tried_again(make, ask) -> None:
    server = Server(refused("context length exceeded"))
    with pytest.raises(ProviderError, match=r"400 \(context length exceeded\)") as error:
        await make(server).complete(ask)
    assert len(server.requests) == 1
    assert not error.value.retryable


async def test_a_server_that_always_complains_is_given_up(make, ask) -> None:
    server = Server(refused("response_format temperature max_completion_tokens"))
    with pytest.raises(ProviderError):
        await make(server).complete(replace(ask, temperature=0.0))
    assert len(server.requests) <= 4


async def test_401_names_the_variable(make, ask, monkeypatch) -> None:
    monkeypatch.setenv("MY_KEY", "x" * 6)
    with pytest.raises(ProviderError, match=r"401 .*environment variable MY_KEY") as error:
        await make(Server(refused("bad key", 401)), api_key_env="MY_KEY").complete(ask)
    assert not error.value.retryable
    assert "x" * 6 not in str(error.value)


async def test_401_without_a_key_says_where_to_name_it(make, ask) -> None:
    with pytest.raises(ProviderError, match=r"models\.api_key_env"):
        await make(Server(httpx.Response(401))).complete(ask)


@pytest.mark.spec("br/BR-58")
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("3600", 3600),
        ("Wed, 15 Jan 2025 12:00:30 GMT", 30),
        ("Wed, 15 Jan 2020 12:00:30 GMT", 0),
        ("soon", None),
        ("nan", None),
        ("", None),
    ],
)
async def test_429_tells_how_long_to_wait_and_is_not_tried_again(
    make, ask, header: str, seconds: float | None
) -> None:
    server = Server(httpx.Response(429, headers={"Retry-After": header}))
    with pytest.raises(ProviderError, match="429") as error:
        await make(server).complete(ask)
    assert error.value.retry_after == seconds
    assert error.value.retryable
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (httpx.Response(500, text="<html>nginx</html>"), "answered 500. Try again later"),
        (httpx.Response(404, json={"detail": "no model tiny"}), r"404 \(no model tiny\).*name"),
        (
            httpx.Response(200, text="<html>Welcome</html>", headers={"content-type": "text/html"}),
            r"no JSON object \(text/html\).*models.base_url",
        ),
        (httpx.Response(200, text=""), "an empty body"),
        (httpx.Response(200, text='{"choices": ['), "no JSON object"),
        (httpx.Response(200, json=["choices"]), "no JSON object"),
        (httpx.Response(200, json={}), "without choices"),
        (httpx.Response(200, json={"error": {"message": "overloaded"}}), "overloaded"),
        (httpx.Response(200, json={"choices": []}), "without choices"),
        (httpx.Response(200, json={"choices": [None]}), "without choices"),
        (httpx.Response(200, json={"choices": [{"message": None}]}), "empty text"),
        (httpx.Response(200, json={"choices": [{"message": {"content": None}}]}), "empty text"),
        (
            httpx.Response(
                200, json={"choices": [{"message": {"content": " "}, "finish_reason": "length"}]}
            ),
            "tokens ran out",
        ),
        (httpx.Response(302, headers={"location": "https://other/"}), "sends to https://other/"),
        (httpx.ConnectError("refused"), "cannot be reached: refused.*models.base_url"),
        (httpx.ReadTimeout("slow"), "did not answer within 20 s"),
        (httpx.RemoteProtocolError("closed"), "cannot be reached: closed"),
        (httpx.Response(200, text="[" * 100_000), "no JSON object"),
    ],
)
async def test_whatever_goes_wrong_is_a_provider_error_that_says_what(
    make, ask, answer: Any, says: str
) -> None:
    with pytest.raises(ProviderError, match=says):
        await make(Server(answer)).complete(ask)


async def test_an_endless_answer_is_cut(make, ask, monkeypatch) -> None:
    monkeypatch.setattr("hindsight_core.providers.http.MAX_ANSWER_BYTES", 1000)
    with pytest.raises(ProviderError, match="more than 1000 bytes"):
        await make(Server(httpx.Response(200, text="x" * 5000))).complete(ask)


async def test_credentials_in_the_url_are_not_shown(make, ask) -> None:
    word = "hidden" + "word"
    with pytest.raises(ProviderError) as error:
        await make(Server(httpx.Response(500)), base_url=f"http://me:{word}@a/v1").complete(ask)
    assert word not in str(error.value)


async def test_without_a_name_the_server_is_asked_for_its_model(make, ask) -> None:
    server = Server({"data": [{"id": "only-one"}]}, FINE)
    model = make(server)
    await model.complete(replace(ask, model=None))
    await model.complete(replace(ask, model=None))
    assert [r.url.path for r in server.requests] == [
        "/v1/models",
        "/v1/chat/completions",
        "/v1/chat/completions",
    ]
    assert server.body(1)["model"] == "only-one"


async def test_lone_surrogates_reach_the_wire_as_question_marks(make, ask) -> None:
    server = Server(FINE)
    await make(server).complete(replace(ask, messages=(Message("user", "a\ud800b"),)))
    assert server.body()["messages"][1]["content"] == "a?b"


async def test_one_client_serves_all_calls_and_is_closed(make, ask) -> None:
    model = make(Server(FINE))
    await model.complete(ask)
    first = model._endpoint._client
    await model.complete(ask)
    assert model._endpoint._client is first
    await model.close()
    assert first.is_closed


def test_a_url_is_needed() -> None:
    with pytest.raises(ProviderError, match=r"needs models\.base_url"):
        openai_factory(Settings.model_validate({"models": {"provider": "openai"}}), Services())
