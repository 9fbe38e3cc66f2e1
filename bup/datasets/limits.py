"""How much visitors may upload: settings of the server, in environment variables."""

from __future__ import annotations

import os
from dataclasses import dataclass

from bup.errors import BupError


@dataclass(frozen=True)
class Limit:
    """A setting: its name, its default and its meaning."""

    name: str
    default: int
    meaning: str

    @property
    def value(self) -> int:
        text = os.environ.get(self.name, "")
        if not text:
            return self.default
        if not (text.isascii() and text.isdecimal() and int(text) > 0):
            raise BupError(f"{self.name} must be a whole number of at least 1, got {text!r}")
        return int(text)


UPLOAD_MB = Limit("BUP_UPLOAD_MB", 50, "MB of all files that are dropped at once")
UPLOADS_MB = Limit(
    "BUP_UPLOADS_MB", 1000, "MB of dropped files that are in memory, of all visitors together"
)
UNPACKED_MB = Limit("BUP_UNPACKED_MB", 400, "MB that archives among them may unpack to")
NODES = Limit("BUP_OWN_NODES", 200_000, "nodes of a visitor's graph")
LINKS = Limit("BUP_OWN_LINKS", 2_000_000, "links of a visitor's graph")
CELLS = Limit("BUP_OWN_CELLS", 5_000_000, "cells of a table that is dropped")
READ_SECONDS = Limit("BUP_READ_SECONDS", 60, "seconds that reading what is dropped may take")
READ_MB = Limit("BUP_READ_MB", 2000, "MB of memory that reading what is dropped may take")
SPACE_MB = Limit("BUP_OWN_SPACE_MB", 2000, "MB of everything that visitors keep here")
DAYS = Limit("BUP_OWN_DAYS", 7, "days after which an upload that was not opened is deleted")

MEGABYTE = 2**20
