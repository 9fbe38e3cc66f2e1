import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.support import ROOT


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    """A queue of runs with a real training process and a store of its own."""
    from bup.jobs import processes
    from dashboard.training_queue import local_queue as jobs

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUP_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(processes, "GRACE", 60)  # a busy machine is not a process that hangs
        queue = jobs.LocalQueue()
        yield queue
        queue.close()


@pytest.fixture
def nothing_left_to_do(queue):
    yield
    for run, job in list(queue._jobs.items()):
        queue._waiting.get(run, {}).clear()
        for visitor in job.askers:
            queue.cancel(run, visitor)


@pytest.fixture
def open_app(stocked_cache, monkeypatch, go_to):
    """Open the app at a page, as a link with these parameters would."""
    from dashboard.cache import shared_cache

    monkeypatch.setenv("BUP_CACHE", str(stocked_cache))
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()
    monkeypatch.setattr(shared_cache, "SHARED_CACHE", shared_cache.SharedCache())

    def open_at(page: str = "explore", **query: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        return app if page == "explore" else go_to(app, page)

    return open_at
