"""The process that ``reading`` describes."""

from bup.imported.reader_process import serve

serve()
