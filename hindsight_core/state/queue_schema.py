"""Layout of queue.db: what must survive a killed process and a power cut."""

from __future__ import annotations

from hindsight_core.storage import Schema

_FIRST = """
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    document_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    session_id TEXT,
    payload TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    strikes INTEGER NOT NULL DEFAULT 0,
    next_at REAL NOT NULL,
    owner TEXT,
    lease_until REAL,
    reason TEXT,
    created_at REAL NOT NULL,
    died_at REAL
);
CREATE INDEX jobs_by_bank ON jobs (bank, state, id);
CREATE INDEX jobs_by_document ON jobs (bank, document_id);
CREATE TABLE receipts (
    bank TEXT NOT NULL,
    document_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    session_id TEXT,
    fact_ids TEXT NOT NULL,
    stored_at REAL NOT NULL,
    PRIMARY KEY (bank, document_id)
);
CREATE TABLE windows (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    session_id TEXT NOT NULL,
    last_entry_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    recorded_at REAL NOT NULL,
    UNIQUE (bank, session_id, last_entry_id)
);
CREATE TABLE covered (
    bank TEXT NOT NULL,
    session_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    PRIMARY KEY (bank, session_id, entry_id)
) WITHOUT ROWID;
CREATE TABLE pauses (
    bank TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    until REAL NOT NULL,
    asked INTEGER NOT NULL,
    reason TEXT NOT NULL
);
CREATE TABLE sessions (
    bank TEXT NOT NULL,
    session_id TEXT NOT NULL,
    host TEXT NOT NULL,
    project TEXT,
    cwd TEXT,
    owner TEXT,
    lease_until REAL,
    PRIMARY KEY (bank, session_id)
);
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    session_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    payload TEXT NOT NULL,
    recorded_at REAL NOT NULL,
    UNIQUE (bank, session_id, entry_id)
);
CREATE TABLE set_aside (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    bank TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    reason TEXT NOT NULL,
    at REAL NOT NULL
);
CREATE TABLE review (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bank TEXT NOT NULL,
    document_id TEXT NOT NULL,
    state TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at REAL NOT NULL,
    UNIQUE (bank, document_id)
);
"""

_SECOND = """
CREATE TABLE bank_files (
    bank TEXT PRIMARY KEY,
    identity TEXT NOT NULL
) WITHOUT ROWID;
"""

_THIRD = """
CREATE TABLE retained (
    bank TEXT NOT NULL,
    session_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    chain TEXT NOT NULL,
    document_id TEXT NOT NULL,
    recorded_at REAL NOT NULL,
    PRIMARY KEY (bank, session_id, entry_id)
) WITHOUT ROWID;
CREATE INDEX retained_by_chain ON retained (bank, chain);
CREATE TABLE left_out (
    session_id TEXT NOT NULL,
    entry_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    recorded_at REAL NOT NULL,
    PRIMARY KEY (session_id, entry_id)
) WITHOUT ROWID;
"""

_REVIEW = """
ALTER TABLE review ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
ALTER TABLE review ADD COLUMN done_at REAL;
ALTER TABLE review ADD COLUMN done_by TEXT;
CREATE INDEX review_by_state ON review (state, created_at);
CREATE TABLE review_actions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    batch INTEGER NOT NULL,
    review_id INTEGER NOT NULL,
    action TEXT NOT NULL,
    before TEXT NOT NULL,
    at REAL NOT NULL
);
"""

QUEUE_SCHEMA = Schema("queue", (_FIRST, _SECOND, _THIRD, _REVIEW))
