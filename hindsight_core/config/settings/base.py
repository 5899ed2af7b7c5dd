"""What every section of the settings is made of."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


def split_names(value: object) -> object:
    """A bare string is a comma-separated list, as in the environment (pi/C-03, pi/C-04)."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


def split_words(value: object) -> object:
    """A bare string is a command as one types it; a list is taken as it is."""
    if isinstance(value, str):
        return tuple(shlex.split(value))
    return tuple(value) if isinstance(value, list) else value


Names = Annotated[tuple[str, ...], BeforeValidator(split_names)]
Argv = Annotated[tuple[str, ...], BeforeValidator(split_words)]
Ms = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Text = Annotated[str, Field(pattern=r"\S")]
Url = Annotated[str, Field(pattern=r"^https?://\S+$"), AfterValidator(lambda url: url.rstrip("/"))]


class Section(BaseModel):
    """Base of all sections: frozen, finite numbers only, built when it is first validated.

    Attributes:
        tied: For a key that chooses an outside thing, the keys that belong to that thing and
            fall back to their defaults when a later layer chooses another one (am/A-CFG-2).
        either: Two sets of keys that mean the same thing in two ways: a layer that sets only
            one of them takes the other back to its defaults (am/A-CFG-2).
        ordered: Groups of keys whose values must not decrease from left to right.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)

    tied: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    either: ClassVar[tuple[tuple[str, ...], ...]] = ()
    ordered: ClassVar[tuple[tuple[str, ...], ...]] = ()
