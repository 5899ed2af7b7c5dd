"""Layout of state.db: convenient to keep, possible to lose."""

from __future__ import annotations

from hindsight_core.storage import Schema

_FIRST = """
CREATE TABLE saved_ranges (
    bank TEXT NOT NULL,
    session_id TEXT NOT NULL,
    ranges TEXT NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (bank, session_id)
);
CREATE TABLE shown (
    bank TEXT NOT NULL,
    session_id TEXT NOT NULL,
    text TEXT NOT NULL,
    shown_at REAL NOT NULL,
    PRIMARY KEY (bank, session_id, text)
) WITHOUT ROWID;
CREATE TABLE summaries (
    bank TEXT NOT NULL,
    session_id TEXT NOT NULL,
    text TEXT NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (bank, session_id)
);
CREATE TABLE modes (
    session_id TEXT PRIMARY KEY,
    mode TEXT NOT NULL,
    updated_at REAL NOT NULL
);
CREATE TABLE usage (
    day TEXT NOT NULL,
    stage TEXT NOT NULL,
    session_id TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (day, stage, session_id)
) WITHOUT ROWID;
"""

_SECOND = """
ALTER TABLE modes ADD COLUMN choices TEXT NOT NULL DEFAULT '{}';
"""

# What the adapter of a spawned hook wants to know again in the next process.
_THIRD = """
CREATE TABLE hook_sessions (
    host TEXT NOT NULL,
    session_id TEXT NOT NULL,
    memo TEXT NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (host, session_id)
) WITHOUT ROWID;
"""

# What no bank has a place for: how facts stand (active memory), and what was shown and answered.
_FOURTH = """
CREATE TABLE lives (
    bank TEXT NOT NULL, fact_id TEXT NOT NULL, body TEXT NOT NULL, updated_at REAL NOT NULL,
    PRIMARY KEY (bank, fact_id)
) WITHOUT ROWID;
CREATE TABLE lives_aside (
    bank TEXT NOT NULL, fact_id TEXT NOT NULL, body TEXT NOT NULL, reason TEXT NOT NULL,
    at REAL NOT NULL, PRIMARY KEY (bank, fact_id)
);
CREATE TABLE bank_sessions (
    bank TEXT NOT NULL, session_id TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (bank, session_id)
) WITHOUT ROWID;
CREATE TABLE steers (
    token TEXT PRIMARY KEY, bank TEXT NOT NULL, session_id TEXT NOT NULL, shown_at REAL NOT NULL
);
CREATE INDEX steers_by_session ON steers (bank, session_id, shown_at);
CREATE TABLE steer_facts (
    token TEXT NOT NULL REFERENCES steers (token) ON DELETE CASCADE,
    fact_id TEXT NOT NULL, position INTEGER NOT NULL,
    outcome TEXT, answered_in TEXT, answered_at REAL,
    PRIMARY KEY (token, fact_id)
) WITHOUT ROWID;
CREATE INDEX steer_facts_by_fact ON steer_facts (fact_id, answered_in);
"""

# Messages and runs that active memory has dealt with.
_FIFTH = """
CREATE TABLE captured (
    bank TEXT NOT NULL, key TEXT NOT NULL, done INTEGER NOT NULL, tries INTEGER NOT NULL,
    at REAL NOT NULL, PRIMARY KEY (bank, key)
) WITHOUT ROWID;
"""

STATE_SCHEMA = Schema("state", (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH))
