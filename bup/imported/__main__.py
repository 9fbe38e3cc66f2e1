"""Run ``reader_process``: ``python -m bup.imported``."""

from bup.imported.reader_process import serve

serve()
