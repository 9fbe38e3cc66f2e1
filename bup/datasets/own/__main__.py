"""The process that ``reading`` describes."""

from bup.datasets.own.reading import serve

serve()
