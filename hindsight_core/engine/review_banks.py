"""Opens the banks of review entries, whatever project they come from, and no server unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.errors import BankError
from hindsight_core.memorize.reviewing import endpoint_of

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.runtime import Runtime
    from hindsight_core.state.review import ReviewItem


class OtherServer(BankError):
    """The entry is on a server that this configuration does not name: it is not contacted."""


class ReviewBanks:
    """Banks by entry.

    An entry names the server that it was written to. Only the one that the reviewer's own
    configuration names is asked, compared as a whole address, with that configuration's token; any
    other stays in the queue until it is looked at from its own project (pi/D-15).

    Args:
        runtime: The reviewer's configuration.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._others: dict[tuple[str, str], Bank] = {}

    def of(self, item: ReviewItem) -> Bank:
        """The bank that an entry's document is in.

        Raises:
            OtherServer: It is on a server that is not this configuration's.
        """
        written, runtime = item.written, self._runtime
        if written.endpoint != endpoint_of(runtime.settings, written.backend):
            raise OtherServer(
                f"it is on {written.endpoint or written.backend}, which this configuration does "
                f"not name: review it from {written.project or 'its own project'}",
                retryable=False,
            )
        if written.backend == runtime.loaded.bank.backend:
            return runtime.open_bank(written.bank)
        key = (written.backend, written.bank)
        if key not in self._others:
            chosen = runtime.settings.bank.model_copy(update={"id": written.bank})
            settings = runtime.settings.model_copy(update={"bank": chosen})
            self._others[key] = runtime.new_bank(written.backend, settings)
        return self._others[key]

    async def close(self) -> None:
        """Close what only the review has opened."""
        for bank in self._others.values():
            await bank.close()
        self._others.clear()
