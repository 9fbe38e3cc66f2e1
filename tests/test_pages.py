"""Every page, run without a browser: no exception, the right numbers, links that reopen a view."""

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parent.parent
PAGES = ("explore", "reliability", "ood", "structure", "compare")


@pytest.fixture
def open_app(stocked_cache, monkeypatch):
    """Open the app at a page, as a link with these parameters would."""
    monkeypatch.setenv("BUP_CACHE", str(stocked_cache))
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()

    def open_at(page: str = "explore", **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=120)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        if page != "explore":
            app.switch_page(f"views/{page}.py").run()
        return app

    return open_at


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("method", ["bup", "gcn"])
def test_every_page_opens_for_every_kind_of_method(open_app, page, method):
    app = open_app(page, method=method)
    assert not app.exception, app.exception
    assert app.title[0].value.endswith("?")
    assert app.get("plotly_chart") or app.get("bidi_component")
