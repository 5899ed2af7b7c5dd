"""Scripted models: `ScriptedModel` in memory, `ModelServer` on a loopback port.

Both answer by stage, from a script::

    {"recall/queries": {"queries": ["redis ttl"]},       # a JSON answer, always this
     "tasks/briefing": "NONE",                           # a text
     "recall/judge": ["{...}", "{...}"],                 # in order, the last one stays
     "memorize/extract": {"match": [["(?i)redis", {"facts": []}]], "else": "garbage"},
     "*": "NONE"}                                        # every other stage

Run ``python -m hindsight_core.testing.models --script FILE`` for a server to try things with.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hindsight_core.errors import ProviderError
from hindsight_core.providers.base import Completion, CompletionRequest, Purpose, Usage

if TYPE_CHECKING:
    from hindsight_core.testing.model_server import ModelServer as ModelServer

HANG = object()
"""A reply that never comes; the call ends when it is cancelled."""


class Replies:
    """Picks the next reply of a stage.

    Args:
        script: Replies by stage, or a plain sequence for all stages in order.
    """

    def __init__(self, script: object) -> None:
        self._script: dict[str, object] = (
            dict(script) if isinstance(script, Mapping) else {"*": script}
        )
        self._used: dict[str, int] = {}

    def set(self, stage: str, reply: object) -> None:
        """Change what a stage answers from now on."""
        self._script[stage] = reply
        self._used.pop(stage, None)

    def next(self, stage: str, text: str = "") -> object:
        """The reply; raises KeyError for a stage that the script does not have.

        Args:
            stage: Who asks.
            text: What is asked, for replies with ``match``.
        """
        key = stage if stage in self._script else "*"
        if key not in self._script:
            raise KeyError(stage)
        reply = self._script[key]
        if isinstance(reply, list | tuple):
            number = min(self._used.get(key, 0), len(reply) - 1)
            self._used[key] = number + 1
            reply = reply[number]
        if isinstance(reply, Mapping) and "match" in reply:
            found = (answer for pattern, answer in reply["match"] if re.search(pattern, text))
            reply = next(found, reply.get("else", ""))
        return reply


class ScriptedModel:
    """A model whose answers are written down; also a whole `ModelAccess` for pipelines.

    A reply may be a text, a mapping (given as JSON), a `Completion`, an exception to
    raise, `HANG`, or a function of the request giving one of these. An
    empty text is given as it is.

    Attributes:
        requests: What was asked, in order.
        purposes: For each request made as a `ModelAccess`, its purpose.
    """

    def __init__(
        self,
        script: object = None,
        *,
        model: str = "scripted",
        window: int = 32_000,
        usage: Usage | None = None,
        configured: bool = True,
    ) -> None:
        self.replies = Replies({} if script is None else script)
        self.requests: list[CompletionRequest] = []
        self.purposes: list[Purpose] = []
        self.closed = False
        self._model = model
        self._window = window
        self._usage = usage
        self._configured = configured

    @property
    def stages(self) -> list[str]:
        """Stages asked, in order."""
        return [request.stage for request in self.requests]

    def asked(self, stage: str) -> list[CompletionRequest]:
        """Requests of one stage."""
        return [request for request in self.requests if request.stage == stage]

    def available(self, purpose: Purpose) -> bool:
        """As `ModelAccess`: whether it was made as a configured one."""
        return self._configured

    async def context_window(self, purpose: Purpose) -> int:
        """As `ModelAccess`: the window given."""
        return self._window

    async def complete(
        self, request: CompletionRequest, *, purpose: Purpose | None = None
    ) -> Completion:
        """Answer by the script; raises `ProviderError` for a stage that it does not have."""
        self.requests.append(request)
        if purpose is not None:
            self.purposes.append(purpose)
        try:
            reply = self.replies.next(request.stage, request.messages[-1].content)
        except KeyError:
            raise ProviderError(f"the script has no reply for {request.stage}") from None
        if callable(reply) and not isinstance(reply, type):
            reply = reply(request)
        if reply is HANG:
            await asyncio.Event().wait()
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, Completion):
            return reply
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        return Completion(text=text, model=request.model or self._model, usage=self._usage)

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def __getattr__(name: str) -> object:
    """`ModelServer`, imported when it is asked for."""
    if name != "ModelServer":
        raise AttributeError(name)
    from hindsight_core.testing.model_server import ModelServer

    return ModelServer


if __name__ == "__main__":
    from hindsight_core.testing.model_server import main

    main()
