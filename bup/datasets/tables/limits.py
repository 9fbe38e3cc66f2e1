"""How much of a person's files is read: of a folder on this machine, or of a visitor's upload."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bup.datasets.uploads import limits as upload_limits


@dataclass(frozen=True)
class TableLimits:
    csv_bytes: int = 512 * 2**20
    row_bytes: int = 16 * 2**20
    npz_bytes: int = 2**30  # of the file and, separately, of all that would be unpacked from it
    nodes: int = 1_000_000
    edges: int = 20_000_000
    features: int = 100_000
    values: int = 100_000_000  # features in memory: of a table all, of a csr matrix those stored
    classes: int = 1_000
    largest: float = (
        1e6  # larger features are finite, but their squares and exponentials may not be
    )
    npz_setting: str = ""  # the setting that raises ``npz_bytes``

    @property
    def most_npz(self) -> str:
        return f"{self.npz_bytes:,}" + (f" ({self.npz_setting})" if self.npz_setting else "")


def upload() -> TableLimits:
    """The limits of a visitor's upload, as far as they differ from those of a folder."""
    unpacked = upload_limits.UNPACKED_MB
    return replace(
        TableLimits(),
        npz_bytes=unpacked.value * upload_limits.MEGABYTE,
        npz_setting=unpacked.name,
    )
