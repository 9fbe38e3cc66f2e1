import gzip
import threading

import numpy as np
from asgi_parts import ask
from starlette.applications import Starlette

from dashboard import payloads
from dashboard.payloads import Payloads

SERVER = Starlette(routes=payloads.routes())


def test_a_browser_gets_what_was_offered_compressed_and_may_keep_it_for_good():
    content = b"const answer = 42;\n" * 500
    path = payloads.address(content, "js")
    assert path == payloads.address(content, "js")
    assert ask(SERVER, f"/some/where/{path}").status == 200
    answer = ask(SERVER, f"/{path}")
    assert gzip.decompress(answer.body) == content and len(answer.body) < len(content) / 10
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_browser_that_cannot_unpack_gets_it_plain():
    answer = ask(SERVER, f"/{payloads.address(b'0123', 'bin')}", {"accept-encoding": "identity"})
    assert answer.body == b"0123" and "content-encoding" not in answer.headers


def test_what_is_not_there_may_be_asked_for_again():
    for name in ("0" * 40 + ".js", "../secret", "x"):
        answer = ask(SERVER, f"/bup-files/{name}")
        assert answer.status == 404 and "immutable" not in str(answer.headers)


def test_memory_is_bounded_and_what_was_offered_last_stays():
    kept = Payloads(most_bytes=3000)
    noise = [np.random.RandomState(i).bytes(900) for i in range(8)]
    names = [kept.offer(noise[i], "bin") for i in (0, 1)]
    for other in noise[2:]:
        kept.offer(other, "bin")
        kept.offer(noise[0], "bin")
    assert gzip.decompress(kept.find(names[0]) or b"") == noise[0]
    assert kept.find(names[1]) is None
    assert sum(map(len, kept._compressed.values())) == kept._size <= 3000


def test_offers_from_many_threads_are_counted_once():
    kept = Payloads()
    threads = [threading.Thread(target=kept.offer, args=(b"same" * 999, "bin")) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept._compressed) == 1 and kept._size == sum(map(len, kept._compressed.values()))
