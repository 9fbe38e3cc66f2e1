"""Where a lecturer sends a class: a page of the app and what opens it at the right spot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

import bup

PERSONAL_PARAMETERS = ("lead", "code", "large")
"""Parameters of one visitor: the membership in a class, and the size of the text."""


@dataclass(frozen=True)
class Destination:
    address: str
    query: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, address: str, query: Sequence[tuple[str, str]]) -> Destination:
        return cls(address, tuple(pair for pair in query if pair[0] not in PERSONAL_PARAMETERS))

    @classmethod
    def read(cls, link: str, addresses: Sequence[str]) -> Destination:
        """The place of any link of the app, whose pages have these addresses, the root's first.

        Only the page and its query count, so that no link leads out of the app.
        """
        try:
            parts = urlsplit(link.strip())
            query = parse_qsl(parts.query)
        except ValueError as error:
            raise bup.BupError(f"this is no link: {link[:80]!r} ({error})") from error
        address = parts.path.rstrip("/").rpartition("/")[2] or addresses[0]
        if address not in addresses:
            raise bup.BupError(
                f"this app has no page {address[:80]!r}: copy a link from your address bar"
            )
        return cls.of(address, query)

    def __str__(self) -> str:
        return f"{self.address}?{urlencode(self.query)}" if self.query else self.address
