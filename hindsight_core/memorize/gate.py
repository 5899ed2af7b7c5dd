"""``retain.before_enqueue``: the user's own command that may veto a write (s1/S-RET-6).

Everything that is not a plain yes blocks: a gate that cannot be asked must not be open. What the
command decided against is left out for good; where it could not decide, it is asked again.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, TypedDict

from hindsight_core.errors import MemoryOff, WriteVetoed
from hindsight_core.state.codec import encode_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hindsight_core.config.settings import Settings
    from hindsight_core.memory import Document

# Set in every process that we start: hooks inside it do nothing (br/BR-04).
INSIDE = "HINDSIGHT_MEM_INSIDE"
_LONGEST = 300


class Gate:
    """Asks the command about each write.

    Args:
        command: The program and its arguments; no shell is involved.
        timeout_ms: How long it may think.
        env: The environment that it gets.
    """

    def __init__(
        self, command: Sequence[str], *, timeout_ms: int, env: Mapping[str, str] | None = None
    ) -> None:
        self._command = tuple(command)
        self._timeout_s = timeout_ms / 1000
        self._env = {**(os.environ if env is None else env), INSIDE: "1"}

    async def __call__(self, bank: str, document: Document) -> None:
        """Return when the write is allowed.

        The command reads one line of canonical JSON, ``{"bank", "document"}``, and allows with
        exit code 0.

        Raises:
            WriteVetoed: The command decided against it, with the reason.
            MemoryOff: It could not decide. Either way nothing is queued.
        """
        job = {"bank": bank, "document": json.loads(encode_document(document))["document"]}
        line = json.dumps(job, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env=self._env,
            )
        except (OSError, ValueError) as error:
            raise self._blocked(f"it cannot be started: {error}") from error
        try:
            async with asyncio.timeout(self._timeout_s):
                _, said = await process.communicate(line.encode() + b"\n")
        except TimeoutError:
            raise self._blocked(f"no answer within {self._timeout_s:g} s") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            why = said.decode(errors="replace").strip()[:_LONGEST]
            told = f"exit {process.returncode}" + (f": {why}" if why else "")
            if process.returncode > 0:
                raise WriteVetoed(self._told(told))
            raise self._blocked(told)

    def _blocked(self, why: str) -> MemoryOff:
        return MemoryOff(self._told(why))

    def _told(self, why: str) -> str:
        return f"retain.before_enqueue ({self._command[0]}) blocks the write: {why}"


class Gating(TypedDict):
    """What the settings say about the way of a write into the queue and out of it."""

    gate: Gate | None
    gather: int


def gating(settings: Settings, env: Mapping[str, str]) -> Gating:
    """Arguments of an `Outbox`."""
    retain = settings.retain
    gate = None
    if retain.before_enqueue:
        gate = Gate(retain.before_enqueue, timeout_ms=retain.before_enqueue_timeout_ms, env=env)
    coalesced = retain.delivery == "coalesced"
    return Gating(gate=gate, gather=settings.queue.batch if coalesced else 1)
