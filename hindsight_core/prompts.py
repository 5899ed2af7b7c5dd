"""Templates: found along the search path, rendered in a sandbox, the packaged one behind all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsight_core.errors import PromptError
from hindsight_core.prompt_layers import (
    SUFFIX,
    SearchPath,
    TemplateDir,
    TemplateUnreadable,
    packaged_root,
)
from hindsight_core.prompt_values import names, values, with_aliases

if TYPE_CHECKING:
    from hindsight_core.config.layers import Loaded
    from hindsight_core.prompt_engine import Engine
    from hindsight_core.prompt_layers import Source

__all__ = ["Prompts", "Rendered", "packaged_root"]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A stage's messages.

    Attributes:
        text: The user message, without blank lines around it.
        system: The system line; None when the stage has none.
        path: The template that made ``text``: a file, or ``prompts.<stage>``.
    """

    text: str
    system: str | None
    path: str


class Prompts:
    """Renders stages.

    Args:
        dirs: Folders with overrides, the first wins. A plain path counts as the user's.
        inline: ``settings.prompts``: stage to template text; it stands behind the agent's and
            the project's folder and before all others.

    Attributes:
        problems: What is wrong with overrides, each said once; such a template gives way to the
            packaged one, an unknown variable stays in the text as written.
    """

    def __init__(
        self,
        *,
        dirs: Sequence[TemplateDir | Path] = (),
        inline: Mapping[str, str] | None = None,
    ) -> None:
        folders = [d if isinstance(d, TemplateDir) else TemplateDir("user", d) for d in dirs]
        self.search = SearchPath(folders, inline=inline)
        self.problems: list[str] = []
        self._engine: Engine | None = None

    @classmethod
    def from_loaded(
        cls, loaded: Loaded, *, plugin_dirs: Iterable[Path] = (), agent: str | None = None
    ) -> Prompts:
        """The search path of a configuration; an untrusted project's folder is not in it."""
        dirs = []
        project = loaded.project.checkout or loaded.project.root
        if agent is not None:
            dirs.append(TemplateDir("agent", loaded.paths.agents / agent / "templates"))
        if loaded.project.trusted and project is not None:
            dirs.append(TemplateDir("project", project / ".hindsight" / "templates"))
        dirs.append(TemplateDir("user", loaded.paths.templates))
        dirs += [TemplateDir("plugin", path) for path in plugin_dirs]
        return cls(dirs=dirs, inline=loaded.settings.prompts)

    def render(self, stage: str, variables: object) -> Rendered:
        """A stage's user message and system line.

        Args:
            stage: The template's path without suffix, such as ``recall/judge``.
            variables: A dataclass (or mapping) with the template's variables; values are data,
                markup in them is printed as it is.

        Raises:
            PromptError: No such template, or the packaged one cannot be rendered.
        """
        known, context = names(variables), values(variables)
        text, path = self._render(stage, f"{stage}{SUFFIX}", known, context)
        system_name = f"{stage}.system{SUFFIX}"
        system = None
        if self.search.find(system_name) is not None:
            system = self._render(stage, system_name, known, context)[0] or None
        return Rendered(text, system, path)

    def _render(
        self, stage: str, name: str, known: frozenset[str], context: Mapping[str, Any]
    ) -> tuple[str, str]:
        source = self.search.find(name)
        if source is None:
            raise PromptError(
                f"there is no template {name!r}; `hindsight-mem prompts list` shows what there is",
                stage=stage,
            )
        engine = self._opened()
        engine.known.setdefault(name, with_aliases(known))
        if source.origin != "packaged":
            try:
                return engine.render(name, context, packaged=False).strip(), source.path
            except Exception as error:  # a template may raise anything
                self._gave_way(source, error)
        return self._packaged(stage, name, context)

    def _packaged(self, stage: str, name: str, context: Mapping[str, Any]) -> tuple[str, str]:
        from hindsight_core.prompt_engine import where, why

        source = self.search.find_packaged(name)
        if source is None:
            raise PromptError(
                f"template {name!r} cannot be rendered and there is no packaged one: "
                f"{self.problems[-1] if self.problems else 'it is gone'}",
                stage=stage,
            )
        try:
            text = self._opened().render(name, context, packaged=True)
        except Exception as error:
            raise PromptError(
                f"packaged template {where(error, source.path)}: {why(error)}; install "
                f"hindsight-core again",
                stage=stage,
            ) from error
        return text.strip(), source.path

    def _gave_way(self, source: Source, error: Exception) -> None:
        from hindsight_core.prompt_engine import where, why

        place = error.path if isinstance(error, TemplateUnreadable) else where(error, source.path)
        self.report(
            f"{place}: {why(error)}; the packaged {source.name} is used instead. Correct the "
            f"file, then run `hindsight-mem prompts check`"
        )

    def report(self, problem: str) -> None:
        """Keep a problem, once."""
        if problem not in self.problems:
            self.problems.append(problem)

    def _opened(self) -> Engine:
        if self._engine is None:
            from hindsight_core.prompt_engine import Engine

            self._engine = Engine(self.search, report=self.report)
        return self._engine
