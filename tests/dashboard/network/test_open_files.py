import subprocess
import sys

import pytest

from dashboard.network import open_files
from dashboard.server.host_guard import HostGuard

SCRIPT = """
import os, resource
from dashboard.network import open_files

resource.setrlimit(resource.RLIMIT_NOFILE, (150, 300))
open_files.raise_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE), open_files.nearly_exhausted())
kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(300 - open_files.RESERVED)]
print(open_files.nearly_exhausted())
for one in kept[:100]:
    os.close(one)
print(open_files.nearly_exhausted())
kept = []
while True:
    try:
        kept.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        break
print(open_files.nearly_exhausted())
"""


def test_the_limit_is_raised_and_newcomers_are_told_before_it_is_reached():
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["(300, 300) False", "True", "False", "True"], done.stderr


def test_where_there_is_no_limit_there_is_always_room(monkeypatch):
    monkeypatch.setattr(open_files, "resource", None)
    open_files.raise_limit()
    assert not open_files.nearly_exhausted()


def test_a_server_without_room_says_so_to_newcomers_only(monkeypatch):
    from tests.dashboard.server.test_host_guard import server
    from tests.support.asgi import ask

    monkeypatch.setattr(open_files, "nearly_exhausted", lambda: True)
    doors: HostGuard = server()
    answer = ask(doors, "/", {"accept": "text/html,*/*"})
    assert answer.status == 503 and answer.body.decode().startswith(open_files.SERVER_FULL)
    assert ask(doors, "/", kind="websocket").status == "websocket.close"
    assert ask(doors, "/", {"accept": "*/*"}).status == 200  # a file of somebody who is here
