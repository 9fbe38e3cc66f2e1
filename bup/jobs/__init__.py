"""Training in other processes.

An owner of runs (the queue of a server, a sweep of ``bup reproduce``) hands out tasks, and an
executor trains them: processes of this machine (``processes``) or the workers of a Dask scheduler
(``cluster``). Both call ``worker.run_task``, whose messages are plain JSON values.

Local processes (``python -m bup.jobs``) run at low priority and import torch before the first task
arrives. Tasks go to a process's stdin, one JSON value per line; progress and outcome come back on
its stdout. The process stores its results itself and sends back only what it cannot store. When
the owner ends for any reason, the kernel closes that stdin and the process exits.

Torch is imported inside functions: a process must be able to notice that its owner has gone while
torch, which takes seconds, is still being imported.
"""
