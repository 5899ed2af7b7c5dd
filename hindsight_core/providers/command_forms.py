"""How known agents are asked in their print modes, and what they print."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindsight_core.providers.base import Usage


@dataclass(frozen=True, slots=True)
class Form:
    """The print mode of one agent program.

    Attributes:
        arguments: Behind the program's name; the prompt comes on stdin.
        model: The option that names a model.
        system: The option that takes the system line; None puts it in front of the prompt.
    """

    arguments: tuple[str, ...]
    model: str
    system: str | None = None


# No tools, no hooks, no servers, no session file, wherever the program can do without.
FORMS: Mapping[str, Form] = {
    "claude": Form(
        arguments=(
            "-p", "--output-format", "json", "--no-session-persistence", "--tools", "",
            "--strict-mcp-config", "--disable-slash-commands",
            "--settings", '{"disableAllHooks":true}',
        ),
        model="--model",
        system="--system-prompt",
    ),
    "codex": Form(
        arguments=(
            "exec", "--json", "--ephemeral", "--skip-git-repo-check", "-s", "read-only",
            "--disable", "hooks", "-c", "mcp_servers={}",
        ),
        model="-m",
    ),
    "gemini": Form(
        arguments=(
            "-o", "json", "--approval-mode", "plan", "--skip-trust", "-e", "none",
            "--allowed-mcp-server-names", "none", "-p", "",
        ),
        model="-m",
    ),
}  # fmt: skip
# What an agent sets for the processes of one of its sessions: a print mode is no part of it.
SESSION_MARKS = frozenset(
    {
        "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID", "CLAUDE_ENV_FILE", "CLAUDE_PROJECT_DIR", "CODEX_THREAD_ID",
        "GEMINI_CLI", "GEMINI_CWD", "GEMINI_PLANS_DIR", "GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Offer:
    """An agent program that could answer memory's model calls.

    Attributes:
        name: As in ``models.command``.
        program: Where it is.
        arguments: Its print mode, as it would be asked.
    """

    name: str
    program: str
    arguments: tuple[str, ...]


def offers(env: Mapping[str, str]) -> list[Offer]:
    """The known agents on this environment's path, best first: the one that adds least comes first.

    For ``doctor``, and for ``models.provider = command`` without ``models.command``.
    """
    found = ((name, shutil.which(name, path=env.get("PATH"))) for name in FORMS)
    return [Offer(name, path, FORMS[name].arguments) for name, path in found if path]


def form_of(command: tuple[str, ...]) -> Form | None:
    """The print mode of a bare known program; None for an argv that says everything itself."""
    return FORMS.get(Path(command[0]).name) if len(command) == 1 else None


def read_answer(output: str) -> tuple[str, str | None, Usage | None]:
    """Text, model and usage of what a command printed: JSON of a known form, or plain text."""
    for value in _objects(output):
        if isinstance(value.get("result"), str):
            return value["result"], _only(value.get("modelUsage")), _usage(value.get("usage"))
        if isinstance(value.get("response"), str):
            models = (value.get("stats") or {}).get("models")
            return value["response"], _only(models), _gemini_usage(models)
    events = list(_objects(output, lines=True))
    items = [e.get("item") for e in events if e.get("type") == "item.completed"]
    said = [i for i in items if isinstance(i, dict) and i.get("type") == "agent_message"]
    if said:
        counts = [e.get("usage") for e in events if e.get("type") == "turn.completed"]
        return str(said[-1].get("text") or ""), None, _usage(counts[-1] if counts else None)
    return output, None, None


def _objects(output: str, *, lines: bool = False) -> Iterator[dict[str, Any]]:
    for text in output.splitlines() if lines else (output,):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _only(models: object) -> str | None:
    return next(iter(models), None) if isinstance(models, dict) else None


def _usage(given: object) -> Usage | None:
    if not isinstance(given, dict):
        return None
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return Usage(sum(_number(given.get(n)) for n in read), _number(given.get("output_tokens")))


def _gemini_usage(models: object) -> Usage | None:
    if not isinstance(models, dict):
        return None
    tokens = [m.get("tokens") for m in models.values() if isinstance(m, dict)]
    counts = [t for t in tokens if isinstance(t, dict)]
    return Usage(
        sum(_number(t.get("prompt")) for t in counts),
        sum(_number(t.get("candidates")) + _number(t.get("thoughts")) for t in counts),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
