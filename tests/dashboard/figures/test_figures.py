import numpy as np
import pytest

from bup import metrics
from bup.propagation import Shares
from dashboard.figures import compare, node, reliability, structure, training
from dashboard.figures.reproduce import ComparisonRow, MeanInterval, comparison_figure
from dashboard.ui.theme import Theme
from tests.support.figures import LIGHT, NASTY, texts, two_bins


def test_training_curves_count_epochs_from_one_up_to_all_asked_for(run):
    h = run.history
    figure = training.curves_figure(
        h["loss"], h["validation_nll"], h["validation_accuracy"], run.kept_epoch, LIGHT, 100
    )
    for trace, key in zip(figure.data, h, strict=True):
        assert list(trace.y) == h[key]
        assert trace.x.tolist() == list(range(1, len(h[key]) + 1))
    assert figure.layout.xaxis.range[1] == 101
    assert figure.layout.annotations[-1].x == run.kept_epoch
    assert f"epoch {run.kept_epoch}" in figure.layout.annotations[-1].text


@pytest.mark.parametrize("epochs", [0, 1])
def test_training_curves_are_there_before_the_first_epochs(epochs):
    figure = training.curves_figure([1.0] * epochs, [1.0] * epochs, [0.5] * epochs, None, LIGHT, 60)
    assert [len(t.x) for t in figure.data] == [epochs] * 3
    assert epochs == 0 or all(t.mode == "markers" for t in figure.data)


TWO = np.array([0.5, 0.6])
FLAGS = np.array([True, False])
LABELLED_BY_DATA = {
    "reliability": lambda: reliability.reliability_figure(
        two_bins(), LIGHT, NASTY, (two_bins(), NASTY)
    ),
    "risk": lambda: reliability.risk_coverage_figure(
        metrics.risk_coverage(TWO, FLAGS),
        1.0,
        LIGHT,
        NASTY,
        (metrics.risk_coverage(TWO, FLAGS), NASTY),
    ),
    "against": lambda: structure.against_figure(
        TWO, TWO, np.arange(2), [NASTY, NASTY], LIGHT, NASTY, NASTY
    ),
    "overlay": lambda: compare.overlay_reliability([(NASTY, two_bins())], LIGHT),
    "shares": lambda: node.shares_figure(
        (Shares(np.array([3]), -TWO[None] / 2, 0 * TWO, TWO, TWO / 2),), [NASTY], LIGHT
    ),
}


@pytest.mark.parametrize("name", LABELLED_BY_DATA)
def test_text_from_the_data_is_never_markup(name):
    found = texts(LABELLED_BY_DATA[name]())
    assert any("&lt;img src" in text for text in found)
    assert not any("<img" in text for text in found)


def test_figures_stand_beside_the_published_ones():
    nan = float("nan")
    dots = [
        ComparisonRow(0, "5 per class", "bup", 7.8, MeanInterval(4.5, 2.2, 6.8), MeanInterval(4.4)),
        ComparisonRow(1, "5 per class", "gcn+temperature", nan, MeanInterval(4.8), MeanInterval()),
        ComparisonRow(2, "20 per class", "nothing", nan, MeanInterval(), MeanInterval()),
        ComparisonRow(3, "20 per class", "<b>vgcn", 9.6, MeanInterval(), MeanInterval()),
    ]
    figure = comparison_figure(dots, "ECE (lower is better)", Theme())
    published, measured, here, later, nothing_measured, _ = figure.data
    assert (list(measured.x), list(measured.y)) == ([4.5, 4.8], ["bup", "gcn+temperature"])
    assert list(measured.customdata) == [0, 1]
    assert list(measured.error_x.array) == [pytest.approx(2.3), 0]
    assert "95% interval 2.2 to 6.8" in measured.hovertext[0] and here.x == (4.4,)
    assert (list(published.x), list(published.customdata)) == ([7.8], [0])
    assert (list(later.x), list(later.customdata)) == ([9.6], [3])
    assert list(later.y) == ["&lt;b&gt;vgcn"] and not nothing_measured.x
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["<b>5 per class</b>", "<b>20 per class</b>"]
    assert figure.layout.xaxis.showticklabels, "the last panel's axis is far below"
    assert figure.layout.yaxis2.range[0] < 1, "a row of which nothing is known takes no room"
    assert len(comparison_figure(dots[:1], "ECE", Theme()).data) == 3
    assert [t.showlegend for t in figure.data[:4]] == [True, True, True, False]
    late = comparison_figure(dots[1:], "ECE", Theme()).data
    assert late[3].showlegend, "what only a later group has is explained too"
