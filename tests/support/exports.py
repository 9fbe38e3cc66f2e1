"""What the tests of exported pages share."""

import base64
import dataclasses
import json
import re
import zlib

import numpy as np

import bup
from bup.training.fitting import run_of
from dashboard.cache.run_cache import LoadedRun

HOSTILE = '</script><script>window.hurt = 1</script><img src=x onerror="window.hurt = 1">'


def loaded_run(result: bup.Result, graph: bup.Graph) -> LoadedRun:
    return LoadedRun(run_of(result.spec, graph), graph, result)


def hostile_graph() -> bup.Graph:
    """A graph whose every name would like to be markup."""
    graph = bup.load_graph("synthetic:nodes=240,classes=3,words=60")
    return dataclasses.replace(
        graph,
        name=f"synthetic{HOSTILE}",
        class_names=tuple(f"{HOSTILE}{name}" for name in graph.class_names),
        ids=tuple(f"{HOSTILE}{i}" for i in range(graph.num_nodes)),
        titles=tuple(f"{HOSTILE} of {i}" for i in range(graph.num_nodes)),
        words=tuple(f"{HOSTILE}{k}" for k in range(graph.num_features)),
    )


def read_document(page: str) -> dict:
    """The data inside an exported page."""
    (squeezed,) = re.findall(r'id="document">([^<]*)</script>', page)
    return json.loads(zlib.decompress(base64.b64decode(squeezed)))


def numbers(packed: dict) -> np.ndarray:
    """As numbers() in decode.js."""
    steps = np.frombuffer(base64.b64decode(packed["bytes"]), f"<{packed['type']}")
    if "scale" not in packed:
        return steps
    first, step = packed["scale"]
    return first + steps * step
