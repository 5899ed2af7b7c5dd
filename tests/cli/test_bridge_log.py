from __future__ import annotations

import logging

from hindsight_core.logs import PrivateLog


def test_the_log_is_its_owners_alone(tmp_path):
    file = tmp_path / "bridge.log"
    file.touch(mode=0o644)
    handler = PrivateLog(file, maxBytes=40, backupCount=1, delay=True)
    for _ in range(3):
        handler.emit(logging.makeLogRecord({"msg": "x" * 30}))
    handler.close()
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 2
