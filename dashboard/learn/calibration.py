"""Lesson 5: a reliability diagram, filled from dots; bins and temperature to move."""

import numpy as np
import streamlit as st
from scipy.special import softmax

from bup import metrics
from dashboard.cache.run_cache import LoadedRun
from dashboard.figures.learn.dots import dots_figure
from dashboard.learn import cases, lesson
from dashboard.learn.glossary import meaning
from dashboard.ui.metric_row import metric_row

FEW = 60


@lesson.lesson_page("calibration")
def page(here: lesson.Lesson) -> None:
    case = cases.load_case(cases.graph_name(), "gcn")
    outputs, targets = test_outputs(case)
    left, right = lesson.two_columns()
    with left:
        st.markdown(here.text("Introduction"))
        one, two = st.columns(2)
        sweep = one.slider(
            "Fill up to a confidence of", 0.0, 1.0, 0.4, 0.01, key="sweep", format="percent"
        )
        bins = two.slider("Number of bins", 2, 20, 10, key="learn_bins")
        temperature = one.slider(
            "Temperature", 0.2, 3.0, 1.0, 0.01, key="temperature", help=meaning("temperature")
        )
        many = two.toggle(f"All {len(targets):,}, not only {FEW}", key="many")
        answered = _question(here, outputs, targets)
    if not many:
        few = np.random.RandomState(0).permutation(len(targets))[:FEW]
        outputs, targets = outputs[few], targets[few]
    probs = softmax(outputs / temperature, axis=1)
    diagram = metrics.reliability_bins(probs, targets, bins)
    with right:
        confidence, hits = metrics.confidence(probs), metrics.hits(probs, targets)
        _numbers(confidence, hits, diagram if sweep >= 1 else None, answered)
        lesson.chart(
            dots_figure(diagram, confidence, hits, sweep, lesson.theme()),
            "dots",
            here.text("Chart" if sweep >= 1 else "Chart until it is filled"),
        )
    with left:
        if answered:
            _in_practice(here, case)
        lesson.end(
            here,
            answered,
            ("This very model, bin by bin", "reliability", cases.query(case)),
            ("Compare with BUP", "reliability", cases.query(case, rival="BUP")),
        )


def test_outputs(case: LoadedRun) -> tuple[np.ndarray, np.ndarray]:
    """The GCN's numbers [n, c] before softmax, and the true columns, for the test papers."""
    nodes = case.result.split.test
    assert case.result.mean is not None
    return case.result.mean[nodes].astype(float), case.graph.labels[nodes]


def _numbers(
    confidence: np.ndarray, hits: np.ndarray, filled: metrics.ReliabilityBins | None, answered: bool
) -> None:
    numbers = {
        "Right": f"{hits.mean():.0%}",
        "Mean confidence": f"{confidence.mean():.0%}" if answered else "?",
        "ECE": f"{filled.expected_error:.1%}" if filled else "?",
        "ACE": f"{filled.average_error:.1%}" if filled else "?",
    }
    metric_row(numbers, {word: meaning(word) for word in ("ECE", "ACE")})


def _question(here: lesson.Lesson, outputs: np.ndarray, targets: np.ndarray) -> bool:
    probs = softmax(outputs, axis=1)
    accuracy, mean = metrics.accuracy(probs, targets), metrics.confidence(probs).mean()
    right = lesson.nearest((0.95, accuracy, 0.55), mean)
    return lesson.predict(
        here,
        "expect_confidence",
        right,
        lambda: {"mean": mean},
        accuracy=accuracy,
        count=len(targets),
    )


def _in_practice(here: lesson.Lesson, case: LoadedRun) -> None:
    """What a temperature fitted on validation papers does, computed by the method itself."""
    with st.expander("In practice: which temperature?"):
        fitted = cases.load_case(case.spec.graph, "gcn", calibrate="temperature")
        outputs, targets = test_outputs(case)
        temperature = round(fitted.result.constants["temperature"], 2)  # as the slider has it
        before, after = (
            metrics.expected_calibration_error(softmax(outputs / t, axis=1), targets)
            for t in (1.0, temperature)
        )
        st.markdown(
            here.text(
                "In practice",
                temperature=temperature,
                count=len(targets),
                before=before,
                after=after,
            )
        )
