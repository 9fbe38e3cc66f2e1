"""Lesson 5: a reliability diagram, filled from dots; bins and temperature to move."""

from __future__ import annotations

import numpy as np
import streamlit as st
from scipy.special import softmax

from bup import metrics
from dashboard.figures.learn.dots import dots_figure
from dashboard.learn import cases, lesson
from dashboard.learn.cases import Case
from dashboard.learn.glossary import meaning

FEW = 60


def page() -> None:
    here = lesson.begin(5)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    case = cases.case(cases.graph_name(), "gcn")
    outputs, targets = test_outputs(case)
    left, right = lesson.halves()
    with left:
        st.markdown(
            "Every dot is one answer: above if it was right, below if it was wrong, the further "
            "right, the surer. Fill the diagram by dragging: each bar shows how many answers of "
            "its bin are right."
        )
        one, two = st.columns(2)
        sweep = one.slider(
            "Fill up to a confidence of", 0.0, 1.0, 0.4, 0.01, key="sweep", format="percent"
        )
        bins = two.slider("Number of bins", 2, 20, 10, key="learn_bins")
        temperature = one.slider(
            "Temperature", 0.2, 3.0, 1.0, 0.01, key="temperature", help=meaning("temperature")
        )
        many = two.toggle(f"All {len(targets):,}, not only {FEW}", key="many")
        answered = _question(outputs, targets)
    if not many:
        few = np.random.RandomState(0).permutation(len(targets))[:FEW]
        outputs, targets = outputs[few], targets[few]
    probs = softmax(outputs / temperature, axis=1)
    found = metrics.reliability_bins(probs, targets, bins)
    with right:
        _numbers(probs, targets, found, sweep, answered)
        sure, hits = metrics.confidence(probs), metrics.hits(probs, targets)
        lesson.chart(
            dots_figure(found, sure, hits, sweep, lesson.theme()),
            "dots",
            "On the dotted diagonal, confidence is what it claims to be; the striped part is the "
            "gap between a bar and its diamond."
            + ("" if sweep >= 1 else " Fill the diagram to the end to read ECE and ACE."),
        )
    with left:
        if answered:
            _after(case)
        lesson.end(
            here,
            answered,
            [
                ("This very model, bin by bin", "reliability", cases.query(case)),
                ("Compare with BUP", "reliability", cases.query(case, rival="BUP")),
            ],
        )


def test_outputs(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The GCN's numbers [n, c] before softmax, and the true columns, for the test papers."""
    nodes = case.result.split.test
    assert case.result.mean is not None
    return case.result.mean[nodes].astype(float), case.graph.labels[nodes]


def _numbers(
    probs: np.ndarray,
    targets: np.ndarray,
    found: metrics.ReliabilityBins,
    sweep: float,
    answered: bool,
) -> None:
    done = sweep >= 1
    one, two, three, four = st.columns(4)
    one.metric("Right", f"{metrics.accuracy(probs, targets):.0%}")
    mean = f"{metrics.confidence(probs).mean():.0%}" if answered else "?"
    two.metric("Mean confidence", mean)
    three.metric("ECE", f"{found.expected_error:.1%}" if done else "?", help=meaning("ECE"))
    four.metric("ACE", f"{found.average_error:.1%}" if done else "?", help=meaning("ACE"))


def _question(outputs: np.ndarray, targets: np.ndarray) -> bool:
    probs = softmax(outputs, axis=1)
    accuracy, mean = metrics.accuracy(probs, targets), metrics.confidence(probs).mean()
    options = ["more than 90%", f"about {accuracy:.0%}, as it should be", "less than 70%"]
    nearest = int(np.abs(np.array([0.95, accuracy, 0.55]) - mean).argmin())
    return lesson.predict(
        "expect_confidence",
        f"Deep networks are often called over-confident. This GCN is right on {accuracy:.0%} of "
        f"all {len(targets):,} test papers. What is its mean confidence on them?",
        options,
        nearest,
        lambda: (
            f"On all {len(targets):,} its mean confidence is {mean:.0%}: here the GCN is "
            "*under*-confident. Now find the temperature that brings the bars to the diagonal."
        ),
        [
            "Deep image networks often are, hence the reputation. Fill the diagram: the bars end "
            "above their diamonds, the mark of a model that is right more often than it says.",
            "A calibrated model would, but nothing in training asks for it. Fill the diagram: the "
            "bars of such a model would end at the dotted diagonal.",
            "The model does spread its probability over many classes, but fill the diagram and "
            "compare the bars with their diamonds.",
        ],
    )


def _after(case: Case) -> None:
    """What a temperature fitted on validation papers does, computed by the method itself."""
    with st.expander("In practice: which temperature?"):
        fitted = cases.case(case.spec.graph, "gcn", calibrate="temperature")
        outputs, targets = test_outputs(case)
        temperature = round(fitted.result.constants["temperature"], 2)  # as the slider has it
        before, after = (
            metrics.expected_calibration_error(softmax(outputs / t, axis=1), targets)
            for t in (1.0, temperature)
        )
        st.markdown(
            "It is chosen on validation papers, never on the test papers that judge it. For this "
            f"model that gives T = {temperature:.2f}: on all {len(targets):,} test papers, in 10 "
            f"bins, the ECE falls from {before:.1%} to {after:.1%}. Not one answer changes: "
            "dividing all numbers of a paper by T keeps their order."
        )
