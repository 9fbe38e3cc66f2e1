"""The file that holds the classes: SQLite, so that several processes can write at once."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import bup

MOST_BYTES = 64 << 20
VERSION = 3  # a newer version only adds tables
TIMEOUT = 10.0  # seconds to wait for the transaction of another process

_SCHEMA = (Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")


@contextlib.contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for one transaction; any error of the file becomes a BupError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=TIMEOUT, isolation_level=None)
        try:
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA max_page_count = {MOST_BYTES // 4096}")
            if query_number(db, "PRAGMA user_version") < VERSION:
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
    """Make a new or an older file ready; other processes may do the same at this moment."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            # For this statement SQLite does not wait for other processes by itself.
            db.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    db.executescript(_SCHEMA)


def query_number(db: sqlite3.Connection, query: str, *values: str) -> int:
    """Result of a query for one number."""
    return db.execute(query, values).fetchone()[0]
