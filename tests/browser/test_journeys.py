"""The app as a visitor uses it: a real server, real Cora, a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Locator, Page, TimeoutError, expect

from bup.experiments import QUESTIONS

from .accessibility import barriers
from .test_network_component import PIXEL

SECOND = 1000
LONG = 90 * SECOND
"""The machine may be busy; nothing here measures speed."""
CAMERA = "document.querySelector('.st-key-map .bup-map').map.camera()"


@pytest.fixture(scope="module")
def app(serve, stocked_cache) -> str:
    return serve(cache=stocked_cache)


def visit(page: Page, url: str, title: str) -> None:
    page.goto(url)
    expect(page.get_by_role("heading", name=title)).to_be_visible(timeout=LONG)


def wait_for_map(page: Page) -> None:
    page.wait_for_selector(".st-key-map .bup-map[data-layer]", timeout=LONG)
    page.wait_for_timeout(SECOND)


def wait_for_charts(page: Page, key: str) -> None:
    page.wait_for_selector(f".st-key-{key} .js-plotly-plot .main-svg", timeout=LONG)
    page.wait_for_timeout(SECOND)


def settled(page: Page) -> None:
    """Until no script run is under way."""
    page.wait_for_timeout(300)
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0, timeout=LONG)


def node_on_map(page: Page, node: int) -> tuple[float, float]:
    """Where a node of Explore's map is on the screen."""
    where = "node => document.querySelector('.st-key-map .bup-map').map.node(node)"
    return tuple(page.evaluate(where, node))


def point_of_chart(page: Page, node: int, key: str) -> tuple[float, float]:
    """Where a node of a plotly chart is on the screen."""
    return tuple(
        page.evaluate(
            """([key, node]) => {
              const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
              for (const trace of plot._fullData) {
                if (!trace.type.startsWith("scatter")) continue;
                const [x, y] = [trace.xaxis, trace.yaxis].map(
                  (id) => plot._fullLayout[`${id[0]}axis${id.slice(1)}`]);
                const data = Array.from(trace.customdata ?? [], Number);
                const i = data.indexOf(node);
                if (i >= 0) {
                  const box = plot.getBoundingClientRect();
                  return [box.left + x._offset + x.d2p(trace.x[i]),
                          box.top + y._offset + y.d2p(trace.y[i])];
                }
              }
            }""",
            [key, node],
        )
    )


def open_tab(page: Page, name: str) -> None:
    """Of what there is to see of the picked node."""
    page.locator(".st-key-tab").get_by_text(name, exact=True).click()


def paper_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Picked paper (id)")


def picked(page: Page) -> str:
    return paper_box(page).input_value()


def click_point(page: Page, node: int, key: str) -> None:
    x, y = point_of_chart(page, node, key)
    page.mouse.move(x - 3, y - 3)
    page.mouse.move(x, y, steps=3)
    page.wait_for_timeout(500)
    page.mouse.click(x, y)


def test_first_visit_then_click_walk_and_back(app, page, cora, console_errors):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    assert not picked(page) and page.get_by_text("A confident mistake").is_visible()

    lonely = _far_from_others(cora)
    page.get_by_role("heading", name="Where is").scroll_into_view_if_needed()
    page.mouse.click(*node_on_map(page, lonely))
    expect(paper_box(page)).to_have_value(cora.node_id(lonely), timeout=LONG)
    assert f"node={cora.node_id(lonely)}" in page.url
    settled(page)

    neighbour = int(cora.neighbours(lonely)[0])
    open_tab(page, "Links")
    ego = page.locator(".ego")
    expect(ego).to_have_attribute("data-centre", str(lonely), timeout=LONG)
    page.wait_for_timeout(SECOND)
    page.mouse.click(*ego.evaluate(PIXEL, neighbour))
    expect(paper_box(page)).to_have_value(cora.node_id(neighbour), timeout=LONG)
    settled(page)
    page.locator(".st-key-explore_tab").get_by_role("button", name=re.compile("Back")).click()
    expect(paper_box(page)).to_have_value(cora.node_id(lonely), timeout=LONG)
    assert not [e for e in console_errors if "404" not in e]


