import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.cache import shared_cache
from dashboard.learn.lesson import LESSONS
from dashboard.session import training
from tests.support import ROOT
from tests.support.jobs import InstantQueue


@pytest.fixture(scope="module")
def lesson_app(stocked_cache):
    """The app, opened once: every test then goes to a page of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUP_CACHE", str(stocked_cache))
        patch.chdir(ROOT)
        st.cache_resource.clear()
        patch.setattr(shared_cache, "SHARED_CACHE", shared_cache.SharedCache())
        patch.setattr(training, "training_queue", InstantQueue)
        yield AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120).run()


@pytest.fixture
def visit(lesson_app, go_to):
    addresses = {lesson.name: lesson.address for lesson in LESSONS}

    def go(page: str) -> AppTest:
        # By way of another page, so that nothing is left of an earlier visit.
        for key in ("sketch", "sketch_before"):
            if key in lesson_app.session_state:
                del lesson_app.session_state[key]
        go_to(lesson_app, "learn")
        go_to(lesson_app, addresses.get(page, page))
        assert not lesson_app.exception, lesson_app.exception
        return lesson_app

    return go
