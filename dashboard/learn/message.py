"""Lesson 2: three bell curves, and the probabilities that come out of them."""

from __future__ import annotations

import numpy as np
import streamlit as st
import torch

from bup import likelihood
from dashboard.figures.learn.messages import densities_figure, messages_figure, wins_figure
from dashboard.learn import cases, lesson
from dashboard.session import run_link

CLASSES = ("Neural Networks", "Theory", "Rule Learning")
START = ((1.0, 0.5), (0.3, 0.5), (-0.5, 0.5))  # mean and standard deviation of each
DRAWS = 60
LEVEL = 0.9
# Fine, and finer near the ends, where a probability may crowd.
GRID = torch.unique(
    torch.cat(
        [
            torch.linspace(0.001, 0.999, 999, dtype=torch.float64),
            torch.sigmoid(torch.linspace(-12, 12, 241, dtype=torch.float64)),
        ]
    )
)


def page() -> None:
    here = lesson.begin(2)
    _lesson(here)


@lesson.played
def _lesson(here: lesson.Lesson) -> None:
    left, right = lesson.halves()
    with left:
        st.markdown(
            "A node's message has one bell curve per class. Nature draws one number from each, and "
            "the class with the **largest** number wins. Drag a mean or a width and watch how "
            "often each class wins. All curves have the same area: what is narrow is high."
        )
        mean, std = _sliders()
        answered = _question()
    chances = probabilities(mean, std)
    theme = lesson.theme()
    with right:
        for column, name, p in zip(st.columns(3), CLASSES, chances.mean[0].tolist(), strict=True):
            column.metric(f"{name} wins", f"{p:.1%}")
        draws = sample(mean, std)
        lesson.chart(messages_figure(mean, std, CLASSES, draws[:, -1], theme), "messages")
        won, sure = st.tabs(["How often each class wins", "How sure is that probability itself?"])
        with won:
            lesson.chart(
                wins_figure(draws, chances.mean[0].numpy(), CLASSES, theme),
                "wins",
                f"{DRAWS} draws, one mark each, in the row of the class that won; the line is the "
                "exact probability. The crosses above are the last draw.",
            )
        with sure:
            rows = torch.tensor(mean), torch.tensor(std) ** 2
            classes = range(len(CLASSES))
            density = np.stack(
                [likelihood.probability_density(*rows, c, GRID).numpy() for c in classes]
            )
            lesson.chart(
                densities_figure(GRID.numpy(), density, chances, CLASSES, theme),
                "densities",
                "If the number of one class were known, its chance to win would be known too. It "
                f"is not, so that chance is spread out; the bar holds {LEVEL:.0%} of it. Areas are "
                "equal; what is higher than a row is cut off.",
            )
    with left:
        name = run_link.graph_label(cases.graph_name())
        lesson.end(
            here,
            answered,
            [("A real message and its intervals", "explore", {"graph": name})],
        )


def _sliders() -> tuple[list[float], list[float]]:
    mean, std = [], []
    for i, (name, (m, s)) in enumerate(zip(CLASSES, START, strict=True)):
        one, two = st.columns(2)
        mean.append(one.slider(f"{name}: mean", -2.0, 2.0, m, 0.05, key=f"mean_{i}"))
        std.append(
            two.slider(
                f"{name}: width",
                0.05,
                3.0,
                s,
                0.05,
                key=f"std_{i}",
                help="The standard deviation: the square root of the variance.",
            )
        )
    return mean, std


def probabilities(mean: list[float], std: list[float]) -> likelihood.ProbabilityDistribution:
    """How often each class wins, and how unsure that is; one row."""
    rows = torch.tensor([mean], dtype=torch.float64), torch.tensor([std], dtype=torch.float64) ** 2
    return likelihood.probability_distribution(*rows, level=LEVEL)


def sample(mean: list[float], std: list[float]) -> np.ndarray:
    """Draws [classes, draws]; the same luck for every setting, so that only the sliders move it."""
    luck = np.random.RandomState(4).standard_normal((len(mean), DRAWS))
    return np.array(mean)[:, None] + np.array(std)[:, None] * luck


def _question() -> bool:
    wide = [m for m, _ in START], [3.0] * len(START)

    def answer() -> str:
        narrow = probabilities([m for m, _ in START], [s for _, s in START]).mean[0]
        broad = probabilities(*wide).mean[0]
        return (
            f"From widths of {START[0][1]} to widths of {wide[1][0]}, with the means of the start, "
            f"{CLASSES[0]} falls from {narrow[0]:.1%} to {broad[0]:.1%}, and {CLASSES[2]} rises "
            f"from {narrow[2]:.1%} to {broad[2]:.1%}. As long as all curves are "
            "equally wide, the largest mean still wins most often: the predicted class stays, the "
            "confidence goes. Try it with the sliders, then make one curve wider than the others."
        )

    return lesson.predict(
        "expect_width",
        "Make all three curves as wide as the slider allows, and leave the means alone.",
        [
            "The three probabilities come closer to each other",
            "The leader's probability grows",
            "Nothing changes: the means decide",
        ],
        0,
        answer,
        [
            "",
            "A wider curve reaches further to the right, but so do its rivals: pull all three "
            "widths up and watch the first number above the curves.",
            "They do decide who wins most often, but not how often: pull all three widths up and "
            "the marks spread over the rows.",
        ],
    )