def test_a_point_of_a_table_opens_its_reruns(app, page):
    page.set_viewport_size({"width": 1440, "height": 1700})
    visit(page, f"{app}/reproduce", "Do the published results hold here?")
    wait_for_charts(page, "reproduce_picture")
    methods = QUESTIONS["q1"].variants
    click_point(page, 3 * len(methods), "reproduce_picture")  # the first one with 20 per class
    reruns = page.get_by_role("heading", name="bup (published), 20 per class: rerun by rerun")
    expect(reruns).to_be_visible(timeout=LONG)
    expect(page.get_by_role("button", name="Download plot")).to_have_count(1)
    expect(page.get_by_role("button", name="Share chart...")).to_have_count(0)  # on no cloud


def _far_from_others(graph) -> int:
    """A node of a small component: on the map it has room around it."""
    import numpy as np

    from dashboard import layouts

    places = layouts.positions(graph)
    candidates = [i for i in np.flatnonzero(graph.components == 0) if graph.degree[i] in (1, 2)]
    spread = [np.sort(np.abs(places - places[i]).max(axis=1))[1] for i in candidates]
    return int(candidates[int(np.argmax(spread))])


def test_a_link_reopens_exactly_this_view(app, page):
    link = f"{app}/?node=35&colour=Degree&left_out=Rule+Learning"
    visit(page, link, "Where is the model unsure, and why?")
    expect(paper_box(page)).to_have_value("35", timeout=LONG)
    expect(page.get_by_text("Rule Learning", exact=True).first).to_be_visible()
    expect(page.get_by_text("How many links a node has")).to_be_visible(timeout=LONG)


def test_switching_the_colour_keeps_the_camera(app, page):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    page.mouse.move(*node_on_map(page, 0))
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(SECOND)
    zoomed = page.evaluate(CAMERA)
    page.get_by_label("Colour by").click()
    page.get_by_role("option", name="True class").click()
    expect(page.get_by_text("The class that the data give.")).to_be_visible(timeout=LONG)
    settled(page)
    assert page.evaluate(CAMERA) == zoomed


def test_the_camera_outlives_the_map_until_a_double_click(app, page):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    whole = page.evaluate(CAMERA)
    page.mouse.move(*node_on_map(page, 0))
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(SECOND)
    zoomed = page.evaluate(CAMERA)
    assert zoomed != whole
    page.get_by_role("link", name="Reliability").click()
    expect(page.get_by_role("heading", name="When the model says 80%")).to_be_visible(timeout=LONG)
    page.get_by_role("link", name="Explore").click()
    wait_for_map(page)
    assert page.evaluate(CAMERA) == zoomed
    stage = page.locator(".st-key-map .stage").bounding_box()
    page.mouse.dblclick(stage["x"] + 3, stage["y"] + 3)
    page.wait_for_timeout(SECOND)
    assert page.evaluate(CAMERA) == whole


def test_hovering_lights_neighbours_and_a_click_keeps_them_lit(app, page, cora):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    lonely = _far_from_others(cora)
    lit = "document.querySelector('.st-key-map .bup-map').map.lit()"
    page.mouse.move(*node_on_map(page, lonely))
    found = page.evaluate(lit)
    assert found["node"] == lonely
    assert sorted(found["near"]) == sorted(cora.neighbours(lonely).tolist())
    page.mouse.click(*node_on_map(page, lonely))
    expect(page.locator(".bup-map")).to_have_attribute("data-picked", str(lonely), timeout=LONG)
    settled(page)
    page.mouse.move(3, 3)
    assert page.evaluate(lit)["node"] == lonely


