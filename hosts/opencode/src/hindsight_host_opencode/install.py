"""Writes opencode's wiring: shim files in our own folder, one entry for each of its two plugins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hindsight_core.errors import ConfigError
from hindsight_core.extension_host.shim import removed, shim_changes
from hindsight_core.host import Change, InstallPlan, InstallRequest
from hindsight_core.jsonc import JsonSyntaxError, JsonText
from hindsight_host_opencode.places import server_files, tui_file

ORIGINAL = "hindsight"
PROFILE = "opencode-hindsight"
SERVER, TUI = "index.js", "tui.js"
BACKUP = ".hindsight-backup"
LIST = "plugin"


def install(request: InstallRequest) -> InstallPlan:
    """The shim, its client, how to start the bridge, and the entries in both plugin lists.

    An original plugin's entry gives its place and its options to ours, under the profile that
    behaves as it did.

    Raises:
        ConfigError: A file cannot be parsed, or an original plugin is installed and the user did
            not say that it may be replaced: two memories would store everything twice.
    """
    found = [_File(path) for path in server_files(request)]
    server = next((f for f in found if f.items), found[0])
    tui = _File(tui_file(request))
    notes: list[str] = []
    migrant = False
    for file in dict.fromkeys([*found, tui]):
        originals = file.originals(request.shims)
        if originals and not request.replace:
            names = ", ".join(_spec(file.items[at]) for at in originals)
            raise ConfigError(
                f"{file.path} already loads {names}: memory would be stored twice. Run "
                "`hindsight-mem install opencode --replace` to put this one into its place (its "
                "options stay), or remove it yourself."
            )
        for at in reversed(originals[1:] if file is not tui else originals):
            notes.append(f"Took {_spec(file.items[at])} out of {file.path}.")
            file.drop(at)
        if originals and file is not tui:
            notes.append(f"Replaced {_spec(file.items[originals[0]])} in {file.path}.")
            file.replace(originals[0], _carried(file.items[originals[0]], request.shims))
            server, migrant = file, True
    for file, name in ((server, SERVER), (tui, TUI)):
        file.add(str(request.shims / name))
    changes = [*_shim(request), *(f.change() for f in dict.fromkeys([*found, tui]))]
    return InstallPlan(tuple(c for c in changes if c.before != c.after), tuple(notes), migrant)


def uninstall(request: InstallRequest) -> InstallPlan:
    """Our entries out of both lists, our files away; everything else stays."""
    touched = [_File(path) for path in (*server_files(request), tui_file(request))]
    for file in touched:
        for at in reversed(file.own(request.shims)):
            file.drop(at)
        file.tidy()
    changes = [file.change() for file in touched]
    if request.project is None:
        changes += removed(_shim(request))
    return InstallPlan(tuple(c for c in changes if c.before != c.after))


class _File:
    """One configuration file of opencode, changed in place: comments and order stay."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before = _text(path)
        try:
            self._json = JsonText(self.before or "")
        except JsonSyntaxError as error:
            raise ConfigError(
                f"{path}, line {error.line}: not valid JSON ({error}). Nothing was changed; "
                "correct the file and try again."
            ) from error
        if not isinstance(self._json.value, dict):
            raise ConfigError(f"{path}, line 1: must hold a JSON object. Nothing was changed.")
        if not isinstance(self._json.get([LIST]) or [], list):
            raise ConfigError(f"{path}: `{LIST}` must be a list; correct it and try again")

    @property
    def items(self) -> list[Any]:
        """The plugin list."""
        return self._json.get([LIST]) or []

    def originals(self, shims: Path) -> list[int]:
        """Places of plugins that this one replaces."""
        ours = set(self.own(shims))
        names = enumerate(map(_spec, self.items))
        return [at for at, name in names if ORIGINAL in name.lower() and at not in ours]

    def own(self, shims: Path) -> list[int]:
        """Places of our own entries."""
        paths = {str(shims / SERVER), str(shims / TUI)}
        return [at for at, item in enumerate(self.items) if _spec(item) in paths]

    def add(self, spec: str) -> None:
        """Put an entry at the end unless it is there, whatever its options are."""
        if spec not in map(_spec, self.items):
            self._json.append([LIST], spec)

    def replace(self, at: int, item: object) -> None:
        """Put an entry into another one's place."""
        self._json.put([LIST, at], item)

    def drop(self, at: int) -> None:
        """Take an entry out."""
        self._json.drop([LIST, at])

    def tidy(self) -> None:
        """Leave no empty list behind."""
        if self._json.get([LIST]) == []:
            self._json.drop([LIST])

    def change(self) -> Change:
        """What becomes of the file; one that only we wrote goes when nothing is left in it."""
        if self.before is None:
            is_needed = self._json.value != {}
            return Change(self.path, None, f"{self._json.text.strip()}\n" if is_needed else None)
        was_made_by_us = not self.path.with_name(self.path.name + BACKUP).exists()
        if self._json.value == {} and was_made_by_us and self._json.text != self.before:
            return Change(self.path, self.before, None, ours=True)
        return Change(self.path, self.before, self._json.text)


def _carried(original: object, shims: Path) -> list[Any]:
    options = original[1] if isinstance(original, list) and len(original) > 1 else None
    own = options if isinstance(options, dict) else {}
    return [str(shims / SERVER), {"profile": PROFILE, **own}]


def _spec(item: object) -> str:
    if isinstance(item, list) and item:
        item = item[0]
    return item if isinstance(item, str) else ""


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. Nothing was changed.") from error


def _shim(request: InstallRequest) -> list[Change]:
    own, shared = (SERVER, TUI), ("client.js",)
    return shim_changes(request, package="hindsight_host_opencode", own=own, shared=shared)
