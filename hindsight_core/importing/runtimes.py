"""The opened configurations of an import, one a place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hindsight_core.services import Clock, utc_now

if TYPE_CHECKING:
    from hindsight_core.importing.filing import Place
    from hindsight_core.runtime import Runtime


class Runtimes:
    """Opens a place's configuration when it is needed.

    Args:
        env: The environment.
        clock: Aware UTC now.
    """

    def __init__(self, env: Mapping[str, str], *, clock: Clock = utc_now) -> None:
        self._env = env
        self._clock = clock
        self._open: dict[int, Runtime] = {}

    def of(self, place: Place) -> Runtime:
        """The runtime of a place that has a bank."""
        from hindsight_core.runtime import Runtime

        if place.loaded is None or place.bank is None:
            raise AssertionError("what has no bank is not imported")
        key = id(place.loaded)
        if key not in self._open:
            self._open[key] = Runtime(
                place.loaded, clock=self._clock, env=self._env, hooks=place.hooks
            )
        return self._open[key]

    async def close(self) -> None:
        """Release everything that was opened."""
        while self._open:
            await self._open.popitem()[1].close()
