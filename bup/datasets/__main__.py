"""A process that writes a graph to its standard output, or an error to its standard error."""

import sys

from bup.datasets import load_graph
from bup.errors import BupError
from bup.graph import storage
from bup.io.memory import limit_resources

limit_resources()
try:
    sys.stdout.buffer.write(storage.pack(load_graph(sys.argv[1])))
except BupError as error:
    sys.exit(f"bup: {error}")
