"""Values that a plugin may give at once or later."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def value_of(given: Awaitable[T] | T) -> T:
    """The value itself, or what is awaited."""
    if inspect.isawaitable(given):
        return await given
    return given
