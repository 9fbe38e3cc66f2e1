"""Graphs that visitors bring, in two real browsers: neither sees the other's."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from dashboard.views.upload import example

from .test_journeys import LONG, app, settled

__all__ = ["app"]


def bring(page: Page, app: str, title: str) -> str:
    """Drop a graph and open it; returns the name that its link has."""
    page.goto(f"{app}/own")
    expect(page.get_by_role("heading", name="Bring your own")).to_be_visible(timeout=LONG)
    zipped = {"name": f"{title}.zip", "mimeType": "application/zip", "buffer": example.zipped()}
    page.locator("input[type=file]").set_input_files([zipped])
    page.get_by_role("button", name="Open this graph").click(timeout=LONG)
    page.wait_for_url(re.compile("graph=own"), timeout=LONG)
    return unquote(re.search(r"graph=([^&]+)", page.url)[1])


def refused(page: Page, link: str) -> None:
    page.goto(link)
    expect(page.get_by_text("this graph is not here")).to_be_visible(timeout=LONG)


def test_two_visitors_see_their_own_graphs_only(app, page: Page, chromium: Browser):
    stranger = chromium.new_context(viewport={"width": 1280, "height": 720}).new_page()
    try:
        names = [bring(page, app, "secret"), bring(stranger, app, "other")]
        tokens = [name.removeprefix("own:").partition("-")[0] for name in names]
        assert names[0].endswith("-secret") and names[1].endswith("-other")
        # The list of graphs does not tell of another's.
        stranger.goto(f"{app}/?graph={names[1]}")
        graphs = stranger.get_by_role("combobox", name="Graph")
        expect(graphs).to_have_value(names[1], timeout=LONG)
        settled(stranger)
        graphs.click()
        offered = stranger.get_by_role("option").all_inner_texts()
        assert any("Cora" in name for name in offered)
        assert tokens[0] not in stranger.content()
        # A name that is nearly right opens nothing.
        other_end = "b" if tokens[0].endswith("a") else "a"
        refused(stranger, f"{app}/?graph=own:{tokens[0][:-1]}{other_end}-secret")
    finally:
        stranger.context.close()
