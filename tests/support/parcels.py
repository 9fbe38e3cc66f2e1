"""Opens what a browser gets of a map."""

import json
import struct

import numpy as np


def unpacked(parcel):
    """As openParcel() in components/map/parcels.js."""
    content = parcel.content
    assert content[:16] == parcel.digest.encode()
    (length,) = struct.unpack("<I", content[16:20])
    header, at = json.loads(content[20 : 20 + length]), 20 + length
    arrays = {}
    for name, kind, count in header.pop("arrays"):
        arrays[name] = np.frombuffer(content, f"<{kind}", count, at)
        at += arrays[name].nbytes
    assert at == len(content)
    return header, arrays
