"""Configuration files: JSON with comments or TOML, read tolerantly and written atomically."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hindsight_core.errors import ConfigError, StorageError

MAX_BYTES = 1_000_000


def read_table(path: Path) -> dict[str, Any] | None:
    """The table that a file holds; None when there is no such file.

    Raises:
        ConfigError: It cannot be read. The message names file and line, never its content.
    """
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes; not a configuration file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    table = _toml(path, text) if path.suffix == ".toml" else _json(path, text)
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: must hold a table of settings, not a {type(table).__name__}")
    return table


def _toml(path: Path, text: str) -> object:
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None


def _json(path: Path, text: str) -> object:
    if not text.strip():
        return {}
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    import json5

    try:
        return json5.loads(text)
    except (ValueError, RecursionError) as error:
        where = str(error).removeprefix("<string>:").split(" ", 1)[0]
        line = f"line {where}" if where.isdigit() else "the end of the file"
        raise ConfigError(f"{path}: not valid JSON near {line}") from None


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step; a new one is readable by its owner only.

    Raises:
        StorageError: The place cannot be written: full, or read-only.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            target = _target(path)
            os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o600)
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror or error}. "
            "Make it writable, or set HINDSIGHT_MEM_HOME to another folder."
        ) from None


def _target(path: Path) -> Path:
    # A configuration file is often a link into a folder of dotfiles: keep the link.
    return path.resolve() if path.is_symlink() else path


def patch(path: Path, changes: Mapping[str, object]) -> None:
    """Set ``section.key`` values in a file and leave the rest of it, with its comments, alone.

    Raises:
        ConfigError: The file cannot be read, or is JSON with comments.
        StorageError: It cannot be written.
    """
    if path.suffix == ".toml":
        _patch_toml(path, changes)
    else:
        _patch_json(path, changes)


def _patch_json(path: Path, changes: Mapping[str, object]) -> None:
    table = read_table(path) or {}
    if path.exists():
        try:
            json.loads(path.read_text(encoding="utf-8-sig") or "{}")
        except ValueError:
            raise ConfigError(
                f"{path}: has comments or trailing commas, which writing it would lose. "
                "Set the value by hand, or move the settings to a .toml file."
            ) from None
    for name, value in changes.items():
        sections, key = _split(name)
        inner: Any = table
        for section in sections:
            inner = inner.setdefault(_held(inner, section), {})
            if not isinstance(inner, dict):
                raise ConfigError(f"{path}: {section} is not a table; correct it by hand")
        inner[key] = value
    write_text(path, json.dumps(table, indent=2, ensure_ascii=False) + "\n")


def _patch_toml(path: Path, changes: Mapping[str, object]) -> None:
    import tomlkit
    from tomlkit.items import Table

    read_table(path)  # says what is wrong in our words
    text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    document = tomlkit.parse(text)
    for name, value in changes.items():
        sections, key = _split(name)
        inner: Any = document
        for depth, section in enumerate(sections, start=1):
            held = _held(inner, section)
            if held not in inner:
                inner[held] = tomlkit.table(is_super_table=depth < len(sections))
            inner = inner[held]
            if not isinstance(inner, (Table, dict)):
                raise ConfigError(f"{path}: {section} is not a table; correct it by hand")
        if value is None:
            inner.pop(key, None)
        else:
            inner[key] = value
    write_text(path, tomlkit.dumps(document))


def _split(name: str) -> tuple[list[str], str]:
    """The tables around a key: none, a section, or for a plugin's key ``plugins`` and its name.

    What follows is the key, dots and all: ``prompts.recall/judge.system``.
    """
    deep = 2 if name.startswith("plugins.") and name.count(".") > 1 else 1
    *sections, key = name.split(".", deep)
    return sections, key


def _held(table: Mapping[str, object], section: str) -> str:
    """The section's name as the file writes it: a plugin's may have dashes."""
    return next((key for key in table if str(key).replace("-", "_") == section), section)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold ``<path>.lock`` while a file is read, changed and written back."""
    import fcntl

    from hindsight_core.folders import private_folder

    private_folder(path.parent)
    with open(f"{path}.lock", "a", encoding="ascii") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
