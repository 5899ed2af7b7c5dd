"""``HINDSIGHT_MEM_TRACE=1``: one line on stderr for every call of a hook implementation."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from hindsight_core.redact import Redactor

VARIABLE = "HINDSIGHT_MEM_TRACE"
SHOWN = 100
BOUND = 20_000
_FALSE = ("", "0", "false", "no", "off")


def wanted(env: Mapping[str, str]) -> bool:
    """Whether the environment asks for a trace."""
    return env.get(VARIABLE, "").strip().lower() not in _FALSE


class Trace:
    """Writes hook, implementation, arguments, result and time; values short and redacted.

    Args:
        stream: Where to; stderr by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._redactor: Redactor | None = None

    def call(
        self, hook: str, who: str, arguments: Mapping[str, Any], result: str, *, seconds: float
    ) -> None:
        """Write one line; a trace that cannot be written is no reason to stop."""
        shown = ", ".join(f"{name}={self.show(value)}" for name, value in arguments.items())
        line = f"hindsight trace: {hook} {who}({shown}) -> {result} [{seconds * 1000:.1f} ms]\n"
        try:
            (self._stream or sys.stderr).write(line)
        except (OSError, ValueError):
            return

    def show(self, value: object) -> str:
        """A value in a few words: redacted first, then cut."""
        if callable(value) and hasattr(value, "__name__"):
            return str(value.__name__)
        try:
            text = self._redact(repr(value)[:BOUND])
        except Exception as error:
            return f"<{type(value).__name__}: no repr, {type(error).__name__}>"
        return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."

    def _redact(self, text: str) -> str:
        from hindsight_core.redact import Redactor

        if self._redactor is None:
            self._redactor = Redactor()
        return self._redactor.redact(text)
