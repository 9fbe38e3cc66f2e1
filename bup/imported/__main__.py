"""The process that ``reading`` describes."""

from bup.imported.reading import serve

serve()
