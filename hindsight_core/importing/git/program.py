"""Runs git to read, so that nothing that a repository configures is started by it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from hindsight_core.errors import ConfigError

TIMEOUT_S = 120.0
# A repository may name programs for these; reading its history must not run them.
_SAFE = (
    "--no-pager",
    "--no-optional-locks",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "log.showSignature=false",
    "-c", "protocol.allow=never",
)  # fmt: skip
NO_PROGRAMS = ("--no-ext-diff", "--no-textconv", "--no-show-signature")


class Git:
    """Git in one folder.

    Args:
        folder: Inside a repository.
        env: The environment.
    """

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        # Another GIT_DIR would show another repository's history.
        kept = {name: value for name, value in env.items() if not name.startswith("GIT_")}
        quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C.UTF-8"}
        self._env = {**kept, **quiet}

    def read(self, *arguments: str) -> str:
        """What git prints.

        Raises:
            ConfigError: There is no git, no repository, or git refused; with what it said.
        """
        try:
            done = subprocess.run(  # noqa: S603 - arguments of ours, no shell
                self._command(arguments),
                env=self._env, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=TIMEOUT_S, check=False,
            )  # fmt: skip
        except FileNotFoundError:
            raise ConfigError("git is not installed, or not on the path") from None
        except subprocess.TimeoutExpired:
            raise ConfigError(f"git did not answer within {TIMEOUT_S:.0f} s") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise ConfigError(f"git in {self._folder}: {said or f'exit {done.returncode}'}")
        return done.stdout.decode("utf-8", "replace")

    def head_of(self, *arguments: str, most: int) -> str:
        """The first bytes of what git prints, however long that is; empty when it fails."""
        try:
            with subprocess.Popen(  # noqa: S603 - arguments of ours, no shell
                self._command(arguments),
                env=self._env, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            ) as process:  # fmt: skip
                assert process.stdout is not None  # noqa: S101 (it is a pipe)
                raw = process.stdout.read(most)
                process.kill()
        except OSError:
            return ""
        return raw.decode("utf-8", "replace")

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return ["git", "-C", os.fspath(self._folder), *_SAFE, *arguments]
