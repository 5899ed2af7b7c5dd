"""The banks that ship with the core, registered like those of any plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsight_core.errors import ConfigError
from hindsight_core.hookspecs import Register, hookimpl

if TYPE_CHECKING:
    from hindsight_core.banks.base import Bank
    from hindsight_core.config.paths import Paths
    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services


class BankPlugin:
    """Registers ``sqlite``, the embedded default, and the servers ``hindsight`` and ``qdrant``.

    Args:
        paths: Where bank files are.
    """

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    @hookimpl
    def hindsight_register_banks(self, register: Register) -> None:
        """One file a bank under ``$HINDSIGHT_MEM_HOME/banks``, or a bank on a server."""
        register("sqlite", self._sqlite)
        register("hindsight", self._hindsight)
        register("qdrant", self._qdrant)

    def _sqlite(self, settings: Settings, services: Services) -> Bank:
        from hindsight_core.banks.sqlite import bank_path, open_sqlite

        bank_id = settings.bank.id
        if not bank_id:
            raise ConfigError("the sqlite bank needs a name: set bank.id")
        path = bank_path(self._paths.banks, bank_id)
        return open_sqlite(settings, services, bank_id=bank_id, path=path)

    def _hindsight(self, settings: Settings, services: Services) -> Bank:
        from hindsight_core.banks.hindsight.opening import open_hindsight, side_path

        bank_id = settings.bank.id
        if not bank_id:
            raise ConfigError("a bank on a server needs a name: set bank.id")
        side = side_path(self._paths.banks, bank_id)
        return open_hindsight(settings, services, bank_id=bank_id, side=side)

    def _qdrant(self, settings: Settings, services: Services) -> Bank:
        from hindsight_core.banks.qdrant import open_qdrant, side_path

        bank_id = settings.bank.id
        if not bank_id:
            raise ConfigError("a bank on a server needs a name: set bank.id")
        side = side_path(self._paths.banks, bank_id)
        return open_qdrant(settings, services, bank_id=bank_id, side=side)
