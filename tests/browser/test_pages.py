"""The pages beside Explore in a real browser: what is clicked is picked and lit, by everybody."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from bup.experiments import QUESTIONS

from .accessibility import barriers
from .test_journeys import LONG, app, click_point, settled, wait_for_charts

__all__ = ["app"]

CELL = """key => {
  const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const { xaxis, yaxis } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(0), box.top + yaxis._offset + yaxis.d2p(0)];
}"""
MIDDLE_OF_CURVE = """() => {
  const plot = document.querySelector(".st-key-precision_recall .js-plotly-plot");
  const { xaxis, yaxis } = plot._fullLayout;
  const box = plot.getBoundingClientRect();
  const { x, y } = plot._fullData[0];
  const k = Math.floor(x.length / 2);
  return [box.left + xaxis._offset + xaxis.d2p(x[k]), box.top + yaxis._offset + yaxis.d2p(y[k])];
}"""


def test_a_cell_of_the_matrix_lights_its_papers_and_the_card_follows(app, page: Page):
    page.goto(f"{app}/ood?left_out=Rule+Learning")
    wait_for_charts(page, "matrix")
    settled(page)
    page.locator(".st-key-matrix").scroll_into_view_if_needed()
    page.mouse.click(*page.evaluate(CELL, "matrix"))
    title = "papers of the class Rule Learning, taken for Theory"
    expect(page.get_by_role("heading", name=title)).to_be_visible(timeout=LONG)
    wait_for_charts(page, "highlight_ood_map")
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
    "path", ["reliability", "ood?left_out=Rule+Learning", "structure", "graph", "compare"]
)
def test_nothing_keeps_anybody_out(app, page: Page, path):
    page.goto(f"{app}/{path}{'&' if '?' in path else '?'}node=35")
    expect(page.locator(".picked")).to_be_visible(timeout=LONG)
    page.wait_for_selector(".js-plotly-plot .main-svg", timeout=LONG)
    settled(page)
    assert page.locator(".no-webgl").count() == 0  # our own policy lets every chart draw
    assert barriers(page) == []


@pytest.mark.parametrize("path", ["own", "class"])
def test_nor_where_no_run_is_needed(app, page: Page, path):
    page.goto(f"{app}/{path}")
    expect(page.locator("h1")).to_be_visible(timeout=LONG)
    settled(page)
    assert barriers(page) == []


def test_the_card_goes_along_to_the_published_results_and_sees_the_chosen_rerun(app, page: Page):
    page.set_viewport_size({"width": 1440, "height": 1700})
    page.goto(f"{app}/reliability?node=35")
    card = page.locator(".picked")
    expect(card).to_contain_text("Paper 35", timeout=LONG)
    settled(page)
    page.get_by_role("button", name="More").click()
    page.get_by_text("Reproduce", exact=True).click()
    expect(card).to_contain_text("Paper 35", timeout=LONG)
    expect(card).to_contain_text("BUP, 20 per class, seed 0")
    wait_for_charts(page, "reproduce_picture")
    methods = QUESTIONS["q1"].variants
    gcn = 3 * len(methods) + [each.label for each in methods].index("gcn")
    click_point(page, gcn, "reproduce_picture")
    expect(card).to_contain_text("gcn, 20 per class, seed 0", timeout=LONG)
    expect(card).to_contain_text("Paper 35")
    settled(page)
    assert barriers(page) == []


def test_a_corner_of_the_precision_recall_curve_picks(app, page: Page):
    page.set_viewport_size({"width": 1440, "height": 1700})
    page.goto(f"{app}/ood?left_out=Rule+Learning")
    page.get_by_role("tab", name="Precision and recall").click(timeout=LONG)
    wait_for_charts(page, "precision_recall")
    settled(page)
    box = page.locator(".st-key-precision_recall .js-plotly-plot")
    box.scroll_into_view_if_needed()
    expect(page.get_by_role("textbox", name="Picked paper (id)")).to_have_value("")
    page.mouse.click(*page.evaluate(MIDDLE_OF_CURVE))
    expect(page.get_by_role("textbox", name="Picked paper (id)")).not_to_have_value(
        "", timeout=LONG
    )
