"""What people come for, counted in clicks: a lecturer's, a student's and a reader's task."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Locator, Page, expect

from .test_journeys import CAMERA, LONG, app, open_tab, settled, visit, wait_for_map

__all__ = ["app"]


class Hand:
    """A visitor who may click so many times."""

    def __init__(self, page: Page, most: int) -> None:
        self.page, self.left = page, most

    def click(self, what: Locator) -> None:
        assert self.left > 0, "that takes too many clicks"
        self.left -= 1
        what.click(timeout=LONG)
        settled(self.page)


def test_a_lecturer_shows_a_confident_mistake_on_an_unseen_class(app, page: Page):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    settled(page)
    hand = Hand(page, 6)
    hand.click(page.get_by_text("A class never shown", exact=False).first)
    expect(page.get_by_text("a class that it was never shown")).to_be_visible(timeout=LONG)
    sure = re.search(r"(\d+)% sure", page.get_by_text("The model says").first.inner_text())
    assert sure is not None and int(sure[1]) >= 80
    hand.click(page.get_by_label("Method", exact=True).first)
    hand.click(page.get_by_role("option", name="GCN", exact=True))
    expect(page.get_by_text("BUP → GCN")).to_be_visible(timeout=LONG)
    assert "never shown" in page.get_by_text("The model says").first.inner_text()

    hand.click(page.locator(".st-key-tab").get_by_text("Links", exact=True))
    expect(page.locator(".ego")).to_be_visible(timeout=LONG)
    hand.click(page.get_by_role("link", name="Compare", exact=True))
    table = page.locator("table.verdicts")
    expect(table.get_by_role("rowheader", name="GCN")).to_be_visible(timeout=LONG)
    expect(table.get_by_role("rowheader", name="BUP")).to_be_visible(timeout=LONG)


def test_a_student_changes_lambda_and_sees_what_it_did(app, page: Page):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    settled(page)
    hand = Hand(page, 3)
    hand.click(page.get_by_text("Published rule", exact=True))  # under ours there is no lambda
    lam = page.get_by_test_id("stNumberInput").filter(has_text="λ")
    expect(page.get_by_role("button", name="Before and after")).to_be_visible(timeout=LONG)
    hand.click(lam.get_by_test_id("stNumberInputStepUp"))
    told = page.locator(".st-key-explore_change")
    expect(told).to_contain_text("(λ): 1 → 2", timeout=LONG)
    expect(told).to_contain_text("Message uncertainty, on average")
    hand.click(page.get_by_role("button", name="Before and after"))
    expect(page.locator(".bup-map[data-layer]")).to_have_count(2, timeout=LONG)


def test_a_link_to_the_exact_view_is_one_click(app, page: Page):
    visit(page, f"{app}/?node=35", "Where is the model unsure, and why?")
    wait_for_map(page)
    open_tab(page, "Why?")
    why = page.get_by_text("Click a bar to pick its paper").first
    expect(why).to_be_visible(timeout=LONG)
    settled(page)
    box = page.locator(".bup-map .stage").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 3)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(500)
    camera = page.evaluate(CAMERA)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hand = Hand(page, 1)
    hand.click(page.get_by_role("button", name="Copy a link"))
    link = page.evaluate("navigator.clipboard.readText()")

    page.goto("about:blank")
    page.goto(link)
    wait_for_map(page)
    expect(why).to_be_visible(timeout=LONG)
    again = page.evaluate(CAMERA)
    assert all(again[key] == pytest.approx(camera[key], abs=2e-3) for key in ("x", "y", "zoom"))
