import gzip
import threading

import numpy as np
from starlette.applications import Starlette
from streamlit.testing.v1 import AppTest

import bup
from bup.datasets import uploads
from dashboard.components import static_files
from dashboard.components.static_files import StaticFileCache
from tests.support.asgi import ask

SERVER = Starlette(routes=static_files.routes())


def bytes_in(kept: StaticFileCache) -> int:
    return sum(len(file.compressed) for file in kept._entries.values())


def test_a_browser_gets_what_was_offered_compressed_and_may_keep_it_for_good():
    content = b"const answer = 42;\n" * 500
    path = static_files.url(content, "js")
    assert path == static_files.url(content, "js")
    assert ask(SERVER, f"/some/where/{path}").status == 200
    answer = ask(SERVER, f"/{path}")
    assert gzip.decompress(answer.body) == content and len(answer.body) < len(content) / 10
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_browser_that_cannot_unpack_gets_it_plain():
    answer = ask(SERVER, f"/{static_files.url(b'0123', 'bin')}", {"accept-encoding": "identity"})
    assert answer.body == b"0123" and "content-encoding" not in answer.headers


def test_what_is_not_there_may_be_asked_for_again():
    for name in ("0" * 40 + ".js", "../secret", "x"):
        answer = ask(SERVER, f"/bup-files/{name}")
        assert answer.status == 404 and "immutable" not in str(answer.headers)


def test_memory_is_bounded_and_what_was_offered_last_stays():
    kept = StaticFileCache(most_bytes=3000)
    noise = [np.random.RandomState(i).bytes(900) for i in range(8)]
    names = [kept.add(noise[i], "bin") for i in (0, 1)]
    for other in noise[2:]:
        kept.add(other, "bin")
        kept.add(noise[0], "bin")
    assert gzip.decompress(kept.find(names[0]).compressed) == noise[0]
    assert kept.find(names[1]) is None
    assert bytes_in(kept) == kept._size <= 3000


def test_offers_from_many_threads_are_counted_once():
    kept = StaticFileCache()
    threads = [threading.Thread(target=kept.add, args=(b"same" * 999, "bin")) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept._entries) == 1 and kept._size == bytes_in(kept)


def test_what_is_drawn_of_an_own_graph_goes_with_it(monkeypatch, tmp_path):
    monkeypatch.setenv("BUP_CACHE", str(tmp_path))
    graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    name, other = uploads.save(graph), uploads.save(graph)

    def draws() -> None:
        import streamlit as st

        from dashboard.components import static_files

        st.session_state["graph"] = st.query_params["graph"]
        kinds = {"secret": "json", "secret of two": "bin", "secret library": "js"}
        for content, kind in kinds.items():
            static_files.url(content.encode(), kind)
        static_files.url(st.query_params["graph"].encode(), "json")

    def look(graph_name: str) -> None:
        app = AppTest.from_function(draws)
        app.query_params["graph"] = graph_name
        assert not app.run().exception

    def answer(content: str, kind: str = "json"):
        return ask(SERVER, f"/bup-files/{static_files._digest(content.encode())}.{kind}")

    look(name)
    look(f"noisy:{name}:homophily=0.5")
    for content in ("secret", name, f"noisy:{name}:homophily=0.5"):
        assert answer(content).headers["cache-control"].startswith("private")
    assert "public" in answer("secret library", "js").headers["cache-control"]
    uploads.delete(name)
    for content in ("secret", name, f"noisy:{name}:homophily=0.5"):
        assert answer(content).status == 404
    assert answer("secret library", "js").status == 200
    look(other)
    assert answer("secret").status == 200 and answer(name).status == 404
    look("cora")  # the same content, which is everybody's
    uploads.delete(other)
    assert answer("secret of two", "bin").headers["cache-control"].startswith("public")
