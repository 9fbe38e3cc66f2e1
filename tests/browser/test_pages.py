"""The pages beside Explore in a real browser: what is clicked is picked and lit, by everybody."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from .accessibility import barriers
from .test_journeys import LONG, app, settled, wait_for_charts

__all__ = ["app"]

CELL = """key => {
  const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const { xaxis, yaxis } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(0), box.top + yaxis._offset + yaxis.d2p(0)];
}"""


def test_a_cell_of_the_matrix_lights_its_papers_and_the_card_follows(app, page: Page):
    page.goto(f"{app}/ood?left_out=Rule+Learning")
    wait_for_charts(page, "matrix")
    settled(page)
    page.locator(".st-key-matrix").scroll_into_view_if_needed()
    page.mouse.click(*page.evaluate(CELL, "matrix"))
    title = "papers of the class Rule Learning, taken for Theory"
    expect(page.get_by_role("heading", name=title)).to_be_visible(timeout=LONG)
    wait_for_charts(page, "ood_lit_map")
    card = page.locator(".picked")
    expect(card).to_contain_text("It is Rule Learning, a class never shown")
    expect(card).to_be_in_viewport()


def test_a_class_left_out_on_the_page_is_left_out_in_the_sidebar(app, page: Page):
    page.goto(f"{app}/ood?node=35")
    page.get_by_test_id("stMain").get_by_role("radio", name="Rule Learning").click(timeout=LONG)
    chosen = page.get_by_test_id("stSidebar").locator(".st-key-left_out")
    expect(chosen).to_contain_text("Rule Learning", timeout=LONG)
    wait_for_charts(page, "matrix")
    assert "left_out=Rule" in page.url and "node=35" in page.url


@pytest.mark.parametrize(
    "path", ["reliability", "ood?left_out=Rule+Learning", "structure", "graph"]
)
def test_nothing_keeps_anybody_out(app, page: Page, path):
    page.goto(f"{app}/{path}")
    expect(page.locator(".picked")).to_be_visible(timeout=LONG)
    page.wait_for_selector(".js-plotly-plot .main-svg", timeout=LONG)
    settled(page)
    assert page.locator(".no-webgl").count() == 0  # our own policy lets every chart draw
    assert barriers(page) == []
