"""Parcels as the browser gets them: node --test opens the same ones."""

import base64
import json
from pathlib import Path

import numpy as np

from dashboard.components.map.parcels import delta_varint, pack, quantise

FILE = Path(__file__).parents[2] / "js" / "parcels.json"
NUMBERS = ([], [0], [127, 128], [1, 2, 300, 2**31, 2**45])


def text(content):
    return base64.b64encode(content).decode()


def parcels():
    links = [[0, 1], [0, 2], [1, 2]]
    places, small = [[-1, -1], [0.25, 0.5], [1, 1]], [0, 0, 1]
    graph = pack(
        {"count": 3, "ids": ["a", "<b>", "ü"], "box": [-1, -1, 1, 1]},
        numbers=np.zeros(0, np.uint8),
        places=np.round(32767 * np.ravel(places)).astype(np.int16),
        links=delta_varint(np.array([3 * a + b for a, b in links])),
        small=np.packbits(small, bitorder="little"),
    )
    shades, shown, said = [0.5, None, 2.0], [1, 0, 1], [2, -1, 0]
    steps, scale = quantise(np.array(shades, dtype=float))
    layer = pack(
        {"scale": scale},
        shades=steps,
        said=np.array(said, np.int8),
        shown=np.packbits(shown, bitorder="little"),
    )
    return {
        "numbers": [
            {"values": values, "encoded": text(delta_varint(np.array(values, np.int64)).tobytes())}
            for values in NUMBERS
        ],
        "graph": {"content": text(graph.content), "links": links, "places": places}
        | {"small": small, "ids": ["a", "<b>", "ü"]},
        "layer": {"content": text(layer.content), "shades": shades, "shown": shown, "said": said},
    }


def test_the_browser_is_tested_on_what_python_packs():
    assert parcels() == json.loads(FILE.read_text()), f"write it anew: python {Path(__file__).name}"


if __name__ == "__main__":
    FILE.write_text(json.dumps(parcels(), indent=1) + "\n")
