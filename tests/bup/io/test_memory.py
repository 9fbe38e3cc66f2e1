"""What is asked of the C library, as the C library tells it."""

import ctypes
import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, threading
from bup.io import memory

if {shared}:
    memory.share_freed_memory()
everybody = threading.Barrier(6)

def visit():
    everybody.wait()
    parts = [bytes(1000) for _ in range(1000)]
    everybody.wait()

threads = [threading.Thread(target=visit) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
out = libc.fopen(b"/dev/stdout", b"w")
libc.malloc_info(0, ctypes.c_void_p(out))
libc.fflush(ctypes.c_void_p(out))
"""


def pools(shared: bool) -> int:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(shared=shared)], capture_output=True, text=True
    )
    assert "<malloc" in done.stdout, done.stderr
    return done.stdout.count("<heap nr=")


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="needs glibc")
def test_threads_of_a_server_share_the_memory_that_they_free():
    assert pools(shared=True) <= 2 < pools(shared=False)
