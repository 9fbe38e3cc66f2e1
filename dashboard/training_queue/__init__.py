"""Training on demand, outside the pages: the queue of a server.

A page submits runs and looks at their jobs from time to time; it never waits. One process has the
queue (``local_queue``), other server processes use it over a socket (``shared_queue``). Training
itself is in ``bup.jobs``.
"""
