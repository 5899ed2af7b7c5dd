"""Where the bank files are, and how one is opened."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from hindsight_core.banks.sqlite.bank import SqliteBank
from hindsight_core.errors import ConfigError

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.services import Services

SUFFIX = ".db"
_LONGEST = 180


def bank_path(banks_dir: Path, bank_id: str) -> Path:
    """File of a bank; every id has its own, whatever characters it holds.

    Raises:
        ConfigError: The id is blank.
    """
    if not bank_id.strip():
        raise ConfigError("a bank id must not be blank; name the bank with bank.id or --bank")
    name = quote(bank_id, safe=" ")
    if name.startswith("."):
        name = "%2E" + name[1:]
    if len(name) > _LONGEST:
        digest = hashlib.sha256(bank_id.encode()).hexdigest()[:16]
        name = f"{name[: _LONGEST - 20].rstrip('%')}~{digest}"
    return banks_dir / f"{name}{SUFFIX}"


def list_banks(banks_dir: Path) -> list[str]:
    """Ids of the banks that have a file here, sorted."""
    if not banks_dir.is_dir():
        return []
    return sorted(unquote(path.stem) for path in banks_dir.glob(f"*{SUFFIX}") if path.is_file())


def open_sqlite(
    settings: Settings | None, services: Services, *, bank_id: str, path: Path
) -> SqliteBank:
    """The embedded bank of this file; nothing is read or written before its first call."""
    return SqliteBank(
        bank_id, path, clock=services.clock, embedder=services.embedder, logger=services.logger
    )
