"""Training on one thread, so that a run has the same bits on any number of cores."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from bup.io.lazy import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch, OpenMP and BLAS to one thread.

    How a sum is split among threads decides its last bits. On graphs of some thousand nodes a
    second thread gains nothing; several runs are trained by several processes.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)
