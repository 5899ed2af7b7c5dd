"""A loopback model server for real agent programs: Claude Code, Codex, Gemini CLI."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from hindsight_core.testing.dialects import Asked, Reply, ToolCall, dialect_of
from hindsight_core.testing.model_server import ModelServer, Recorded

_MARK = re.compile(r"\(hindsight stage: ([^()\s]+)\)")

__all__ = ["Asked", "CliAgentServer", "ToolCall"]


class CliAgentServer(ModelServer):
    """`ModelServer` that also speaks the forms of the agents' own vendors.

    Args:
        reply: Answers each request of the agent that offers tools; the others (titles, checks)
            get a short text.
        script: Replies to memory's own stages, as in `ModelServer`, also where an agent's print
            mode asks them.
    """

    def __init__(
        self, reply: Callable[[Asked], Reply] | None = None, *, script: object = None
    ) -> None:
        super().__init__(script)
        self.reply = reply or (lambda asked: "Understood.")

    @property
    def address(self) -> str:
        """The server's root, which the agents put their own paths behind."""
        return self.url.removesuffix("/v1")

    def conversation(self) -> list[Asked]:
        """The agent's own requests that offer tools, in order."""
        found = ((r, dialect_of(r.path)) for r in self.requests)
        asked = [dialect.read(r.body) for r, dialect in found if dialect and r.body]
        return [each for each in asked if each.tools]

    def answer(self, request: Recorded) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body for a request."""
        dialect = dialect_of(request.path)
        if dialect is None:
            return super().answer(request)
        asked = dialect.read(request.body)
        stage = _MARK.search(asked.everything)
        self.requests.append(replace(request, stage=stage[1]) if stage else request)
        scripted = self._scripted(stage[1], asked.user) if stage else None
        usual = self.reply(asked) if asked.tools else "Short."
        reply = usual if scripted is None else scripted
        kind, raw = dialect.write(reply, request.body, stream=_streams(request))
        return 200, {"content-type": kind}, raw

    def _scripted(self, stage: str, prompt: str) -> str | None:
        """The reply to a stage of memory that came through the agent's own print mode."""
        try:
            reply = self.replies.next(stage, prompt)
        except KeyError:
            return None
        return reply if isinstance(reply, str) else json.dumps(reply)


def _streams(request: Recorded) -> bool:
    return request.body.get("stream") is True or "streamGenerateContent" in request.path
