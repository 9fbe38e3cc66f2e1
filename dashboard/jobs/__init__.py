"""Training on demand, outside the pages: a queue, and processes kept warm for it.

A page asks the manager for a run and looks at the job from time to time; it never waits. Runs train
in niced processes (``python -m dashboard.jobs``) that have imported torch beforehand, so the first
epoch is there at once. One JSON value per line: runs go to a process's stdin, progress and outcome
come back on its stdout. However the server ends, the kernel then closes that stdin, and the process
exits: nothing trains for nobody.

What needs torch is imported where it is used: a training process whose server has gone must be able
to notice that while torch, which takes seconds, is still being imported.
"""
