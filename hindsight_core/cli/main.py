"""The command tree; a command's module is imported only when it runs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword

import click

# name -> (module, short help): the help is here so that `--help` imports nothing else.
COMMANDS = {
    "remember": "memorize transcript files: session files, canonical JSONL, plain text",
    "recall": "search the bank",
    "reflect": "compose an answer from the bank",
    "import": "bring past sessions, git history, what other memories have kept",
    "bank": "banks: list, show, stats, delete, export, import, sync, promote, vacuum",
    "facts": "facts: list, show, edit, invalidate, expire, restore, verify, pin, delete",
    "consolidate": "let one memory stand for two that are alike",
    "documents": "documents: list, show, delete",
    "review": "what was stored by itself: list, show, approve, edit, delete, undo",
    "queue": "the write queue: list, show, flush, retry, purge, receipts",
    "sessions": "what each session may read and write: list, show, set, forget",
    "config": "configuration: show, set, check",
    "trust": "trust a project's configuration and templates",
    "prompts": "templates: list, show, copy, check",
    "plugins": "plugins: what is installed, broken or shadowed",
    "log": "what was recalled, stored and failed",
    "usage": "model calls and tokens by stage and day",
    "panel": "look at memory and change it, in this terminal",
    "explain": "why a fact was or was not injected in a turn",
    "install": "wire memory into a host",
    "uninstall": "take it out again",
    "mcp": "serve the memory tools to an MCP client",
    "bridge": "serve one host process on stdin and stdout",
    "hook": "answer one event of an agent that runs hooks",
    "doctor": "test the real path end to end and say what to do",
}


class LazyGroup(click.Group):
    """Imports ``hindsight_core.cli.<name>`` on demand; plugins may add commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Built-in commands in the order of a day's work, then those of plugins."""
        return [*COMMANDS, *sorted(_plugin_commands())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name in COMMANDS:
            name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
            command = getattr(import_module(f"hindsight_core.cli.{name}"), name)
            assert isinstance(command, click.Command)  # noqa: S101 (a wrong module is a bug here)
            return command
        registered = _plugin_commands().get(cmd_name)
        return registered() if registered else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their short help."""
        rows = list(COMMANDS.items())
        rows += [(name, "added by a plugin") for name in sorted(_plugin_commands())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _plugin_commands() -> dict[str, Callable[[], click.Command]]:
    import os

    from hindsight_core.plugins import load_hooks

    return {name: item.factory for name, item in load_hooks(env=os.environ).cli.items()}


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hindsight-core", prog_name="hindsight-mem")
def cli() -> None:
    """Long-term memory for coding agents."""
