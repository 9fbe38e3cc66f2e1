import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.cache import shared_cache
from dashboard.learn.lesson import LESSONS
from dashboard.session import training
from tests.support import ROOT
from tests.support.jobs import AtOnce


@pytest.fixture(scope="module")
def opened(stocked_cache):
    """The app, opened once: every test then goes to a page of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUP_CACHE", str(stocked_cache))
        patch.chdir(ROOT)
        st.cache_resource.clear()
        patch.setattr(shared_cache, "SHARED_CACHE", shared_cache.SharedCache())
        patch.setattr(training, "training_queue", AtOnce)
        yield AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120).run()


@pytest.fixture
def visit(opened, go_to):
    addresses = {lesson.name: lesson.address for lesson in LESSONS}

    def go(page: str) -> AppTest:
        # By way of another page, so that nothing is left of an earlier visit.
        for key in ("sketch", "sketch_before"):
            if key in opened.session_state:
                del opened.session_state[key]
        go_to(opened, "learn")
        go_to(opened, addresses.get(page, page))
        assert not opened.exception, opened.exception
        return opened

    return go