def test_a_range_dragged_on_the_histogram_hides_the_others_and_stays(app, page):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    bar = page.locator(".bup-map .histogram").bounding_box()
    y = bar["y"] + bar["height"] / 2
    page.mouse.move(bar["x"] + 0.7 * bar["width"], y)
    page.mouse.down()
    page.mouse.move(bar["x"] + 1.1 * bar["width"], y, steps=4)
    page.mouse.up()
    shown = int(page.locator(".bup-map").get_attribute("data-shown"))
    assert 0 < shown < 1400
    settled(page)
    page.get_by_role("link", name="Reliability").click()
    expect(page.get_by_role("heading", name="When the model says 80%")).to_be_visible(timeout=LONG)
    page.get_by_test_id("stTopNav").get_by_role("link", name="Explore").click()
    wait_for_map(page)
    expect(page.locator(".bup-map")).to_have_attribute("data-shown", str(shown))


@pytest.mark.parametrize(
    ("width", "height", "query"),
    [(1280, 720, ""), (1440, 900, ""), (1920, 1080, ""), (1280, 720, "&large=true")],
)
def test_the_map_owns_the_window(app, page, width, height, query):
    page.set_viewport_size({"width": width, "height": height})
    visit(page, f"{app}/?node=35{query}", "Where is the model unsure, and why?")
    wait_for_map(page)
    box = page.locator(".bup-map").bounding_box()
    assert box["width"] >= width / 2 and box["height"] >= 0.7 * height
    assert height - 24 <= box["y"] + box["height"] <= height
    beside = page.get_by_text("The model says").first.bounding_box()
    assert beside["x"] >= box["x"] + box["width"]
    assert 0 < beside["y"] < height / 2 and beside["x"] + beside["width"] <= width


def test_on_a_phone_the_inspector_is_below_the_map(app, page):
    page.set_viewport_size({"width": 390, "height": 844})
    visit(page, f"{app}/?node=35", "Where is the model unsure, and why?")
    wait_for_map(page)
    box = page.locator(".bup-map").bounding_box()
    assert box["width"] > 340 and box["height"] > 400
    beside = page.get_by_text("The model says").first.bounding_box()
    assert beside["y"] >= box["y"] + box["height"]


