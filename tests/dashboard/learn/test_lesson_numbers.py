"""Every number in a lesson's text is on its screen, at the setting at hand or at one that it names.

Each lesson is walked through several settings of its knobs; every guess is made. A number of the
text has to be found among those that are shown (figures, charts, drawings, knobs), now or where the
knobs stand as the text says, to the digits that the text gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from streamlit.testing.v1 import AppTest

import bup
from bup.explanation import loss_surface
from dashboard.learn import cases, people
from dashboard.learn.glossary import TERMS
from dashboard.learn.kinds_data import GRAPH
from dashboard.learn.lesson import LESSONS
from dashboard.learn.loss import slopes

GLOSSARY = {term.meaning for term in TERMS.values()}
Knobs = dict[str, Any]
KINDS = (
    "slider",
    "select_slider",
    "selectbox",
    "multiselect",
    "toggle",
    "segmented_control",
    "pills",
)
NUMBER = re.compile(r"(?<![\w.])([-+−]?)(\d+(?:,\d{3})*(?:\.\d+)?)\s?(%?)")


@dataclass(frozen=True)
class Number:
    value: float
    digits: int  # after the point
    percent: bool

    def is_shown_as(self, other: Number) -> bool:
        """Another number, of as many digits or more, that reads like this one."""
        if self.percent != other.percent or self.digits > other.digits:
            return self.percent == other.percent and self.value == other.value
        return abs(self.value - other.value) <= 0.5 * 10**-self.digits + 1e-9


def numbers(text: str) -> set[Number]:
    plain = re.sub(r":material/\w+:|<[^>]*>|\]\([^)]*\)|[*“”]", " ", text)
    return {
        Number(float(digits.replace(",", "")), len(digits.partition(".")[2]), bool(percent))
        for _, digits, percent in NUMBER.findall(plain)
    }


def texts(app: AppTest) -> Iterator[str]:
    """What the lesson says in words."""
    for element in [*app.markdown, *app.caption, *app.info]:
        text = str(element.value)
        if text not in GLOSSARY and not text.startswith("Learn ·"):
            yield text


def drawn_texts(chart: Any) -> Iterator[str]:
    """The words in a chart: those on bars, points, axes and panels, and of its legend."""

    def inside(value: Any, key: str = "") -> Iterator[str]:
        if isinstance(value, dict):
            for name, one in value.items():
                if name not in ("template", "hovertemplate", "hovertext"):
                    yield from inside(one, name)
        elif isinstance(value, list):
            for one in value:
                yield from inside(one, key)
        elif isinstance(value, str) and key in ("text", "name", "ticktext", "y"):
            yield value

    yield from inside(json.loads(chart.proto.spec))


def shown(app: AppTest) -> set[Number]:
    """The numbers that can be read beside the words."""
    words = [text for m in app.metric for text in (m.label, m.value, m.delta)]
    for chart in app.get("plotly_chart"):
        words += drawn_texts(chart)
    for kind in KINDS:
        for knob in getattr(app, kind):
            words += [knob.label, str(knob.value)]
            if isinstance(knob.value, float):
                words.append(f"{100 * knob.value:.4g}%")
    words += [option for radio in app.radio for option in radio.options]
    return set().union(*(numbers(str(text)) for text in words if text))


def turn(app: AppTest, knobs: Knobs) -> None:
    """Put the knobs there one after the other, as a student would."""
    for key, value in knobs.items():
        if key == "plane_group":
            app.session_state[key] = value
            app.run()
            continue
        (knob,) = [each for kind in KINDS for each in getattr(app, kind) if each.key == key]
        if knob.value != value:
            knob.set_value(value)
            if not any("Draw and train" in button.label for button in app.button):
                app.run()
    for button in app.button:
        if "Draw and train" in button.label:
            button.click().run()
    assert not app.exception, app.exception
    assert not app.error, app.error


@dataclass(frozen=True)
class Walk:
    """A lesson, where its knobs are put, and where its text says that they be put."""

    settings: tuple[Knobs, ...]
    named: tuple[Knobs, ...] = ()
    fixed: str = ""  # numbers that are no result: settings that the text itself sets
    also: Callable[[AppTest], str] = lambda app: ""  # what is shown by drawings of our own


def _points_off(app: AppTest) -> str:
    """The mean distance of lesson 7's dots from the diagonal, and what stands below its figures."""
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    dots = [trace for trace in figure["data"] if trace.get("mode") == "markers"]
    x, y = (np.concatenate([_array(trace[axis]) for trace in dots]) for axis in "xy")
    below = [text for text in texts(app) if text.startswith("mean confidence")]
    assert below[0] == f"mean confidence {x.mean():.0%}"
    return f"{100 * np.abs(x - y).mean():.0f} {' '.join(below)}"


