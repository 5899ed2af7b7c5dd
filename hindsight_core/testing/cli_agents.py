"""A loopback model server for real agent programs: Claude Code, Codex, Gemini CLI."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hindsight_core.testing.dialects import Asked, Reply, ToolCall, dialect_of
from hindsight_core.testing.model_server import ModelServer, Recorded

__all__ = ["Asked", "CliAgentServer", "ToolCall"]


class CliAgentServer(ModelServer):
    """`ModelServer` that also speaks the forms of the agents' own vendors.

    Args:
        reply: Answers each request of the agent that offers tools; the others (titles, checks)
            get a short text.
        script: Replies to memory's own stages, as in `ModelServer`.
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
        self.requests.append(request)
        asked = dialect.read(request.body)
        reply = self.reply(asked) if asked.tools else "Short."
        kind, raw = dialect.write(reply, request.body, stream=_streams(request))
        return 200, {"content-type": kind}, raw


def _streams(request: Recorded) -> bool:
    return request.body.get("stream") is True or "streamGenerateContent" in request.path
