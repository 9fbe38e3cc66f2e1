"""Training in other processes: one kind of process, one way to speak to it, whoever asks.

An owner of runs (the queue of a server, a sweep of ``bup reproduce``) hands out tasks; a place
trains them: processes of this machine (``processes``), or those of a Dask scheduler (``cluster``).
Either way ``worker.outcome`` does the work, and what it says in the end is a plain JSON value.

Runs train in niced processes (``python -m bup.jobs``) that have imported torch beforehand, so the
first epoch is there at once. One JSON value per line: tasks go to a process's stdin, progress and
outcome come back on its stdout. The process stores its results itself; only what it cannot store
comes back. However its owner ends, the kernel then closes that stdin, and the process exits:
nothing trains for nobody.

What needs torch is imported where it is used: a training process whose owner has gone must be able
to notice that while torch, which takes seconds, is still being imported.
"""
