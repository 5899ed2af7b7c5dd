"""Renders templates in a sandbox, within bounds; the only module that imports Jinja at once."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any, cast

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from hindsight_core.prompt_layers import SearchPath, Source
from hindsight_core.prompt_unknown import WATCH, keep_unknown, left_as_written

MAX_STEPS = 200_000
MAX_OUTPUT = 1_000_000
MAX_PRODUCT = 1_000_000
_steps: ContextVar[list[int]] = ContextVar("hindsight_template_steps")


class Runaway(jinja2.TemplateRuntimeError):
    """A template that loops, or writes, without end."""


class Loader(jinja2.BaseLoader):
    """Loads from the search path and compiles with a step counter in every loop."""

    def __init__(self, find: Callable[[str], Source | None], engine: Engine) -> None:
        self._find = find
        self._engine = engine

    def load(
        self,
        environment: jinja2.Environment,
        name: str,
        globals: MutableMapping[str, Any] | None = None,
    ) -> jinja2.Template:
        """Find, prepare and compile one template."""
        source = self._find(name)
        if source is None:
            raise jinja2.TemplateNotFound(name)
        text = self._engine.prepare(environment, source)
        tree = environment.parse(text, name, source.path)
        for loop in tree.find_all(nodes.For):
            loop.body.insert(0, _step(loop.lineno))
        code = environment.compile(tree, name, source.path)
        return environment.template_class.from_code(
            environment, code, globals or {}, lambda: self._find(name) == source
        )


class Environment(ImmutableSandboxedEnvironment):
    """The sandbox: no attributes of Python's own, no changes of values, counted steps."""

    intercepted_binops = frozenset({"*", "**"})

    def step(self) -> str:
        """Count one step of a loop or one call."""
        left = _steps.get(None)
        if left is not None:
            left[0] -= 1
            if left[0] < 0:
                raise Runaway(f"more than {MAX_STEPS} steps: does a loop run away?")
        return ""

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Call something, as one step."""
        __self.step()
        return super().call(__context, __obj, *args, **kwargs)

    def unsafe_undefined(self, obj: object, attribute: str) -> jinja2.Undefined:
        """Refuse an attribute instead of printing nothing in its place."""
        raise SecurityError(f"attribute {attribute!r} of a {type(obj).__name__}")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        """Refuse products that would fill the memory."""
        size = _size(left) * _size(right) if operator == "*" else abs(right) * 64
        if size > MAX_PRODUCT:
            raise Runaway(f"the result of {operator} is too large")
        return super().call_binop(context, operator, left, right)


class Engine:
    """Two environments over one search path: with overrides, and packaged only.

    Args:
        search: Finds templates.
        report: Told what a user should know about a template.
    """

    def __init__(self, search: SearchPath, *, report: Callable[[str], None]) -> None:
        self._report = report
        self._rendering = "?"
        self.known: dict[str, frozenset[str]] = {}
        self.own = self._environment(search.find)
        self.packaged = self._environment(search.find_packaged)

    def render(self, name: str, values: Mapping[str, Any], *, packaged: bool) -> str:
        """The text of one template; raises whatever the template raises."""
        environment = self.packaged if packaged else self.own
        self._rendering = name
        limit = MAX_OUTPUT + 4 * sum(len(v) for v in values.values() if isinstance(v, str))
        token = _steps.set([MAX_STEPS])
        pieces: list[str] = []
        size = 0
        try:
            template = environment.get_template(name)
            stream = cast("Generator[str, None, None]", template.generate(values))
            for piece in stream:
                size += len(piece)
                if size > limit:
                    # raised inside of the template, where its line is known
                    stream.throw(Runaway(f"it writes more than {limit} characters"))
                pieces.append(piece)
        finally:
            _steps.reset(token)
        return "".join(pieces)

    def prepare(self, environment: jinja2.Environment, source: Source) -> str:
        """The text to compile, unknown placeholders made literal and reported."""
        text = source.read()
        known = self.known.get(source.name)
        if known is None:
            return text
        prepared, unknown = keep_unknown(environment, text, known=known, path=source.path)
        for name, line in unknown.items():
            self._report(unknown_variable(source.path, line, name, known=known))
        return prepared

    def _environment(self, find: Callable[[str], Source | None]) -> Environment:
        environment = Environment(
            loader=Loader(find, self),
            undefined=left_as_written(self._left),
            finalize=lambda value: "" if value is None else value,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        for name in ("lipsum", "cycler", "joiner"):
            environment.globals.pop(name, None)
        environment.globals[WATCH] = self._as_written
        return environment

    def _as_written(self, value: object, text: str, place: str) -> object:
        if isinstance(value, jinja2.Undefined):
            self._report(f"{place}: {text} is not known and left as written")
            return text
        return value

    def _left(self, name: str) -> None:
        self._report(f"template {self._rendering}: {name} is not known and left as written")


def unknown_variable(path: str, line: int, name: str, *, known: frozenset[str]) -> str:
    """The message for a variable that a template's stage does not have."""
    listed = ", ".join(sorted(n for n in known if n == n.lower())) or "none"
    return (
        f"{path}, line {line}: unknown variable {name!r} is left as written; "
        f"this template may use: {listed}"
    )


def where(error: Exception, path: str) -> str:
    """File and line of a template's error."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.filename or path}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [(f.filename, f.lineno) for f in frames if not f.filename.endswith(".py")]
    return f"{lines[-1][0]}, line {lines[-1][1]}" if lines else path


def why(error: Exception) -> str:
    """A template's error in words for the user."""
    if isinstance(error, SecurityError):
        return f"not allowed in a template: {error}"
    if isinstance(error, jinja2.TemplateNotFound):
        return f"includes {error.name!r}, which does not exist"
    if isinstance(error, RecursionError):
        return "it calls itself without end"
    return str(error) or type(error).__name__


def _step(line: int) -> nodes.ExprStmt:
    function = nodes.EnvironmentAttribute("step", lineno=line)
    return nodes.ExprStmt(nodes.Call(function, [], [], None, None, lineno=line), lineno=line)


def _size(value: object) -> int:
    if isinstance(value, int | float):
        return int(min(abs(value), MAX_PRODUCT * 2)) or 1
    return len(value) if isinstance(value, str | list | tuple) else 1
