"""How the bank file is laid out; rows are the truth, index and vectors can be rebuilt from them."""

from __future__ import annotations

from hindsight_core.storage import Schema

# Times are whole microseconds since 1970 in UTC, so that a copy is exact and ranges compare.
# `facts.moment` is when a fact was said, else stored. `words` holds valid facts only.
FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id TEXT PRIMARY KEY, text TEXT NOT NULL, context TEXT, tags TEXT NOT NULL,
    metadata TEXT NOT NULL, timestamp INTEGER, created_at INTEGER NOT NULL,
    explicit INTEGER NOT NULL
);
CREATE INDEX documents_by_time ON documents (created_at);
CREATE TABLE facts (
    row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    text TEXT NOT NULL, kind TEXT NOT NULL, category TEXT, state TEXT NOT NULL,
    document_id TEXT, timestamp INTEGER, created_at INTEGER, moment INTEGER NOT NULL,
    tags TEXT NOT NULL, metadata TEXT NOT NULL, provenance TEXT NOT NULL, session_id TEXT,
    superseded_by TEXT, reason TEXT, pinned INTEGER NOT NULL
);
CREATE INDEX facts_by_content ON facts (content);
CREATE INDEX facts_by_state ON facts (state, moment);
CREATE INDEX facts_by_moment ON facts (moment);
CREATE INDEX facts_by_document ON facts (document_id);
CREATE TABLE members (
    document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    row INTEGER NOT NULL REFERENCES facts (row) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    PRIMARY KEY (document_id, row)
) WITHOUT ROWID;
CREATE INDEX members_by_row ON members (row, document_id, position);
CREATE TABLE fact_tags (
    row INTEGER NOT NULL REFERENCES facts (row) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (row, tag)
) WITHOUT ROWID;
CREATE TABLE forgotten (content TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    body, names, near, tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE words_terms USING fts5vocab ('words', 'row');
CREATE TABLE vocabulary (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE spellings USING fts5 (
    word, content = 'vocabulary', content_rowid = 'id', tokenize = 'trigram'
);
CREATE TABLE vectors (
    row INTEGER PRIMARY KEY REFERENCES facts (row) ON DELETE CASCADE,
    identity TEXT NOT NULL, content TEXT NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX vectors_by_identity ON vectors (identity);
CREATE TABLE counts (what TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER count_fact AFTER INSERT ON facts BEGIN
    INSERT INTO counts VALUES (new.state, 1) ON CONFLICT (what) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER uncount_fact AFTER DELETE ON facts BEGIN
    UPDATE counts SET n = n - 1 WHERE what = old.state;
END;
CREATE TRIGGER recount_fact AFTER UPDATE OF state ON facts WHEN old.state <> new.state BEGIN
    UPDATE counts SET n = n - 1 WHERE what = old.state;
    INSERT INTO counts VALUES (new.state, 1) ON CONFLICT (what) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER count_document AFTER INSERT ON documents BEGIN
    INSERT INTO counts VALUES ('documents', 1) ON CONFLICT (what) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER uncount_document AFTER DELETE ON documents BEGIN
    UPDATE counts SET n = n - 1 WHERE what = 'documents';
END;
"""

SCHEMA = Schema(name="bank", migrations=(FIRST,))
