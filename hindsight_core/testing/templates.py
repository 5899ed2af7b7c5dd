"""Asserts about templates: that the core can use them, and that they lose nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hindsight_core.prompts import Prompts


def assert_template(
    stage: str,
    template: str | Path,
    *,
    contains: Collection[str] = (),
    omits: Collection[str] = (),
    **values: Any,  # noqa: ANN401 - variables are of many types
) -> str:
    """Assert that a template can stand in for the packaged one of a stage; gives its text.

    It is rendered as the core does it, in the sandbox, with sample values. A variable that the
    packaged template uses must be used too: a judge that is not shown the facts judges nothing.

    Args:
        stage: Such as ``recall/judge``, or ``recall/judge.system`` for its system line.
        template: The template's text, or its file.
        contains: Texts that must be in what comes out.
        omits: Variables that the packaged template uses and this one leaves out on purpose.
        values: Variables with a certain value instead of a sample one.

    Raises:
        AssertionError: Says which template is wrong, where and why.
    """
    from hindsight_core.prompt_check import sample
    from hindsight_core.prompt_contexts import STAGES
    from hindsight_core.prompt_values import names
    from hindsight_core.prompts import Prompts

    base = stage.removesuffix(".system")
    kind = STAGES.get(base)
    if kind is None:
        raise AssertionError(f"there is no stage {base!r}; stages: {', '.join(STAGES)}")
    if stage.startswith("core/"):
        raise AssertionError(f"{stage} is packaged only; a plugin cannot replace it")
    text = template.read_text(encoding="utf-8") if isinstance(template, Path) else template
    prompts = Prompts(inline={stage: text})
    unknown = set(values) - names(kind)
    if unknown:
        raise AssertionError(f"{base} has no variable {', '.join(sorted(unknown))}")
    rendered = prompts.render(base, replace(sample(kind), **values))
    given = (rendered.system or "") if stage.endswith(".system") else rendered.text
    _usable(prompts, stage, kind, omits)
    lost = [wanted for wanted in contains if wanted not in given]
    if lost:
        raise AssertionError(f"{stage} does not say {lost[0]!r}; it says:\n{given}")
    if not given.strip():
        raise AssertionError(f"{stage} comes out empty")
    return given


def assert_template_pack(folder: Path, *, omits: Collection[str] = ()) -> list[str]:
    """Assert that every template of a plugin's folder can be used; gives their stages.

    Args:
        folder: What ``hindsight_template_dirs`` returns.
        omits: Variables that any of them may leave out.

    Raises:
        AssertionError: One is wrong or stands for no stage, or there is none.
    """
    from hindsight_core.prompt_check import check
    from hindsight_core.prompt_layers import SearchPath, TemplateDir

    problems = check(SearchPath([TemplateDir("plugin", folder)]))
    if problems:
        raise AssertionError("\n".join(problems))
    found = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.j2"))]
    if not found:
        raise AssertionError(f"there is no template in {folder}")
    from hindsight_core.prompt_contexts import STAGES

    stages = [name.removesuffix(".j2") for name in found]
    for stage in stages:
        if stage.removesuffix(".system") in STAGES:
            assert_template(stage, folder / f"{stage}.j2", omits=omits)
    return stages


def _usable(prompts: Prompts, stage: str, kind: type, omits: Collection[str]) -> None:
    from hindsight_core.prompt_check import missing

    if prompts.problems:
        raise AssertionError("\n".join(prompts.problems))
    source = prompts.search.find(f"{stage}.j2")
    if source is None:
        raise AssertionError(f"{stage} is no template")
    lacks = [name for name in missing(prompts.search, source, kind) if name not in omits]
    if lacks:
        raise AssertionError(
            f"{stage} does not use {', '.join(lacks)}, which the packaged template does; name "
            f"what is left out on purpose in omits"
        )
