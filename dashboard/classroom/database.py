"""The file that holds the classes: SQLite, so that several processes can write at once."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import bup

MOST_BYTES = 64 << 20
VERSION = 2  # each adds to what the one before it had
PATIENCE = 10.0  # seconds to wait for somebody else's transaction

_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS class (
  code TEXT PRIMARY KEY,
  lock BLOB NOT NULL,
  started REAL NOT NULL,
  ends REAL NOT NULL,
  place TEXT NOT NULL DEFAULT '',
  step INTEGER NOT NULL DEFAULT 0,
  holds INTEGER NOT NULL DEFAULT 1,
  version INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS student (
  code TEXT NOT NULL REFERENCES class ON DELETE CASCADE,
  student TEXT NOT NULL,
  PRIMARY KEY (code, student)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS question (
  code TEXT NOT NULL REFERENCES class ON DELETE CASCADE,
  id TEXT NOT NULL,
  content TEXT NOT NULL,
  number INTEGER NOT NULL,
  revealed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (code, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS guess (
  code TEXT NOT NULL,
  question TEXT NOT NULL,
  student TEXT NOT NULL,
  choice INTEGER NOT NULL,
  PRIMARY KEY (code, question, student),
  FOREIGN KEY (code, question) REFERENCES question (code, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS arrival (
  code TEXT NOT NULL REFERENCES class ON DELETE CASCADE,
  client TEXT NOT NULL,
  address TEXT NOT NULL,
  student TEXT NOT NULL,
  PRIMARY KEY (code, client, student)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 2;
COMMIT;
"""


@contextlib.contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for one transaction; whatever goes wrong with the file is said in a line."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA max_page_count = {MOST_BYTES // 4096}")
            if count(db, "PRAGMA user_version") < VERSION:
                _prepare(db)
            yield db
        finally:
            db.close()
    except (sqlite3.Error, OSError) as error:
        raise bup.BupError(
            f"the file of classes, {path}, cannot be used ({error}): free some space there, or "
            "remove it if it is damaged"
        ) from error


def _prepare(db: sqlite3.Connection) -> None:
    """Make a new or an older file ready, whoever else does the same at this moment."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            # Here alone SQLite does not wait for others by itself.
            db.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    db.executescript(_SCHEMA)


def count(db: sqlite3.Connection, question: str, *values: str) -> int:
    """The one number that a question has for an answer."""
    return db.execute(question, values).fetchone()[0]
