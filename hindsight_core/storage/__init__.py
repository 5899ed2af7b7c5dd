"""SQLite files of ours: opened safely, versioned, repaired or refused with a reason."""

from __future__ import annotations

from hindsight_core.storage.database import Database
from hindsight_core.storage.files import NETWORK_FILE_SYSTEMS, file_system
from hindsight_core.storage.schema import Schema

__all__ = ["NETWORK_FILE_SYSTEMS", "Database", "Schema", "file_system"]
