"""Lesson 9: noise, missing labels, a hidden class: each turned alone, and what scores do."""

from __future__ import annotations

import streamlit as st

from dashboard import graphs, state
from dashboard.figures.learn.groups import Move, moves_figure
from dashboard.learn import lesson
from dashboard.learn.kinds_table import HIDDEN, LABELS, NOISES, Reading, graph_of, readings

SCORES = {
    "total": ("Entropy of the answer (ensemble)", "both"),
    "answer": ("1 − confidence (BUP)", "both"),
    "aleatoric": ("Expected entropy (ensemble)", "aleatoric"),
    "dissonance": ("Dissonance (S-GCN)", "aleatoric"),
    "epistemic": ("Mutual information (ensemble)", "epistemic"),
    "dropout": ("Mutual information (MC dropout)", "epistemic"),
    "vacuity": ("Vacuity (S-GCN)", "epistemic"),
    "gpn": ("Lack of evidence (GPN)", "epistemic"),
    "paper": ("Message uncertainty (published rule)", "epistemic"),
    "doubt": ("Doubt U (our rule)", "epistemic"),
}
"""The scores that are shown: their names and what they are meant to measure."""
CLEAN = NOISES[0], LABELS[0], False


def page() -> None:
    here = lesson.begin(9)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    left, right = lesson.halves()
    with left:
        st.markdown(
            "**Aleatoric** doubt is in the data: nobody could know better. **Epistemic** doubt is "
            "in the model: it has not seen enough, and more labels would take it away. We turn "
            "each on a graph that we drew ourselves, and look at the papers of Topic D."
        )
        one, two = st.columns(2)
        noise = one.select_slider(
            "Wrong labels (aleatoric)", NOISES, NOISES[-1], "{:.0%}".format, "kind_noise"
        )
        labels = two.select_slider("Labels per class (epistemic)", LABELS, key="kind_labels")
        hidden = st.toggle("Hold Topic D back in training (epistemic)", key="kind_hidden")
        answered = _question()
    before, now = readings(*CLEAN), readings(noise, labels, hidden)
    with right:
        _decomposition(before, now)
        lesson.chart(
            moves_figure(moves(before, now), lesson.theme()),
            "moves",
            "Mean score of Topic D's test papers, against 20 clean labels per class; 3 draws each, "
            "trained ahead. If the words were measures, stripes would answer to the first knob "
            "only, and blue bars to the others only.",
        )
    with left:
        if answered:
            _contested()
        name = graph_of(noise)
        hidden_class = graphs.graph(name).class_names[HIDDEN]
        query = {"graph": state.graph_label(name), "per_class": str(labels)}
        lesson.end(
            here,
            answered,
            [
                (
                    "This graph in the dashboard",
                    "ood",
                    query | ({"left_out": hidden_class} if hidden else {}),
                )
            ],
        )


def moves(before: dict[str, Reading], now: dict[str, Reading]) -> list[Move]:
    """How far every score moved, in standard deviations over the papers where nothing is turned."""
    return [
        Move(name, kind, (now[key].mean - before[key].mean) / max(before[key].std, 1e-9))
        for key, (name, kind) in SCORES.items()
    ]


def _decomposition(before: dict[str, Reading], now: dict[str, Reading]) -> None:
    names = {
        "total": "Total doubt (nats)",
        "aleatoric": "= aleatoric part",
        "epistemic": "+ epistemic part",
    }
    notes = {
        "total": "Entropy of the mean answer of ten networks.",
        "aleatoric": "Mean entropy of each network's own answer: what all of them are unsure of.",
        "epistemic": "The rest, their mutual information: how much the networks disagree.",
    }
    for column, (key, words) in zip(st.columns(3), names.items(), strict=True):
        change = now[key].mean - before[key].mean
        column.metric(
            words,
            f"{now[key].mean:.3f}",
            f"{change:+.3f}" if abs(change) >= 5e-4 else None,
            delta_color="inverse",
            help=notes[key],
        )


def _contested() -> None:
    with st.expander("Where these words are contested"):
        st.markdown(
            "The split is a definition, not a discovery: it depends on which models one averages "
            "over. Wimmer et al. (2023) show that mutual information breaks rules that one would "
            "ask of epistemic doubt, Mucsányi et al. (2024) that in practice the two parts go up "
            "and down together, Kirchhof et al. (2025) that schools of thought draw the line in "
            "different places. Label noise that a better sensor would remove is epistemic for "
            "whoever can buy the sensor. So read a score by what it was seen to do, here and on "
            "your own graph."
        )


def _question() -> bool:
    seen, unseen = readings(*CLEAN)["epistemic"].mean, readings(0.0, LABELS[0], True)["epistemic"]
    noisy = readings(NOISES[-1], LABELS[0], False)

    def answer() -> str:
        return (
            f"It goes from {seen:.4f} to {unseen.mean:.4f} nats. Ten networks that never saw Topic "
            "D make the same mistake: they agree, and agreement is what mutual information takes "
            "for knowledge. Evidence, vacuity and doubt do rise: they ask what was seen, not who "
            "agrees. Turn the other knobs, too: with 40 % wrong labels the aleatoric part "
            f"rises to {noisy['aleatoric'].mean:.2f} nats while the epistemic part stays near "
            f"{noisy['epistemic'].mean:.3f}; with few labels both move."
        )

    return lesson.predict(
        "expect_kinds",
        "Hold Topic D back: ten networks are trained that never see it. The epistemic part of "
        "their doubt about its papers, their disagreement, will",
        ["rise: they have never seen such papers", "stay as it is", "fall"],
        2 if unseen.mean < 0.9 * seen else 0 if unseen.mean > 1.1 * seen else 1,
        answer,
        [
            "By the meaning of the word it should, and much is written as if it did. Switch "
            "*Hold Topic D back* on and look at the third number and at the bar “Mutual "
            "information (ensemble)”.",
            "The networks do change: they lose a class and spread its papers over the others. "
            "Switch *Hold Topic D back* on and watch the third number.",
            "",
        ],
    )
