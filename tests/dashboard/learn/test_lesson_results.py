"""What the lessons about kinds of doubt, strangers and coverage compute."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import bup
from bup.experiments import QUESTIONS
from bup.metrics.conformal import conformal_sets
from bup.propagation.doubt import FLOOR
from dashboard.components import plane as component
from dashboard.components.shared import component as declaration
from dashboard.learn.course import LESSONS
from dashboard.learn.coverage import by_neighbours, same_class_share
from dashboard.learn.kinds import AGREED, rows
from dashboard.learn.kinds_data import HIDDEN, LABELS, papers
from dashboard.learn.plane import CENTRES, KNOWN, OUTLINE, Plane
from dashboard.learn.sees import COUNTS, text_of_place
from dashboard.learn.unseen import LINES, strangers_of
from tests.support.exports import loaded_run
from tests.tools import kinds


def test_doubt_on_the_plane_is_the_ratio_written_out():
    """-log(floor + (1 - floor) L / (1 + L)), L the classes' mean density against all papers'."""
    plane, place = Plane(), np.array([[0.7, 0.3]])
    z, labels = plane.points, plane.groups[plane.labelled]
    known = z[plane.labelled]
    means = [known[labels == c].mean(axis=0) for c in range(len(CENTRES))]
    rest = known - np.array(means)[labels]
    total = np.cov(z.T, bias=True)
    within = rest.T @ rest / (len(known) - len(CENTRES))
    inner = (within + total) / 2
    classes = np.mean([multivariate_normal(m, inner).pdf(place[0]) for m in means])
    ratio = classes / multivariate_normal(z.mean(axis=0), total).pdf(place[0])
    wanted = -np.log(FLOOR + (1 - FLOOR) * ratio / (1 + ratio))
    assert plane.doubt(place)[0] == pytest.approx(wanted)
    assert plane.ground().shape == (32, 48)


def test_a_ring_holds_what_lies_within_so_many_deviations():
    plane = Plane()
    for (middle, spread), ring in zip(
        [
            (plane.scatter.means[1], plane.scatter.inner),
            (plane.scatter.centre, plane.scatter.total),
        ],
        [plane.rings()[1], plane.rings()[-1]],
        strict=True,
    ):
        off = ring - middle
        far = np.sqrt(np.einsum("ki,ij,kj->k", off, np.linalg.inv(spread), off))
        assert far == pytest.approx(np.full(len(ring), OUTLINE))


def test_a_group_stands_out_and_one_does_not():
    surer = [Plane(n).surer for n in COUNTS]
    assert surer == sorted(surer) and surer[0] < 0.1 and Plane().surer > 0.95
    doubts = [Plane(n).of_strangers for n in COUNTS]
    assert doubts == sorted(doubts)


def test_known_papers_stay_where_they_are():
    still = [Plane(n, x, y).points[:KNOWN] for n in (1, 40) for x, y in ((0.85, 0.14), (0.1, 0.9))]
    assert all((points == still[0]).all() for points in still)
    assert Plane(1, 0.3, 0.6).points[-1].tolist() == [0.3, 0.6]


@pytest.mark.parametrize("x, y", [(0.85, 0.14), (0.85, 0.85), (0.6, 0.42), (0.1, 0.9), (0.3, 0.7)])
def test_what_is_said_of_a_place_is_so_there(x, y):
    alone, many = Plane(1, x, y), Plane(40, x, y)
    for count in COUNTS:
        said = text_of_place(LESSONS[9], Plane(count, x, y))
        assert f"1 stranger has {alone.of_strangers:.2f} nats" in said
        assert f"40 strangers have {many.of_strangers:.2f} nats" in said
        assert ("even one stands out" in said) == (alone.surer >= 0.9)
        assert ("only a group" in said) == (alone.surer < 0.9 <= many.surer)
        assert ("not even a group" in said) == (alone.surer < 0.9 and many.surer < 0.9)


def test_only_places_are_taken_from_the_browser(monkeypatch):
    for value, wanted in (
        ({"x": 0.2, "y": 3}, (0.2, 1.0)),
        ({"x": "0.2", "y": 0.1}, None),
        ("nonsense", None),
    ):
        monkeypatch.setattr(declaration.st, "session_state", {"canvas": {"place": value}})
        assert component.place("canvas") == wanted


def test_what_is_shipped_of_the_kinds_is_what_training_gives():
    trained = kinds.trained()
    assert trained.keys() == papers().keys()
    for name, paper in papers().items():
        again = trained[name]
        assert (again["node"], again["truth"]) == (paper.node, pytest.approx(paper.truth))
        for labels, answers in paper.answers.items():
            assert again["answers"][str(labels)] == pytest.approx(answers, abs=0.02)


def test_more_labels_bring_networks_together_right_or_wrong():
    """What lesson 9 says of its three papers."""
    few, many = rows(LABELS[0]), rows(LABELS[-1])
    for name in few:
        apart = [max(found[name].values) - min(found[name].values) for found in (few, many)]
        assert apart[1] <= AGREED < 0.39 < apart[0], name
    assert min(many["clear"].values) > 0.9 and papers()["clear"].truth[0] > 0.99
    assert abs(np.mean(many["torn"].values) - papers()["torn"].truth[0]) < 0.05
    assert abs(papers()["torn"].truth[0] - 0.5) < 0.05
    assert papers()["stranger"].truth[HIDDEN] > 0.99
    assert max(many["stranger"].values) < 0.3 or min(many["stranger"].values) > 0.7


def test_noise_replaces_a_share_of_labels_and_nothing_else():
    drawn = "synthetic:nodes=800,classes=4,words=400"
    clean, noisy = bup.load_graph(drawn), bup.load_graph(f"noisy:{drawn}:0.2")
    assert (clean.labels != noisy.labels).mean() == pytest.approx(0.2, abs=0.04)
    assert (clean.edges == noisy.edges).all()
    more = bup.load_graph(f"noisy:{drawn}:0.4").labels
    changed = clean.labels != noisy.labels
    assert (more[changed] == noisy.labels[changed]).all()
    for name in ("noisy:cora:1", "noisy:cora", "noisy:cora:x"):
        with pytest.raises(bup.BupError, match="share of a graph's labels"):
            bup.load_graph(name)


def test_neighbours_alike_are_counted(path_graph):
    np.testing.assert_array_equal(same_class_share(path_graph), [1, 0.5, 0.5, 1, np.nan])


def test_groups_of_coverage_make_up_the_whole(run, cora):
    sets = conformal_sets(run.probs, cora, run.split, 0.9, "aps")
    whole, *parts = by_neighbours(loaded_run(run, cora), sets)
    judged = run.judged(cora)
    assert whole.covered == pytest.approx(sets.coverage(judged.nodes, judged.targets))
    assert sum(part.papers for part in parts) <= whole.papers
    assert parts[-1].covered < parts[0].covered


def test_the_curve_of_strangers_is_what_the_question_prints():
    question = QUESTIONS["strangers"]
    rows = strangers_of("fewer:cora:0.1")
    assert set(rows.graph) == {name for name in question.graphs if ":cora:" in name}
    assert set(rows.method) == {LINES[who.label] for who in question.variants}
    reruns = rows.groupby(["graph", "method"]).seed.nunique()
    assert (reruns == question.reruns).all()
    assert strangers_of("synthetic:nodes=400").empty
