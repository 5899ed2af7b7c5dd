"""Imports: one at a time, and on request without a terminal."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.errors import ConfigError, StorageError
from hindsight_core.folders import private_folder
from hindsight_core.host import program

if TYPE_CHECKING:
    from hindsight_core.cli.app import App

LOCK = "import.lock"
LOG = "import.log"


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Hold the lock of imports; the system frees it however the process ends.

    Raises:
        ConfigError: Another import is running.
        StorageError: The lock cannot be made.
    """
    try:
        private_folder(home)
        stream = (home / LOCK).open("a+", encoding="ascii")
    except OSError as error:
        raise StorageError(f"{home / LOCK}: {error.strerror or error}") from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            owner = stream.read(20).strip() or "unknown"
            raise ConfigError(
                f"another import is running (process {owner}). Wait for it or end it."
            ) from None
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield


def start(app: App, command: Sequence[str], options: Mapping[str, object]) -> int:
    """Start a command as a process of its own, and say where its output goes.

    Args:
        app: The invocation, whose own options are passed on.
        command: The command and its arguments.
        options: Values by option; None and False are left out, True is a switch.

    Raises:
        ConfigError: Another import is running.
    """
    given = {"--json": app.json, "--bank": app.bank_name, **options}
    set_ones = {name: value for name, value in given.items() if value not in (None, False)}
    arguments = [*command]
    for name, value in set_ones.items():
        arguments += [name] if value is True else [name, str(value)]
    with alone(app.paths.home):
        pass
    log = app.paths.logs / LOG
    private_folder(log.parent)
    with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        process = subprocess.Popen(  # noqa: S603 - this very program
            [*program(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    data = {"process": process.pid, "log": str(log)}
    app.emit(
        data,
        lambda console: console.print(
            f"importing in the background (process {process.pid}); see {log}", markup=False
        ),
    )
    return 0
