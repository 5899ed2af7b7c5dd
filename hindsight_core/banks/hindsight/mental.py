"""Mental models of a bank on the server (pi/H-12, s1/S-MM-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindsight_core.banks.base import MentalModel
from hindsight_core.banks.hindsight.errors import ServerError

if TYPE_CHECKING:
    from hindsight_core.banks.hindsight.api import Api

PLACEHOLDER = "Generating content..."


async def content_of(api: Api, model_id: str) -> str | None:
    """Content of one; None while there is none. Raises `BankError`."""
    try:
        told = await api.mental_model(model_id)
    except ServerError as error:
        if error.no_such_thing:
            return None
        raise
    return _content(told)


async def all_models(api: Api) -> tuple[MentalModel, ...]:
    """Those that have been written; none where there is no such bank. Raises `BankError`."""
    try:
        listed = await api.mental_models()
    except ServerError as error:
        if error.no_such_bank:
            return ()
        raise
    return tuple(model for item in listed if (model := _model(item)) is not None)


def _model(item: Mapping[str, Any]) -> MentalModel | None:
    text, own = _content(item), item.get("id")
    if text is None or not isinstance(own, str):
        return None
    tags = item.get("tags")
    return MentalModel(
        id=own,
        name=str(item.get("name") or own),
        text=text,
        tags=tuple(t for t in tags if isinstance(t, str)) if isinstance(tags, list) else (),
    )


def _content(told: Mapping[str, Any]) -> str | None:
    content = str(told.get("content") or told.get("body") or "").strip()
    return content if content and content != PLACEHOLDER else None
