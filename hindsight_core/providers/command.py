"""A command as a model: an agent's own print mode, so that no key is needed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.config.env import INSIDE
from hindsight_core.config.paths import Paths
from hindsight_core.errors import ProviderError
from hindsight_core.folders import private_folder
from hindsight_core.providers.base import Completion, CompletionRequest
from hindsight_core.providers.command_forms import SESSION_MARKS, form_of, offers, read_answer

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

MAX_OUTPUT = 8 * 1024 * 1024
_SHOWN = 300


class CommandModel:
    """Implements `hindsight_core.providers.base.Model`: the prompt on stdin, the answer on stdout.

    Whatever the command starts carries the mark at which our hooks do nothing (br/BR-04). It runs
    in an empty folder of ours, so that it reads no project, and ends with the call.

    Args:
        command: An argv, or the bare name of a known agent.
        env: The session's environment.
        folder: Where it runs.
    """

    def __init__(self, command: tuple[str, ...], *, env: Mapping[str, str], folder: Path) -> None:
        self._command = command
        self._form = form_of(command)
        self._folder = folder
        self._env = {name: value for name, value in env.items() if name not in SESSION_MARKS}
        self._env[INSIDE] = "1"

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request; raises `ProviderError`."""
        output = await self._run(self._arguments(request), self._prompt(request))
        text, model, usage = read_answer(output)
        if not text.strip():
            raise ProviderError(f"{self._name} answered {request.stage} with an empty text")
        return Completion(text=text, model=request.model or model or self._name, usage=usage)

    @property
    def _name(self) -> str:
        return Path(self._command[0]).name

    def _arguments(self, request: CompletionRequest) -> list[str]:
        arguments = list(self._command)
        if self._form is None:
            return arguments
        arguments += self._form.arguments
        if request.model:
            arguments += [self._form.model, request.model]
        if self._form.system and request.system:
            arguments += [self._form.system, request.system]
        return arguments

    def _prompt(self, request: CompletionRequest) -> str:
        apart = self._form is not None and self._form.system is not None
        pieces = [request.system] if request.system and not apart else []
        if len(request.messages) == 1:
            pieces.append(request.messages[0].content)
        else:
            pieces += [f"[{message.role}]\n{message.content}" for message in request.messages]
        return "\n\n".join(pieces)

    async def _run(self, arguments: list[str], prompt: str) -> str:
        try:
            private_folder(self._folder)
            process = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self._folder,
                env=self._env,
                # A group of its own: what it starts ends with it.
                start_new_session=True,
                limit=MAX_OUTPUT,
            )
        except (OSError, ValueError) as error:
            raise ProviderError(
                f"models.command: {arguments[0]} cannot be started: {error}. Install it, or change "
                "the setting.",
                retryable=False,
            ) from error
        try:
            out, err = await process.communicate(prompt.encode("utf-8", "replace"))
        finally:
            await _end(process)
        if process.returncode != 0:
            raise ProviderError(f"{self._name} ended with {process.returncode}: {_said(err, out)}")
        return out[:MAX_OUTPUT].decode("utf-8", "replace")


def command_factory(settings: Settings, services: Services) -> CommandModel:
    """The factory registered as ``command``.

    Raises:
        ProviderError: No command is set and no known agent is installed.
    """
    command = settings.models.command
    if not command:
        command = tuple(offer.program for offer in offers(services.env)[:1])
    if not command:
        raise ProviderError(
            "models.provider = command, but models.command is not set and neither claude nor codex "
            "nor gemini is on the path. Set models.command.",
            retryable=False,
        )
    folder = Paths.from_env(services.env).home / "print-mode"
    return CommandModel(command, env=services.env, folder=folder)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Nothing of it lives on, also when the call was given up."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        await asyncio.shield(process.wait())


def _said(*outputs: bytes) -> str:
    """The last line that explains a failure."""
    for output in outputs:
        lines = output.decode("utf-8", "replace").strip().splitlines()
        if lines:
            return lines[-1].strip()[:_SHOWN]
    return "it said nothing"
