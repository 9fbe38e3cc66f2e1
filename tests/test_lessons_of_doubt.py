"""What the lessons about kinds of doubt, strangers and coverage compute."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import bup
from bup.conformal import conformal_sets
from bup.experiments import QUESTIONS
from bup.propagation.doubt import FLOOR
from dashboard.components import plane as component
from dashboard.learn.cases import Case
from dashboard.learn.coverage import alike, by_neighbours
from dashboard.learn.kinds import CLEAN, SCORES, moves
from dashboard.learn.kinds_table import LABELS, NOISES, READ, graph_of, readings
from dashboard.learn.plane import CENTRES, Plane
from dashboard.learn.unseen import LINES, strangers_of


def test_doubt_on_the_plane_is_the_ratio_written_out():
    """-log(floor + (1 - floor) L / (1 + L)), L the classes' mean density against all papers'."""
    plane, place = Plane(), np.array([[0.7, 0.3]])
    z, labels = plane.points(), plane.groups[plane.labelled]
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
    assert plane.density().shape == (32, 48)


def test_a_group_stands_out_and_a_few_do_not():
    found = [Plane(strangers=n).found() for n in (3, 10, 40, 90)]
    assert found == sorted(found) and found[0] < 0.5 and found[-1] > 0.9


def test_links_that_mislead_hide_strangers():
    assert Plane(homophily=0.2).found() < 0.6 < Plane(homophily=0.9).found()


def test_only_places_are_taken_from_the_browser(monkeypatch):
    for value, wanted in (
        ({"x": 0.2, "y": 3}, (0.2, 1.0)),
        ({"x": "0.2", "y": 0.1}, None),
        ("nonsense", None),
    ):
        monkeypatch.setattr(component.st, "session_state", {"canvas": {"place": value}})
        assert component.place("canvas") == wanted


def test_every_setting_of_the_kinds_was_trained():
    names = {name for scores in READ.values() for name in scores}
    assert names == set(SCORES)
    for noise in NOISES:
        for labels in LABELS:
            for hidden in (False, True):
                assert set(readings(noise, labels, hidden)) == names


def test_parts_of_a_prediction_add_up():
    for noise in NOISES:
        found = readings(noise, LABELS[0], False)
        parts = found["aleatoric"].mean + found["epistemic"].mean
        assert found["total"].mean == pytest.approx(parts, abs=1e-4)


def test_what_the_lesson_says_of_the_kinds_is_so():
    clean = readings(*CLEAN)
    noisy, hidden = readings(NOISES[-1], LABELS[0], False), readings(NOISES[0], LABELS[0], True)
    assert noisy["aleatoric"].mean > clean["aleatoric"].mean + 0.2
    assert hidden["epistemic"].mean < clean["epistemic"].mean
    assert all(hidden[name].mean > clean[name].mean for name in ("gpn", "vacuity", "doubt"))
    assert all(move.by == 0 for move in moves(clean, clean))


def test_noise_replaces_a_share_of_labels_and_nothing_else():
    clean, noisy = bup.load_graph(graph_of(0)), bup.load_graph(graph_of(0.2))
    assert (clean.labels != noisy.labels).mean() == pytest.approx(0.2, abs=0.04)
    assert (clean.edges == noisy.edges).all()
    more = bup.load_graph(graph_of(0.4)).labels
    changed = clean.labels != noisy.labels
    assert (more[changed] == noisy.labels[changed]).all()
    for name in ("noisy:cora:1", "noisy:cora", "noisy:cora:x"):
        with pytest.raises(bup.BupError, match="share of a graph's labels"):
            bup.load_graph(name)


def test_neighbours_alike_are_counted(path_graph):
    np.testing.assert_array_equal(alike(path_graph), [1, 0.5, 0.5, 1, np.nan])


def test_groups_of_coverage_make_up_the_whole(run, cora):
    sets = conformal_sets(run.probs, cora, run.split, 0.9, "aps")
    whole, *parts = by_neighbours(Case(cora, run.spec, run), sets)
    judged = run.judged(cora)
    assert whole.covered == pytest.approx(sets.coverage(judged.nodes, judged.targets))
    assert sum(part.papers for part in parts) <= whole.papers
    assert parts[-1].covered < parts[0].covered


def test_the_curve_of_strangers_is_what_the_question_prints():
    question = QUESTIONS["strangers"]
    rows = strangers_of("fewer:cora:0.1")
    assert set(rows.graph) == {name for name in question.graphs if ":cora:" in name}
    assert set(rows.method) == {LINES[who.label] for who in question.contenders}
    reruns = rows.groupby(["graph", "method"]).seed.nunique()
    assert (reruns == question.reruns).all()
    assert strangers_of("synthetic:nodes=400").empty
