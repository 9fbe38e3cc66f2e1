"""Every page, run without a browser: no exception, the right numbers, links that reopen a view."""

import dataclasses
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bup.methods import METHODS

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
@pytest.mark.parametrize("method", ["bup", "gcn", "energy"])
def test_every_page_opens_for_every_kind_of_method(open_app, page, method):
    app = open_app(page, method=METHODS[method].short)
    assert not app.exception, app.exception
    assert app.selectbox(key="method").value == method
    assert app.title[0].value.endswith("?")
    assert app.get("plotly_chart") or app.get("bidi_component")


def test_a_methods_own_scores_are_offered_without_naming_it(open_app):
    app = open_app("ood", method=METHODS["energy"].short, left_out="Rule Learning")
    labels = app.selectbox(key="ood_score").options
    assert {"Energy", "Energy without links", "Confidence"} <= set(labels)
    assert not {"Message std"} & set(labels)


def test_a_graph_that_is_too_large_for_a_method_is_explained_before_training(open_app, monkeypatch):
    small = dataclasses.replace(METHODS["gcn"], most_nodes=100, limit_reason="it is a test")
    monkeypatch.setitem(METHODS, "gcn", small)
    app = open_app(method="GCN", seed="5")
    assert "takes graphs of at most 100 nodes" in app.error[0].value
    assert not [b for b in app.button if b.label == "Train"]
