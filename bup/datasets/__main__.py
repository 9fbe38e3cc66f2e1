"""A process that draws the graph whose name is given, for somebody who has other work to do.

It writes the graph to its standard output, or says on standard error why it cannot.
"""

import sys

from bup.datasets import load_graph, uploads
from bup.errors import BupError
from bup.io.memory import limit_resources

limit_resources()
try:
    sys.stdout.buffer.write(uploads.pack(load_graph(sys.argv[1])))
except BupError as error:
    sys.exit(f"bup: {error}")
