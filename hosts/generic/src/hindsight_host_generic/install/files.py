"""The forms of file that agents keep their configuration in, read and changed in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hindsight_core.errors import ConfigError
from hindsight_core.host import Change
from hindsight_core.jsonc import JsonSyntaxError, JsonText, Key

BACKUP = ".hindsight-backup"


class ConfigFile:
    """One configuration file of an agent.

    Args:
        path: Where it is; it need not exist.

    Raises:
        ConfigError: It cannot be read or parsed; file and line are named.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before = _read(path)
        self._open(self.before or "")

    @property
    def text(self) -> str:
        """The file as it would be written now."""
        raise NotImplementedError

    @property
    def is_empty(self) -> bool:
        """Nothing is left in it that anybody would miss."""
        raise NotImplementedError

    def get(self, keys: Sequence[str]) -> Any:  # noqa: ANN401 - whatever the file holds
        """The value at a path of keys; None where there is none."""
        raise NotImplementedError

    def put(self, keys: Sequence[str], value: object) -> None:
        """Set a value, making the tables around it."""
        raise NotImplementedError

    def drop(self, keys: Sequence[str]) -> None:
        """Take a value out, and the tables around it that it leaves empty."""
        raise NotImplementedError

    def change(self, *, removing: bool = False, ours: bool = False) -> Change:
        """What has become of it; a file that only we had written to goes away again.

        Args:
            removing: We leave: what is as it was before us gets its old text back.
            ours: Nobody else writes to it: no backup.
        """
        after: str | None = self.text
        if self.before is None and self.is_empty:
            after = None
        if removing and self.before is not None and after != self.before:
            after = self._as_it_was()
        return Change(self.path, self.before, after, ours=ours)

    def _as_it_was(self) -> str | None:
        backup = self.path.with_name(self.path.name + BACKUP)
        old = _read(backup)
        if old is None:
            return None if self.is_empty else self.text
        try:
            same = type(self)(backup).same_as(self)
        except ConfigError:
            same = False
        return old if same else self.text

    def same_as(self, other: ConfigFile) -> bool:
        """Whether both say the same, whatever their form; an empty table says nothing."""
        return bool(_filled(self.get(())) == _filled(other.get(())))

    def _open(self, text: str) -> None:
        raise NotImplementedError

    def _wrong(self, line: int, message: str) -> ConfigError:
        return ConfigError(
            f"{self.path}, line {line}: not valid ({message}). Nothing was changed; correct the "
            "file and try again."
        )


class JsonFile(ConfigFile):
    """JSON, with or without comments."""

    @property
    def text(self) -> str:
        """The file as it would be written now."""
        text = self._json.text
        return text if self.before else text + "\n"

    @property
    def is_empty(self) -> bool:
        """Only a version number is left, or not even that."""
        return not {k: v for k, v in self._json.value.items() if k != "version"}

    def get(self, keys: Sequence[str]) -> Any:  # noqa: ANN401 - whatever the file holds
        """The value at a path of keys; None where there is none."""
        return self._json.get(keys)

    def put(self, keys: Sequence[str], value: object) -> None:
        """Set a value, making the tables around it."""
        self._check(keys)
        self._json.put(keys, value)

    def drop(self, keys: Sequence[str]) -> None:
        """Take a value out, and the tables around it that it leaves empty."""
        if self._json.get(keys) is None:
            return
        self._json.drop(keys)
        if len(keys) > 1 and self._json.get(keys[:-1]) == {}:
            self.drop(keys[:-1])

    def items(self, keys: Sequence[Key]) -> list[Any]:
        """The list at a path, which a user may have made anything of."""
        found = self._json.get(keys)
        if found is None:
            return []
        if not isinstance(found, list):
            raise self._wrong(1, f"`{'.'.join(map(str, keys))}` is no list")
        return found

    def append(self, keys: Sequence[Key], item: object) -> None:
        """Add an item to the list at a path."""
        self._check(keys)
        self._json.append(keys, item)

    def drop_item(self, keys: Sequence[Key], index: int) -> None:
        """Take an item out of a list, and the list when that leaves it empty."""
        self._json.drop([*keys, index])
        if self._json.get(keys) == []:
            self.drop([str(key) for key in keys])

    def replace_item(self, keys: Sequence[Key], index: int, item: object) -> None:
        """Put another item in its place."""
        self._json.put([*keys, index], item)

    def _check(self, keys: Sequence[Key]) -> None:
        for depth in range(1, len(keys)):
            if not isinstance(self._json.get(keys[:depth]), dict | None):
                name = ".".join(map(str, keys[:depth]))
                raise self._wrong(1, f"`{name}` is no object")

    def _open(self, text: str) -> None:
        try:
            self._json = JsonText(text)
        except JsonSyntaxError as error:
            raise self._wrong(error.line, str(error)) from None
        if not isinstance(self._json.value, dict):
            raise self._wrong(1, "must hold an object")


class TomlFile(ConfigFile):
    """TOML."""

    @property
    def text(self) -> str:
        """The file as it would be written now."""
        import tomlkit

        return tomlkit.dumps(self._document)

    @property
    def is_empty(self) -> bool:
        """Nothing is left, not even a comment."""
        return not self.text.strip()

    def get(self, keys: Sequence[str]) -> Any:  # noqa: ANN401 - whatever the file holds
        """The value at a path of keys; None where there is none."""
        inner: Any = self._document.unwrap()
        for key in keys:
            if not isinstance(inner, Mapping) or key not in inner:
                return None
            inner = inner[key]
        return inner

    def put(self, keys: Sequence[str], value: object) -> None:
        """Set a value, making the tables around it."""
        import tomlkit

        if self.get(keys) == value:
            return
        inner: Any = self._document
        for key in keys[:-1]:
            if key not in inner:
                inner[key] = tomlkit.table(is_super_table=True)
            inner = inner[key]
            if not isinstance(inner, Mapping):
                raise self._wrong(1, f"`{key}` is no table")
        inner[keys[-1]] = _toml_table(value) if isinstance(value, dict) else value

    def drop(self, keys: Sequence[str]) -> None:
        """Take a value out, and the tables around it that it leaves empty."""
        if self.get(keys) is None:
            return
        inner: Any = self._document
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]
        if len(keys) > 1 and self.get(keys[:-1]) == {}:
            self.drop(keys[:-1])

    def _open(self, text: str) -> None:
        import tomlkit
        from tomlkit.exceptions import ParseError, TOMLKitError

        try:
            self._document = tomlkit.parse(text)
        except ParseError as error:
            raise self._wrong(error.line, str(error)) from None
        except TOMLKitError as error:
            raise self._wrong(1, str(error)) from None


def _filled(value: object) -> object:
    """A value without the empty tables and lists in it."""
    if not isinstance(value, dict):
        return value
    inner = {key: _filled(item) for key, item in value.items()}
    return {key: item for key, item in inner.items() if item not in ({}, [])}


def _toml_table(value: Mapping[str, object]) -> Any:  # noqa: ANN401 - tomlkit's own type
    import tomlkit

    table = tomlkit.table()
    for key, item in value.items():
        if isinstance(item, dict):
            inline = tomlkit.inline_table()
            inline.update(item)
            table[key] = inline
        else:
            table[key] = item
    return table


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}, line 1: not UTF-8 (byte {error.start}). Nothing was changed."
        ) from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}. Nothing was changed."
        ) from None
