"""Finds what every place says, as layers from the weakest to the strongest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hindsight_core.config import env as environment
from hindsight_core.config.files import read_table
from hindsight_core.config.legacy import OWN_FILE, REMOVED_FILES
from hindsight_core.config.paths import Paths
from hindsight_core.config.places import Source, project_sources, user_sources, wanted
from hindsight_core.config.project import Place
from hindsight_core.config.translate import Layer, translate
from hindsight_core.config.trust import TrustStore, acting_files
from hindsight_core.errors import ConfigError


@dataclass
class Reading:
    """What was found.

    Args:
        env: The environment.
        host: The agent program; None reads every host's files.

    Attributes:
        layers: One for each place that says something.
        warnings: What was wrong with the places themselves.
        files: The files that were read.
        server: What speaks for a Hindsight server: a file of one of its plugins.
        profile: What the user's files of an older plugin stand for, where none is named.
    """

    env: Mapping[str, str]
    host: str | None
    layers: list[Layer] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    server: str | None = None
    profile: str | None = None

    def user(self, paths: Paths) -> None:
        """The plugins' variables and the user's own files."""
        self.layers.append(environment.old_names(self.env, kind="old-env"))
        for source in user_sources(paths, self.env, self.host):
            self._take(source)

    def project(self, place: Place, paths: Paths, *, trusted: bool | None) -> bool:
        """The project's files, if they may act; gives whether they may."""
        if place.root is None or place.checkout is None:
            return bool(trusted)
        if trusted is None:
            trusted = self._ask_store(place.root, place.checkout, paths)
        elif not trusted and acting_files(place.checkout):
            self._untrusted(place.checkout, "the host does not trust the project")
        if trusted:
            for source in project_sources(place.checkout):
                self._take(source)
            self.warnings += _removed(place.checkout)
        return trusted

    def host_options(self, options: Mapping[str, Any] | None) -> None:
        """What the host was given for us."""
        if options:
            layer = translate(options, kind="host", origin="host options", old=OWN_FILE)
            self.layers.append(layer)

    def _ask_store(self, root: Path, checkout: Path, paths: Paths) -> bool:
        if not acting_files(checkout) and not paths.trust.exists():
            return False
        verdict = TrustStore(paths.trust).verdict(root, checkout)
        if verdict.changed:
            self._untrusted(checkout, "it changed after the project was trusted")
        elif not verdict.trusted and acting_files(checkout):
            self._untrusted(checkout, "the project is not trusted")
        return verdict.trusted

    def _untrusted(self, checkout: Path, why: str) -> None:
        names = ", ".join(str(p.relative_to(checkout)) for p in acting_files(checkout)[:3])
        self.warnings.append(
            f"{checkout}: {names} is not used: {why}. Look at it, then run `hindsight-mem trust`"
        )

    def _take(self, source: Source) -> None:
        """Read a place if the host at hand uses it; note a Hindsight plugin's file anyway."""
        found = source.found()
        if found and source.hindsight:
            self.server = self.server or f"a configuration of a Hindsight plugin, {found[0]}"
        if not found or not wanted(source, self.host):
            return
        for other in found[1:]:
            self.warnings.append(f"{other} is not read, because there is {found[0].name}")
        try:
            table = read_table(found[0]) or {}
        except ConfigError as error:
            self.warnings.append(str(error))
            return
        self.profile = self.profile or source.profile
        self.files.append(found[0])
        origin = str(found[0])
        self.layers.append(
            translate(table, kind=source.kind, origin=origin, old=source.old, own_first=source.own)
        )


def _removed(checkout: Path) -> list[str]:
    """Files of the older plugins that nobody reads any more."""
    folder = checkout / ".pi"
    if not folder.is_dir():
        return []
    return [
        f"{path} has no effect: {advice}"
        for pattern, advice in REMOVED_FILES.items()
        for path in sorted(folder.glob(pattern))[:1]
    ]


def strongest(env: Mapping[str, str], overrides: Mapping[str, Any] | None) -> list[Layer]:
    """What beats every file: the environment, a command's options, the kill switches."""
    found = [environment.old_names(env, kind="pi-env"), environment.own_names(env)]
    if overrides:
        layer = translate(overrides, kind="override", origin="command line", old=())
        found.append(layer)
    return [*found, environment.kill_switches(env)]
