"""Data files of a site."""

import hashlib
import zlib
from pathlib import Path


def compressed(text: str) -> bytes:
    return zlib.compress(text.encode(), 9)


def write_data(folder: Path, kind: str, text: str) -> Path:
    """Write a text, compressed; its name changes with it, so that browsers may keep it."""
    content = compressed(text)
    path = folder / f"{kind}-{hashlib.sha256(content).hexdigest()[:12]}.bin"
    path.write_bytes(content)
    return path