def test_a_story_is_one_click_and_its_link_says_all_of_it(app, page):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    assert barriers(page) == []
    page.get_by_text("A hub and a leaf").click()
    unpin = page.get_by_role("button", name="Unpin")
    expect(unpin).to_be_visible(timeout=LONG)
    settled(page)
    box = page.locator(".bup-map .stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 3)
    page.mouse.wheel(0, -300)
    bar = page.locator(".bup-map .histogram").bounding_box()
    page.mouse.move(bar["x"] + 0.4 * bar["width"], bar["y"] + 9)
    page.mouse.down()
    page.mouse.move(bar["x"] + 0.8 * bar["width"], bar["y"] + 9, steps=4)
    page.mouse.up()
    settled(page)
    page.wait_for_timeout(SECOND)
    page.get_by_role("button", name="Copy a link").click()
    seen, camera = page.locator(".bup-map").get_attribute("data-shown"), page.evaluate(CAMERA)
    link, here = page.url, picked(page)
    assert int(seen) < 2708 and camera["zoom"] > 1.5

    page.goto("about:blank")
    page.goto(link)
    expect(unpin).to_be_visible(timeout=LONG)
    wait_for_map(page)
    assert picked(page) == here
    expect(page.locator(".bup-map")).to_have_attribute("data-shown", seen)
    again = page.evaluate(CAMERA)
    assert all(again[key] == pytest.approx(camera[key], abs=2e-3) for key in ("x", "y", "zoom"))
    assert barriers(page) == []


def test_what_is_chosen_trains_in_place_and_is_held_against_the_run_before(app, page):
    visit(page, f"{app}/?node=35", "Where is the model unsure, and why?")
    wait_for_map(page)
    page.locator(".st-key-seed input").fill("9")
    page.keyboard.press("Enter")
    before_and_after = page.get_by_role("button", name="Before and after")
    expect(page.locator(".bup-map")).to_be_visible()  # the run before, while this one trains
    expect(before_and_after).to_be_visible(timeout=LONG)
    expect(page.get_by_text("Random seed: 0 → 9")).to_be_visible()
    before_and_after.click()
    expect(page.locator(".bup-map")).to_have_count(2, timeout=LONG)


def test_train_and_cancel(app, page):
    slow = "bup.epochs=10000&bup.patience=10000&bup.hidden=512"
    page.goto(f"{app}/?seed=77&{slow}")
    page.get_by_role("button", name="Train").click(timeout=LONG)
    expect(page.get_by_text(re.compile("epoch [0-9]+ of at most"))).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Train")).to_be_visible(timeout=LONG)

    page.goto(f"{app}/?seed=77&bup.epochs=5")
    page.get_by_role("button", name="Train").click(timeout=LONG)
    expect(page.get_by_role("heading", name="Where is the model unsure")).to_be_visible(
        timeout=LONG
    )


def test_a_bin_shows_its_papers(app, page):
    visit(page, f"{app}/reliability", "When the model says 80%")
    wait_for_charts(page, "reliability")
    bars = page.locator(".st-key-reliability .js-plotly-plot")
    bars.scroll_into_view_if_needed()
    click_point(page, 9, "reliability")
    expect(page.get_by_text("papers with a confidence of 90% to 100%")).to_be_visible(timeout=LONG)


def test_leave_a_class_out(app, page):
    visit(page, f"{app}/ood", "Does the model notice what it does not know")
    page.get_by_role("radio", name="Rule Learning").or_(
        page.get_by_role("button", name="Rule Learning")
    ).first.click()
    expect(page.get_by_role("heading", name="What are they taken for?")).to_be_visible(timeout=LONG)
    assert "left_out=" in page.url


def test_what_if_changes_the_answer_without_training(app, page, cora):
    hub = int(cora.degree.argmax())
    leaf = next(int(n) for n in cora.neighbours(hub) if cora.degree[n] == 1)
    visit(page, f"{app}/?node={cora.node_id(leaf)}", "Where is the model unsure, and why?")
    settled(page)
    open_tab(page, "What if?")
    _choose(page, "Remove links to", cora.node_id(hub))
    expect(page.get_by_text("The model is not trained again").first).to_be_visible(timeout=LONG)
    expect(page.get_by_text("The model would").first).to_be_visible(timeout=LONG)


def test_a_confident_mistake_is_explained_and_undone_in_two_clicks(app, page):
    visit(page, app, "Where is the model unsure, and why?")
    wait_for_map(page)
    page.get_by_text("A confident mistake").click()
    panel = page.locator(".st-key-explore_node")
    expect(panel.get_by_text("It says Genetic Algorithms rather than Neural")).to_be_visible(
        timeout=LONG
    )
    without = panel.get_by_text(re.compile("Without that link it would say"))
    expect(without).to_be_visible(timeout=LONG)
    promised = re.search("would say ([A-Z][A-Za-z ]+), ([0-9]+)% sure", without.inner_text())
    legend = page.locator(".bup-map .speaks")
    expect(legend).to_have_text("+ speaks for Genetic Algorithms − speaks for Neural Networks")
    wait_for_charts(page, "reasons")
    assert [found for found in barriers(page) if "katex" not in found] == []
    page.get_by_role("button", name="Remove the link to 119712").click()
    said = panel.get_by_text(re.compile("The model would say"))
    expect(said).to_be_visible(timeout=LONG)
    outcome = re.search("say ([A-Z][A-Za-z ]+) instead of .*, ([0-9.]+)% sure", said.inner_text())
    assert outcome[1] == promised[1] and round(float(outcome[2])) == int(promised[2])
    expect(legend).to_be_hidden()
    assert "unlink=" in page.url and picked(page) == "1114118"


def test_a_click_on_the_map_removes_a_link_and_adds_one(app, page, cora):
    node, other = cora.find("1114118"), cora.find("35")
    near = int(cora.neighbours(node)[0])
    visit(page, f"{app}/?node=1114118&tab=What+if%3F", "Where is the model unsure, and why?")
    wait_for_map(page)
    page.get_by_text("Change links by a click on the map").click()
    settled(page)
    for clicked in (near, other):
        page.mouse.click(*node_on_map(page, clicked))
        settled(page)
        page.wait_for_timeout(SECOND)
    removed = page.locator(".st-key-unlink")
    expect(removed).to_contain_text(cora.node_id(near), timeout=LONG)
    expect(page.locator(".st-key-link_to input")).to_have_value("35", timeout=LONG)
    page.mouse.click(*node_on_map(page, other))
    expect(page.locator(".st-key-link_to input")).to_have_value("", timeout=LONG)
    assert picked(page) == "1114118"


def _choose(page: Page, box: str, option: str) -> None:
    """Open a menu and take an option; a rerun that ends meanwhile may close the menu again."""
    entry = page.get_by_role("option", name=option)
    for _ in range(6):
        settled(page)
        page.get_by_label(box).first.click(timeout=LONG)
        try:
            entry.click(timeout=8 * SECOND)
            return
        except TimeoutError:
            page.keyboard.press("Escape")
    raise AssertionError(f"{box} never offered {option}")


def test_exports(app, page):
    visit(page, f"{app}/?node=35", "Where is the model unsure, and why?")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Command and downloads").click()
    expect(page.get_by_text("bup fit --graph cora --method bup")).to_be_visible(timeout=LONG)
    with page.expect_download(timeout=LONG) as csv:
        page.get_by_role("button", name="All papers as CSV").click()
    text = Path(csv.value.path()).read_text(encoding="utf-8")
    assert text.startswith("id,true,predicted") and text.count("\n") == 2709
    with page.expect_download(timeout=LONG) as html:
        page.get_by_role("button", name="This neighbourhood as a web page").click()
    assert "vis.Network" in Path(html.value.path()).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("?graph=atlantis", "there is no graph"),
        ("?per_class=100&left_out=Theory", "asked"),
        ("?node=nobody", "has no node"),
        ("?graph=synthetic:nodes=1", "nodes"),
    ],
)
def test_links_that_make_no_sense_are_explained(app, page, path, words):
    page.goto(f"{app}/{path}")
    expect(page.get_by_text(words).first).to_be_visible(timeout=LONG)
    assert page.get_by_text("Traceback").count() == 0


