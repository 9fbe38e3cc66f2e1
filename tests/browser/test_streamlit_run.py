"""The app as Streamlit's own command starts it: what is fetched beside the pages is there."""

from __future__ import annotations

import io

import pytest

pytest.importorskip("playwright")

import numpy as np
from PIL import Image
from playwright.sync_api import Page

from .test_journeys import wait_for_charts, wait_for_map


@pytest.fixture(scope="module")
def app(serve, stocked_cache) -> str:
    return serve(cache=stocked_cache, streamlit=True)


def coloured(page: Page, selector: str) -> int:
    """How many pixels of an element are in colour: text, axes and links are grey."""
    picture = Image.open(io.BytesIO(page.locator(selector).first.screenshot())).convert("HSV")
    _, saturation, value = np.moveaxis(np.asarray(picture), -1, 0)
    return int(((saturation > 90) & (value > 60)).sum())


def test_the_map_has_its_dots_and_a_chart_its_bars(app, page: Page):
    page.goto(app)
    wait_for_map(page)
    assert coloured(page, ".st-key-map .bup-map") > 10_000
    page.goto(f"{app}/reliability")
    wait_for_charts(page, "reliability")
    assert coloured(page, ".st-key-reliability .js-plotly-plot") > 10_000
