"""Checks overridden templates before a model meets them (``hindsight-mem prompts check``)."""

from __future__ import annotations

import dataclasses
import difflib
import typing
from collections.abc import Callable, Iterable, Mapping
from types import NoneType, UnionType
from typing import Any

import jinja2
from jinja2 import meta

from hindsight_core.errors import PromptError
from hindsight_core.prompt_contexts import STAGES
from hindsight_core.prompt_layers import (
    SearchPath,
    Source,
    TemplateDir,
    TemplateUnreadable,
    stage_of,
)
from hindsight_core.prompt_values import names
from hindsight_core.prompts import Prompts


def check(search: SearchPath, *, stages: Mapping[str, type] = STAGES) -> list[str]:
    """What is wrong with overrides, used or shadowed; empty when all is well.

    Each is rendered with sample values, so that a forbidden attribute or a loop without end is
    found here.
    """
    problems: list[str] = []
    sources = list(search.overrides())
    included = _included(sources)
    for source in sources:
        stage = stage_of(source.name)
        if source.name.startswith("core/"):
            problems.append(f"{source.path}: not used, core/* is packaged only; remove the file")
        elif stage in stages:
            problems += _rendered(search, source, stage, stages[stage])
        elif source.name not in included and search.find_packaged(source.name) is None:
            problems.append(f"{source.path}: not used, {_nearest(stage, stages)}")
    return list(dict.fromkeys(problems))


def used_variables(find: Callable[[str], Source | None], name: str) -> frozenset[str]:
    """Variables that a template and everything it includes look up.

    Raises:
        jinja2.TemplateSyntaxError: One of them cannot be parsed.
    """
    environment = jinja2.Environment(autoescape=False)  # noqa: S701 - parses only
    found: set[str] = set()
    seen: set[str] = set()
    wanted = [name]
    while wanted:
        current = wanted.pop()
        source = find(current)
        if current in seen or source is None:
            continue
        seen.add(current)
        tree = environment.parse(source.read(), current, source.path)
        found |= meta.find_undeclared_variables(tree) - set(environment.globals)
        wanted += [other for other in meta.find_referenced_templates(tree) if other]
    return frozenset(found)


def sample(kind: type) -> Any:  # noqa: ANN401 - an instance of ``kind``
    """A dataclass filled with sample values."""
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    return kind(**{field.name: _value(hints[field.name], field.name) for field in fields})


def _rendered(search: SearchPath, source: Source, stage: str, kind: type) -> Iterable[str]:
    """Problems of one override alone, whatever shadows it."""
    if source.inline is not None:
        alone = Prompts(inline={source.name.removesuffix(".j2"): source.inline})
        folder = None
    else:
        folder = next(d for d in search.dirs if source.path.startswith(f"{d.path}/"))
        alone = Prompts(dirs=[TemplateDir("user", folder.path)])
    try:
        alone.render(stage, sample(kind))
    except PromptError as error:
        alone.report(str(error))
    return [p for p in alone.problems if p.startswith((source.path, "template "))]


def _included(sources: Iterable[Source]) -> set[str]:
    environment = jinja2.Environment(autoescape=False)  # noqa: S701 - parses only
    found: set[str] = set()
    for source in sources:
        try:
            tree = environment.parse(source.read())
        except (jinja2.TemplateSyntaxError, TemplateUnreadable):
            continue
        found.update(name for name in meta.find_referenced_templates(tree) if name)
    return found


def _nearest(stage: str, stages: Mapping[str, type]) -> str:
    near = difflib.get_close_matches(stage, stages, n=1)
    meant = f"did you mean {near[0]}?" if near else "`hindsight-mem prompts list` shows them."
    return f"there is no stage {stage!r}; {meant}"


def _value(hint: Any, name: str) -> Any:  # noqa: ANN401 - whatever the hint says
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (UnionType, typing.Union):
        return _value(next(a for a in arguments if a is not NoneType), name)
    if origin in (tuple, list):
        return origin((_value(arguments[0], name), _value(arguments[0], name)))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return sample(hint)
    return {bool: False, int: 1, float: 1.0}.get(hint, f"sample {name}")


def missing(search: SearchPath, source: Source, kind: type) -> list[str]:
    """Variables that the packaged template uses and this override does not: perhaps on purpose."""
    if search.find_packaged(source.name) is None:
        return []
    try:
        used = used_variables(lambda n: source if n == source.name else search.find(n), source.name)
        packaged = used_variables(search.find_packaged, source.name)
    except (jinja2.TemplateSyntaxError, TemplateUnreadable):
        return []
    from hindsight_core.prompt_values import camel

    own = names(kind)
    return sorted(n for n in packaged & own if n not in used and camel(n) not in used)
