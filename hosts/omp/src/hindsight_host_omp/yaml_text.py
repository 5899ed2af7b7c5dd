"""omp's YAML, read with the places of its values, so that one entry of a list can be taken out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from hindsight_core.errors import ConfigError


class YamlText:
    """A file whose comments, order and form stay as they are.

    Raises:
        ConfigError: It cannot be read, or holds no mapping; file and line are named.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before = _read(path)
        self.text = self.before or ""
        self.value = self._parsed(self.text)

    def items(self, key: str) -> list[Any]:
        """A top-level list; empty where there is none."""
        value = self.value.get(key)
        return value if isinstance(value, list) else []

    def drop(self, key: str, index: int) -> None:
        """Take one entry out of a top-level list, and the list with the last one.

        Raises:
            ConfigError: The form of the file does not let it be done with certainty.
        """
        wanted = {**self.value, key: [*self.items(key)]}
        del wanted[key][index]
        if not wanted[key]:
            del wanted[key]
        key_node, listed = self._find(key)
        start, end = _span(self.text, listed, index)
        if key not in wanted:
            start = key_node.start_mark.index
            end = _line_end(self.text, listed.end_mark.index) if listed.flow_style else end
        text = self.text[:start] + self.text[end:]
        if self._parsed(text) != wanted:
            raise ConfigError(f"{self.path}: take {self.items(key)[index]} out of `{key}` yourself")
        self.text, self.value = text, wanted

    def _find(self, key: str) -> tuple[Node, SequenceNode]:
        root = YAML().compose(self.text)
        pairs = root.value if isinstance(root, MappingNode) else []
        for name, value in pairs:
            if name.value == key and isinstance(value, SequenceNode):
                return name, value
        raise ConfigError(f"{self.path}: `{key}` is no list; correct it and try again")

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            value = YAML(typ="safe", pure=True).load(text)
        except YAMLError as error:
            mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
            line = mark.line + 1 if mark is not None else 1
            why = getattr(error, "problem", None) or type(error).__name__
            raise ConfigError(
                f"{self.path}, line {line}: not valid YAML ({why}). Nothing was changed; "
                "correct the file and try again."
            ) from error
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ConfigError(f"{self.path}, line 1: must hold a mapping. Nothing was changed.")
        return value


def _span(text: str, listed: SequenceNode, index: int) -> tuple[int, int]:
    """What of the text is one entry: whole lines of a block, or up to the comma."""
    items = listed.value
    if listed.flow_style:
        if index + 1 < len(items):
            return items[index].start_mark.index, items[index + 1].start_mark.index
        start = items[index - 1].end_mark.index if index else items[index].start_mark.index
        return start, items[index].end_mark.index
    start = text.rfind("\n", 0, items[index].start_mark.index) + 1
    return start, _line_end(text, items[index].end_mark.index)


def _line_end(text: str, place: int) -> int:
    return text.find("\n", place - 1) + 1 or len(text)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. Nothing was changed.") from error