def test_from_cora_to_things_that_one_knows_and_a_thing_by_a_word(app, page):
    visit(page, app, "Where is the model unsure, and why?")
    page.get_by_role("button", name="Try it on things you know").click()
    expect(page.get_by_text("Every dot is a thing")).to_be_visible(timeout=LONG)
    wait_for_map(page)
    page.get_by_role("button", name="Find").click()
    page.get_by_label("Find a thing by its name").fill("arms")
    page.keyboard.press("Enter")
    expect(page.get_by_text("things found")).to_be_visible(timeout=LONG)
    row = page.locator("[data-testid=stDataFrame] td", has_text=re.compile("^octopus$"))
    expect(row.first).to_be_attached(timeout=LONG)
    page.get_by_label("Find a thing by its name").fill("octopus")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 things found")).to_be_visible(timeout=LONG)
    box = page.get_by_test_id("stDataFrameResizable").bounding_box()
    page.mouse.click(box["x"] + 70, box["y"] + 52)  # the first row: the thing of this name
    expect(page.get_by_role("heading", name="octopus", exact=True)).to_be_visible(timeout=LONG)
    expect(page.get_by_text("clever soft sea creature")).to_be_visible()
    expect(page.get_by_text("Most informative words:")).to_contain_text("suckers")
    assert "node=octopus" in page.url and "graph=Almanac" in page.url
