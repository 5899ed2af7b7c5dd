"""What every command is given: settings, output in two forms, and the runtime."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from hindsight_core.config.layers import Loaded
    from hindsight_core.config.paths import Paths
    from hindsight_core.config.settings import Settings
    from hindsight_core.plugins import Hooks
    from hindsight_core.runtime import Runtime

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])

_PIPE_COLUMNS = 1000


@dataclass
class App:
    """One invocation of the command line.

    Attributes:
        json: Data goes to stdout as one JSON document.
        bank_name: The ``--bank`` option; None for the project's bank.
    """

    json: bool = False
    bank_name: str | None = None

    @cached_property
    def loaded(self) -> Loaded:
        """The effective configuration for this directory."""
        return self._configured[0]

    def reload(self) -> Loaded:
        """The configuration, read again."""
        return self._configure()[0]

    @cached_property
    def _configured(self) -> tuple[Loaded, Hooks]:
        return self._configure()

    def _configure(self) -> tuple[Loaded, Hooks]:
        from hindsight_core.configure import configure

        overrides = {"bank": {"id": self.bank_name}} if self.bank_name else None
        return configure(cwd=Path.cwd(), env=os.environ, overrides=overrides)

    @property
    def settings(self) -> Settings:
        """Effective settings."""
        return self.loaded.settings

    @property
    def paths(self) -> Paths:
        """Where our files are."""
        from hindsight_core.config.paths import Paths

        return Paths.from_env(os.environ)

    def warn(self) -> None:
        """Say on stderr what is wrong with the configuration."""
        from hindsight_core.configure import unprovided

        for warning in (*self.loaded.warnings, *unprovided(*self._configured)):
            print(f"hindsight-mem: {warning}", file=sys.stderr)

    def _tell_unknown_bank(self) -> None:
        """A name after ``--bank`` that no bank here has reads as an empty bank: say which it is."""
        choice = self.loaded.bank
        if not self.bank_name or choice.id is None or choice.backend != "sqlite":
            return
        from hindsight_core.banks.sqlite import bank_path

        if not bank_path(self.paths.banks, choice.id).exists():
            those = "`hindsight-mem bank list` shows those that are"
            print(f"hindsight-mem: there is no bank {choice.id} yet; {those}", file=sys.stderr)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end."""
        return asyncio.run(work)

    def emit(self, data: dict[str, Any], human: Callable[[Console], None]) -> None:
        """Print data as JSON with ``--json``, else in the human form."""
        if self.json:
            click.echo(json.dumps(data, ensure_ascii=False, default=str))
            return
        from rich.console import Console

        terminal = sys.stdout.isatty()
        # In a file or a pipe nothing is cut or folded, tables neither.
        width = None if terminal else _PIPE_COLUMNS
        human(Console(highlight=False, soft_wrap=not terminal, width=width))

    @asynccontextmanager
    async def runtime(self, *, read_only: bool = False) -> AsyncIterator[Runtime]:
        """Everything that a command may need, built on demand and closed at the end."""
        from hindsight_core.runtime import Runtime

        self.warn()
        if read_only:
            self._tell_unknown_bank()
        runtime = Runtime(self.loaded, read_only=read_only, hooks=self._configured[1])
        try:
            yield runtime
        finally:
            await runtime.close()
            _tell_damaged(runtime)


def _tell_damaged(runtime: Runtime) -> None:
    """Say which of the files that all sessions share were set aside: some of it may be gone."""
    built = vars(runtime)
    shared = [built[name].database for name in ("queue", "sessions", "usage") if name in built]
    moved = {database.path: database.set_aside for database in shared if database.set_aside}
    for path, aside in moved.items():
        told = f"{path} was damaged: it is kept as {aside}, and a new one was begun"
        print(f"hindsight-mem: {told}", file=sys.stderr)


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal before something is gone for good; elsewhere ``--yes`` has to say so.

    Raises:
        ConfigError: There is nobody to ask and ``--yes`` was not given.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfigError(f"{question} There is no terminal to ask on: add --yes to confirm it.")
    click.confirm(question, abort=True, err=True)


def check_editor(instead: str) -> None:
    """Before an editor is opened: nobody can use or leave one where no terminal is.

    Raises:
        ConfigError: There is none; the message names what to give instead.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        raise ConfigError(f"there is no terminal to open an editor on: give {instead}")


def common(command: Command) -> Command:
    """Give a command ``--json`` and ``--bank`` and an `App` as its first argument."""

    @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    @click.option(
        "--bank",
        "bank_name",
        metavar="NAME",
        callback=not_blank,
        help="A bank other than the project's.",
    )
    @functools.wraps(command)
    def wrapper(*args: object, as_json: bool, bank_name: str | None, **kwargs: object) -> object:
        return command(App(json=as_json, bank_name=bank_name), *args, **kwargs)

    return wrapper  # type: ignore[return-value]


def not_blank(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A bank's name; a blank one would pass for none, and the project's bank for the one meant."""
    if value is not None and not value.strip():
        raise click.BadParameter("is blank; name a bank, or leave it out", ctx, param)
    return value


def progress(text: str) -> None:
    """Overwrite the line of progress, where a person watches; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