def _array(values: Any) -> np.ndarray:
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).astype(float)
    return np.array(values, dtype=float)


def _slopes(app: AppTest) -> str:
    """Lesson 4 writes slopes below its landscapes: here they are worked out again."""
    at = [float(app.slider(key).value) for key in ("margin", "std")]
    classes = int(app.slider("classes").value)
    return " ".join(slopes(loss_surface.point(*at, classes, rule)) for rule in loss_surface.LOSSES)


def _followed(app: AppTest) -> str:
    """What is calculated in lesson 8, left: the factor, its lines, and which step that is."""
    every = [json.loads(component.proto.json) for component in app.get("bidi_component")]
    data = next(one for one in every if "sides" in one)
    factor = next(one for one in data["sides"][0]["operations"] if one["name"] == "factor")
    step = 1 + next(i for i, stage in enumerate(data["stages"]) if "factor" in stage["operations"])
    names = [stage["title"] for stage in data["stages"]]
    own = next(one for one in data["sides"][0]["operations"] if one["name"] == "own")
    return (
        f"{factor['result']:.6f} {len(factor['lines'])} {step} {1 + names.index('Own variance')}"
        + (f" {own['result']}")
    )


def _correlations(app: AppTest) -> str:
    """Lesson 3 names a run on Cora: message uncertainty against the factor of links."""
    runs = (cases.load_case("cora", "bup", layers=layers) for layers in ("simple", "paper"))
    return " ".join(f"{cases.link_correlation(run):+.2f}" for run in runs)


def _disputed(app: AppTest) -> str:
    """Lesson 12 counts things by the bars and diamonds of its chart: they are counted again."""
    asked = people.things(cases.load_case(people.GRAPH, "bup", propagation="doubt"))
    split, doubt = (
        np.array([1 - max(shares) for shares in each])
        for each in ([t.people for t in asked], [t.model for t in asked])
    )
    others = sum(t.people[np.argmax(t.model)] < max(t.people) for t in asked)
    sure = int((doubt[split >= 0.4] < 0.2).sum())
    correlation = spearmanr(split, doubt).statistic
    return f"{(split >= 0.4).sum()} {sure} {correlation:+.2f} {others} {len(asked)}"


def _temperature(app: AppTest) -> Knobs:
    """Lesson 5 names the temperature that validation papers choose."""
    (said,) = [text for text in texts(app) if "T = " in text]
    found = re.search(r"T = (\d\.\d\d)", said)
    assert found
    return {"many": True, "sweep": 1.0, "temperature": float(found[1]), "learn_bins": 10}


