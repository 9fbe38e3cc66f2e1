"""Training on demand, outside the pages: the queue of a server.

A page asks the queue for a run and looks at the job from time to time; it never waits. The queue is
kept by one process, whatever number of them serves pages: ``manager`` keeps it, ``sharing`` lets
others reach it. The training itself is ``bup.jobs``.
"""
