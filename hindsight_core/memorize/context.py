"""Who speaks in a write, for a bank that extracts: one helper for every write (pi/W-01)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hindsight_core.prompt_contexts import RetainContext

if TYPE_CHECKING:
    from hindsight_core.prompts import Prompts

WriteSource = Literal["session-note", "transcript", "agent-note", "user-edit", "user-note"]
PERSONAL: WriteSource = "user-note"


def retain_context(prompts: Prompts, *, project: str | None, source: str, language: str) -> str:
    """The retain context: whose knowledge it is, who speaks, which language (pi/W-02, W-05)."""
    variables = RetainContext(project=project or "", source=source, language=language)
    return prompts.render("bank/retain_context", variables).text


def retain_metadata(
    *,
    source: str,
    project: str | None,
    language: str,
    session_id: str | None = None,
    host: str | None = None,
) -> dict[str, str]:
    """Metadata of a write, texts only; a session that is not known is left out (pi/W-04).

    ``source`` is told as ``<host>-hindsight/<source>``. What is about the person names no project
    (pi/W-05).
    """
    name = f"{host}-hindsight" if host else "hindsight"
    metadata = {"source": f"{name}/{source}"}
    if source == PERSONAL:
        metadata["scope"] = "user"
    elif project:
        metadata["project"] = project
    metadata["language"] = language
    if session_id:
        metadata["session"] = session_id
    return metadata
