"""Installs and removes plugins with the installer of the environment that this program runs in."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hindsight_core.errors import PluginError

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
_PROBE = """
import json
from importlib.metadata import entry_points
from hindsight_core.plugins.discovery import GROUP, owner
from hindsight_core.plugins.hosts import GROUP as HOSTS
points = [point for group in (GROUP, HOSTS) for point in entry_points(group=group)]
print(json.dumps(sorted({owner(point) for point in points})))
"""
_LOADED = """
import json
from hindsight_core.plugins import load_hooks
print(json.dumps([
    {"distribution": plugin.distribution, "name": plugin.name, "status": plugin.status,
     "reason": plugin.reason, "provides": plugin.provides, "hooks": plugin.hooks}
    for plugin in load_hooks().plugins
]))
"""
_MANAGED = "externally-managed-environment"
_LINES = 6


@dataclass(frozen=True, slots=True)
class Changed:
    """What an installation or removal changed.

    Attributes:
        command: What was run.
        before: Distributions with plugins, and their versions, before it.
        after: The same after it.
    """

    command: tuple[str, ...]
    before: dict[str, str]
    after: dict[str, str]

    @property
    def new(self) -> list[str]:
        """Distributions that came, or came in another version."""
        return [name for name in self.after if self.before.get(name) != self.after[name]]

    @property
    def gone(self) -> list[str]:
        """Distributions that are no longer there."""
        return [name for name in self.before if name not in self.after]


class Installer:
    """pip of this environment, or uv where it has no pip.

    Args:
        run: Runs a command and gives its result with text output; a fake one in tests.
        python: The interpreter whose environment is changed.
        has_pip: Whether that environment has pip; None to look.
        uv: Path of uv; None to look for it, empty for none.
    """

    def __init__(
        self,
        *,
        run: Run | None = None,
        python: str = sys.executable,
        has_pip: bool | None = None,
        uv: str | None = None,
    ) -> None:
        self._run = run or _run
        self._python = python
        self._has_pip = find_spec("pip") is not None if has_pip is None else has_pip
        self._uv = uv

    def install(self, what: Sequence[str], *, upgrade: bool = False) -> Changed:
        """Install distributions by name, requirement, folder, archive or URL.

        Raises:
            PluginError: The installer failed, or there is none; the message has its own reason.
        """
        flags = ("--upgrade",) if upgrade else ()
        return self._change(self.command("install", *flags, *what), what)

    def uninstall(self, names: Sequence[str]) -> Changed:
        """Remove distributions by name.

        Raises:
            PluginError: The installer failed, or there is none.
        """
        yes = ("--yes",) if self._has_pip else ()
        return self._change(self.command("uninstall", *yes, *names), names)

    def command(self, verb: str, *arguments: str) -> tuple[str, ...]:
        """The command line that is run.

        Raises:
            PluginError: This environment has neither pip nor uv.
        """
        if self._has_pip:
            quiet = ("--quiet", "--disable-pip-version-check")
            return (self._python, "-m", "pip", verb, *quiet, *arguments)
        uv = _uv() if self._uv is None else self._uv
        if not uv:
            raise PluginError(
                f"{self._python} has no pip, and there is no uv on the PATH; install one of them, "
                f"or install the plugin as you installed hindsight-core",
                distribution="hindsight-core",
            )
        return (uv, "pip", verb, "--quiet", "--python", self._python, *arguments)

    def installed(self) -> dict[str, str]:
        """Distributions with plugins or host adapters, and their versions, as a new process."""
        return dict(self._asked(_PROBE))

    def plugins(self) -> list[dict[str, Any]]:
        """Every plugin with distribution, name, status, reason, hooks and what it provides."""
        return list(self._asked(_LOADED))

    def _asked(self, program: str) -> Any:  # noqa: ANN401 - JSON
        """Ask a new process: this one may not see what was installed while it runs."""
        done = self._run((self._python, "-c", program))
        if done.returncode:
            raise PluginError(
                f"{self._python} cannot list its plugins: {_reason(done)}",
                distribution="hindsight-core",
            )
        return json.loads(done.stdout)

    def _change(self, command: tuple[str, ...], what: Sequence[str]) -> Changed:
        before = self.installed()
        done = self._run(command)
        if done.returncode:
            raise PluginError(_failure(done, command, what), distribution=" ".join(what))
        return Changed(command, before, self.installed())


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - the installer of this environment
        list(command), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def _uv() -> str | None:
    import shutil

    return shutil.which("uv")


def _failure(
    done: subprocess.CompletedProcess[str], command: Sequence[str], what: Sequence[str]
) -> str:
    tool = "pip" if "-m" in command else Path(command[0]).name
    named = " ".join(what)
    if _MANAGED in done.stderr:
        return (
            f"{named}: this Python is managed by the system, and {tool} may not change it; install "
            f"hindsight-core in an environment of its own, or with pipx: then `pipx inject "
            f"hindsight-core {named}` adds plugins"
        )
    return f"{tool} failed for {named}: {_reason(done)}"


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    told = errors or lines[-_LINES:]
    return "; ".join(told[:_LINES]) or f"exit code {done.returncode}"