MEANS = {"mean_0": 1.0, "mean_1": 0.3, "mean_2": -0.5}
ALL = {"many": True, "sweep": 1.0, "temperature": 1.0, "learn_bins": 10}
GCN = {"homophily": 0.5, "strength": 1.4, "truth_method": "gcn"}
START = {"plane_group": (0.85, 0.14)}
WALKS = {
    "confident": Walk(
        ({}, {"believe": 0.9}, {"hidden_class_cora": 0, "believe": 0.3}, {"hidden_class_cora": 3}),
        ({"believe": 0.5},),
        "50% 100% 6",  # Cora without a class
    ),
    "message": Walk(
        ({}, {"std_0": 2.5}, {"std_1": 0.05, "mean_1": 1.2}),
        tuple(MEANS | {f"std_{i}": width for i in range(3)} for width in (0.5, 3.0)),
        "60 90%",
    ),
    "travel": Walk(
        ({}, {"preset": "Star", "node_variance": 3.0}, {"lam": 2.0}),
        (
            {"preset": "Chain"},  # and back, to begin anew
            {"preset": "Hub of leaves", "lam": 1.0},
            {"node_looked": "B", "node_variance": 5.0},
            {"node_looked": "A"},
            {"preset": "Chain"},
            {"preset": "Hub of leaves", "node_links": ["B", "C"]},
        ),
        "1 5",
        _correlations,
    ),
    "loss": Walk(
        ({}, {"margin": -1.0}, {"classes": 7, "std": 2.0}, {"classes": 2}),
        ({"margin": 1.0, "std": 1.0}, {"margin": -1.0, "std": 1.0}),
        "0 1 4 100%",
        _slopes,
    ),
    "calibration": Walk(
        ({}, {"sweep": 1.0}, {"sweep": 1.0, "temperature": 0.5, "learn_bins": 4}),
        (ALL,),
        "2000 10",
    ),
    "unseen": Walk(
        ({}, {"doubt": "answer", "flag_confidence": 0.3}, {"doubt": "message"}, {"doubt": "doubt"}),
        ({"doubt": "answer"}, {"doubt": "message"}),
        "50% 2000",
    ),
    "truth": Walk(
        ({}, {"homophily": 0.7}, {"truth_method": "gcn", "strength": 2.0}),
        (GCN | {"truth_labels": 20}, GCN | {"truth_labels": 60}),
        "80",
        _points_off,
    ),
    "follow": Walk(({}, {"follow_layers": "paper"}), (), "", _followed),
    "kinds": Walk(
        ({}, {"kind_labels": 20}),
        ({"kind_labels": 100}, {"kind_labels": 2}),
        "1500 2023 2024 2025",
    ),
    "sees": Walk(
        ({}, {"strangers": 1}, {"plane_group": (0.85, 0.85), "strangers": 5},
         {"plane_group": (0.6, 0.42)}),
        ({"strangers": 1}, {"strangers": 40}, START | {"strangers": 1}, START | {"strangers": 40}),
        "10 60",
    ),
    "coverage": Walk(
        ({}, {"set_level": 0.75}, {"set_rule": "daps"}),
        tuple({"set_level": 0.9, "set_rule": rule} for rule in ("aps", "daps")),
        "90%",
    ),
    "people": Walk(({}, {"people_thing": "honey"}), (), "80%", _disputed),
}  # fmt: skip


def test_every_lesson_is_walked():
    assert set(WALKS) == {lesson.name for lesson in LESSONS}
    assert bup.load_graph(GRAPH).num_nodes == 1500


@pytest.mark.parametrize("name", WALKS)
def test_what_a_text_counts_is_on_the_screen(visit, name):
    walk, app = WALKS[name], visit(name)
    said = []
    for guess in (0, 2):  # at most one of them is right: the words of a wrong one are read, too
        _guess(app, guess)
        said += texts(app)
    for setting in walk.settings:
        turn(app, setting)
        _guess(app, 2)  # another hidden class is another question
        said += texts(app)
        found = numbers(walk.fixed) | shown(app) | numbers(walk.also(app))
        named = [*walk.named, *([_temperature(app)] if name == "calibration" else [])]
        for other in named:
            turn(app, other)
            found |= shown(app) | numbers(walk.also(app))
        for text in said:
            for number in numbers(text):
                assert any(number.is_shown_as(one) for one in found), (setting, number, text)
        said = []


def _guess(app: AppTest, option: int) -> None:
    for radio in list(app.radio):
        if radio.value != option:
            radio.set_value(option).run()
