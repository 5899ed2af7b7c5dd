"""The embedded bank: one SQLite file with text, full-text index and, when wanted, vectors."""

from __future__ import annotations

from hindsight_core.banks.sqlite.bank import SqliteBank
from hindsight_core.banks.sqlite.files import bank_path, list_banks, open_sqlite

__all__ = ["SqliteBank", "bank_path", "list_banks", "open_sqlite"]
