"""The activity log of one session, beside the host's session file (am/A-LOG)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight_core.telemetry import PLAIN_KEYS, append_line, json_line

if TYPE_CHECKING:
    from hindsight_core.engine.opening import Opening
    from hindsight_core.runtime import Runtime

logger = logging.getLogger("hindsight_core.engine")
SUFFIX = ".active-memory.jsonl"
# Without text: no words of anybody. A reason may be a model's, a cause the user's prompt.
STRICT = PLAIN_KEYS - {"reason", "error", "host_reason"}


class SessionActivity:
    """Writes what active memory does in a session, one JSON object a line, mode 0600.

    Entries are those of the activity log whose type is a pair of words, such as
    ``recall.started``. A file that cannot be written costs nothing else.

    Args:
        path: The file; None for a session that the host does not keep.
        runtime: Its log, its clock.
        session_id: The session.
        project_id: The project, as memories name it.
    """

    def __init__(
        self, path: Path | None, runtime: Runtime, *, session_id: str, project_id: str
    ) -> None:
        self.path = path
        self._clock = runtime.clock
        self._include_text = runtime.settings.log.include_text
        self._redact = runtime.sanitiser.redact
        self._head = {"sessionId": session_id, "projectId": project_id}
        self._failed = False
        if path is not None:
            runtime.log.listen(self.take)

    @classmethod
    def of(cls, runtime: Runtime, opening: Opening) -> SessionActivity:
        """Where ``log.per_session`` wants it and the host has a file."""
        from hindsight_core.memorize.lifecycle.place import memory_project

        session, settings = opening.session, runtime.settings.log
        wanted = settings.per_session and settings.activity and session.file is not None
        path = activity_path(Path(str(session.file))) if wanted else None
        return cls(
            path,
            runtime,
            session_id=session.id,
            project_id=memory_project(runtime.loaded.project),
        )

    def take(self, kind: str, fields: Mapping[str, object]) -> None:
        """An entry of the activity log."""
        if self.path is None or "." not in kind:
            return
        data = {name: value for name, value in fields.items() if name not in ("session", "bank")}
        entry = {"timestamp": self._clock().isoformat(), **self._head, "type": kind, "data": data}
        plain = STRICT | {"timestamp", "sessionId", "projectId"}
        try:
            text, redact = self._include_text, self._redact
            line = json_line(entry, include_text=text, plain=plain, redact=redact)
            append_line(self.path, line)
        except OSError as error:
            if not self._failed:
                logger.warning("the activity log %s cannot be written: %s", self.path, error)
            self._failed = True


def activity_path(session_file: Path) -> Path:
    """``X.jsonl`` has its log in ``X.active-memory.jsonl``."""
    name = session_file.name.removesuffix(".jsonl") + SUFFIX
    return session_file.with_name(name)
