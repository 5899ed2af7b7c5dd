"""Leaves placeholders that a stage does not know in the text, as they were written.

Templates written for another version or another plugin then lose nothing without a trace, which
makes moving them over step by step safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import jinja2
from jinja2 import meta, nodes

Token = tuple[int, str, str]
KEYWORDS = frozenset("and or not if else in is true false none True False None loop".split())
ATTRIBUTE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}")
WATCH = "_as_written"
GUARDS = frozenset({"default", "d", "defined", "undefined"})


def unknown_names(
    environment: jinja2.Environment, source: str, *, known: Iterable[str]
) -> dict[str, int]:
    """Undeclared variables of a template and the line of their first use.

    Raises:
        jinja2.TemplateSyntaxError: It cannot be parsed.
    """
    tree = environment.parse(source)
    used = meta.find_undeclared_variables(tree) - set(known) - set(environment.globals)
    lines: dict[str, int] = {}
    for node in tree.find_all(nodes.Name):
        if node.name in used:
            lines[node.name] = min(lines.get(node.name, node.lineno), node.lineno)
    return lines


def keep_unknown(
    environment: jinja2.Environment, source: str, *, known: frozenset[str], path: str
) -> tuple[str, dict[str, int]]:
    """The source with unknown placeholders turned into literal text, and their names and lines.

    A placeholder that is no expression at all (``{{ the user's name }}``) is text too. One that
    guards itself (``default``, ``is defined``) is left to Jinja. A plain attribute such as
    ``{{ fact.date }}`` is wrapped, because only rendering shows whether it exists.
    """
    source, found = _readable(environment, source)
    pieces: list[str] = []
    for group in _placeholders(environment, source):
        text = _text(group)
        if group[0][1] == "variable_begin" and not _parses(environment, text):
            found[_inner(group)] = group[0][0]
            text = _literal(text)
        pieces.append(text)
    source, pieces = "".join(pieces), []
    unknown = unknown_names(environment, source, known=known)
    bare: set[str] = set()
    for group in _placeholders(environment, source):
        text = _text(group)
        if not _guarded(group):
            bare.update(_roots(group))
        if group[0][1] == "variable_begin" and not _guarded(group):
            if any(name in unknown for name in _roots(group)):
                text = _literal(text)
            elif ATTRIBUTE.fullmatch(_inner(group)):
                text = _watched(group, path)
        pieces.append(text)
    told = {name: line for name, line in unknown.items() if name in bare}
    return "".join(pieces), {**told, **found}


def left_as_written(report: Callable[[str], None]) -> type[jinja2.Undefined]:
    """The class of undefined values: prints itself as a placeholder and reports its name."""

    class Left(jinja2.Undefined):
        """Something that is not there, such as a missing attribute of a known variable."""

        __slots__ = ()

        def __str__(self) -> str:
            name = self._undefined_name or "?"
            report(name)
            return f"{{{{ {name} }}}}"

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as in Jinja
            if name.startswith("__"):
                raise AttributeError(name)
            return Left(name=f"{self._undefined_name}.{name}")

        def __getitem__(self, name: object) -> Any:  # noqa: ANN401
            return Left(name=f"{self._undefined_name}.{name}")

    return Left


def _readable(environment: jinja2.Environment, source: str) -> tuple[str, dict[str, int]]:
    """The source with text in braces that cannot even be split into words made literal."""
    found: dict[str, int] = {}

    def literal(match: re.Match[str]) -> str:
        if _splits(environment, match.group()):
            return match.group()
        found[match.group()[2:-2].strip()] = source.count("\n", 0, match.start()) + 1
        return _literal(match.group())

    if _splits(environment, source):
        return source, found
    return PLACEHOLDER.sub(literal, source), found


def _splits(environment: jinja2.Environment, source: str) -> bool:
    try:
        list(environment.lexer.tokeniter(source, None))
    except jinja2.TemplateSyntaxError:
        return False
    return True


def _placeholders(environment: jinja2.Environment, source: str) -> Iterable[list[Token]]:
    return _groups(environment.lexer.tokeniter(source, None))


def _text(group: list[Token]) -> str:
    return "".join(value for _, _, value in group)


def _inner(group: list[Token]) -> str:
    return _text(group[1:-1]).strip()


def _parses(environment: jinja2.Environment, text: str) -> bool:
    try:
        environment.parse(text)
    except jinja2.TemplateSyntaxError:
        return False
    return True


def _groups(tokens: Iterable[Token]) -> Iterable[list[Token]]:
    """Tokens with those of one placeholder, or one statement, together."""
    group: list[Token] = []
    for token in tokens:
        if token[1] in ("variable_begin", "block_begin"):
            group = [token]
        elif group:
            group.append(token)
            if token[1] in ("variable_end", "block_end"):
                yield group
                group = []
        else:
            yield [token]
    if group:
        yield group


def _words(group: list[Token]) -> list[Token]:
    return [token for token in group[1:-1] if token[1] != "whitespace"]


def _roots(group: list[Token]) -> list[str]:
    """Names that an expression looks up: no attributes, filters, tests or keyword arguments."""
    words = _words(group)
    found = []
    for place, (_, kind, value) in enumerate(words):
        before = words[place - 1][2] if place else ""
        after = words[place + 1][2] if place + 1 < len(words) else ""
        if kind != "name" or value in KEYWORDS or after == "=":
            continue
        if before in (".", "|", "is") or (
            before == "not" and place > 1 and words[place - 2][2] == "is"
        ):
            continue
        found.append(value)
    return found


def _guarded(group: list[Token]) -> bool:
    return any(kind == "name" and value in GUARDS for _, kind, value in _words(group))


def _literal(text: str) -> str:
    """A placeholder that prints the text, on as many lines as the text had."""
    return "{{ " + _quoted(text) + "\n" * text.count("\n") + " }}"


def _watched(group: list[Token], path: str) -> str:
    """The placeholder with its own text beside it, for the case that the attribute is missing."""
    place = f"{path}, line {group[0][0]}"
    arguments = f"{_inner(group)}, {_quoted(_text(group).strip())}, {_quoted(place)}"
    return f"{group[0][2]} {WATCH}({arguments}) {group[-1][2]}"


def _quoted(text: str) -> str:
    return '"' + text.encode("unicode_escape").decode("ascii").replace('"', '\\"') + '"'
