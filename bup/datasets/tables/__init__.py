"""Files that people bring: tables, matrices, archives and networks, checked as they are read.

The files may come from strangers. Whatever they hold, the outcome is data or a ``BupError``.
"""
