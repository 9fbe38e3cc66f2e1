import logging
import sys

from bup import Store
from bup.jobs.worker import serve

logging.basicConfig(format="%(levelname)s: %(message)s")
serve(Store(sys.argv[1]))
