"""A process that draws the graph whose name is given, for somebody who has other work to do.

It writes the graph to its standard output, or says on standard error why it cannot.
"""

import sys

from bup import BupError, load_graph
from bup.datasets import own
from bup.jobs.worker import be_modest

be_modest()
try:
    sys.stdout.buffer.write(own.packed(load_graph(sys.argv[1])))
except BupError as error:
    sys.exit(f"bup: {error}")
