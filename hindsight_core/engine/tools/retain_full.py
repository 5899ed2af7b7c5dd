"""``hindsight_retain`` with all that can be said of a note (s1/S-TOOL-2, S-RET-5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindsight_core.engine.tools.base import (
    TEXT,
    BadArgument,
    ToolResult,
    choice,
    moment,
    names,
    schema,
    text,
)
from hindsight_core.engine.tools.retain import RetainTool, kept, note
from hindsight_core.memorize.particulars import RESERVED, Particulars

MODES = ("replace", "append")
_NAMES = {"type": "array", "items": TEXT}


class FullRetainTool(RetainTool):
    """The same note with tags, names, a date, a document of its own; into any bank written here."""

    parameters = schema(
        {
            **RetainTool.parameters["properties"],
            "context": TEXT,
            "bank": TEXT,
            "tags": _NAMES,
            "entities": _NAMES,
            "metadata": {"type": "object", "additionalProperties": TEXT},
            "timestamp": TEXT,
            "documentId": TEXT,
            "updateMode": {"type": "string", "enum": list(MODES), "default": "replace"},
            "observationScopes": {"type": "array", "items": _NAMES},
        },
        "content",
    )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """As of the short form."""
        content, kind = note(arguments)
        bank, live = self._bank(arguments), self._live
        particulars = _particulars(arguments)
        if particulars.append:
            await self._must_append(bank)
        report = await live.runtime.memorizer_of(bank).retain_note(
            content,
            kind=kind,
            tags=names(arguments, "tags"),
            source="agent-note",
            session_id=live.opening.session.id,
            host=live.host,
            particulars=particulars,
        )
        return kept(report, bank=bank)

    def _bank(self, arguments: Mapping[str, Any]) -> str:
        own = self._live.runtime.bank_id
        bank = text(arguments, "bank") or own
        open_ = [entry.id for entry in self._live.deciding.entries if entry.writable]
        if bank != own and bank not in open_:
            raise BadArgument(f"`bank` must be one that is written here: {', '.join(open_)}.")
        return bank

    async def _must_append(self, bank: str) -> None:
        """What is added must be added once: a bank that cannot promise it is not asked."""
        appends = getattr(self._live.runtime.open_bank(bank), "appends", None)
        if appends is None or not await appends():
            raise BadArgument(
                f"Bank {bank} cannot add to a document (a Hindsight server from 0.8.6 on can): "
                "leave `updateMode` out, the document is then replaced."
            )


def _particulars(arguments: Mapping[str, Any]) -> Particulars:
    document = text(arguments, "documentId")
    append = choice(arguments, "updateMode", MODES) == "append"
    if append and document is None:
        raise BadArgument("`updateMode` append needs a `documentId` to add to.")
    scopes = arguments.get("observationScopes") or ()
    if not isinstance(scopes, list | tuple):
        raise BadArgument("`observationScopes` must be a list of lists of tags.")
    return Particulars(
        context=text(arguments, "context"),
        entities=names(arguments, "entities"),
        metadata=_metadata(arguments.get("metadata") or {}),
        timestamp=moment(arguments, "timestamp"),
        document_id=document,
        append=append,
        observation_scopes=tuple(
            names({"observationScopes": s}, "observationScopes") for s in scopes
        ),
    )


def _metadata(given: object) -> Mapping[str, str]:
    if not isinstance(given, Mapping) or not all(isinstance(v, str) for v in given.values()):
        raise BadArgument("`metadata` must be an object of strings.")
    if taken := sorted(RESERVED & given.keys()):
        raise BadArgument(f"`metadata` must not set {', '.join(taken)}: memory sets these itself.")
    return given
