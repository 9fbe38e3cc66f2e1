import logging
import sys

from bup import Store
from dashboard.jobs.worker import serve

logging.basicConfig(format="%(levelname)s: %(message)s")
serve(Store(sys.argv[1]))
