"""Lesson 2: three bell curves, and the probabilities that come out of them."""

import numpy as np
import streamlit as st
import torch

from bup import likelihood
from dashboard.figures.learn.messages import densities_figure, messages_figure, wins_figure
from dashboard.learn import cases, lesson
from dashboard.session import run_link
from dashboard.ui.metric_row import metric_row
from dashboard.ui.numbers import percent

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


@lesson.lesson_page("message")
def page(here: lesson.Lesson) -> None:
    left, right = lesson.two_columns()
    with left:
        st.markdown(here.text("Introduction"))
        mean, std = _sliders()
        answered = _question(here)
    chances = probabilities(mean, std)
    theme = lesson.theme()
    with right:
        wins = zip(CLASSES, chances.mean[0].tolist(), strict=True)
        metric_row({f"{name} wins": percent(p) for name, p in wins})
        draws = sample(mean, std)
        lesson.chart(messages_figure(mean, std, CLASSES, draws[:, -1], theme), "messages")
        won, sure = st.tabs(["How often each class wins", "How sure is that probability itself?"])
        with won:
            figure = wins_figure(draws, chances.mean[0].numpy(), CLASSES, theme)
            lesson.chart(figure, "wins", here.text("Draws", draws=DRAWS))
        with sure:
            rows = torch.tensor(mean), torch.tensor(std) ** 2
            classes = range(len(CLASSES))
            densities = [likelihood.probability_density(*rows, c, GRID).numpy() for c in classes]
            density = np.stack(densities)
            figure = densities_figure(GRID.numpy(), density, chances, CLASSES, theme)
            lesson.chart(figure, "densities", here.text("Interval", level=LEVEL))
    with left:
        query = {"graph": run_link.graph_label(cases.graph_name())}
        lesson.end(here, answered, ("A real message and its intervals", "explore", query))


def _sliders() -> tuple[list[float], list[float]]:
    mean, std = [], []
    for i, (name, (m, s)) in enumerate(zip(CLASSES, START, strict=True)):
        one, two = st.columns(2)
        note = "The standard deviation: the square root of the variance."
        mean.append(one.slider(f"{name}: mean", -2.0, 2.0, m, 0.05, key=f"mean_{i}"))
        std.append(two.slider(f"{name}: width", 0.05, 3.0, s, 0.05, key=f"std_{i}", help=note))
    return mean, std


def probabilities(mean: list[float], std: list[float]) -> likelihood.ProbabilityDistribution:
    """How often each class wins, and how unsure that is; one row."""
    rows = torch.tensor([mean], dtype=torch.float64), torch.tensor([std], dtype=torch.float64) ** 2
    return likelihood.probability_distribution(*rows, level=LEVEL)


def sample(mean: list[float], std: list[float]) -> np.ndarray:
    """Draws [classes, draws]; the same luck for every setting, so that only the sliders move it."""
    luck = np.random.RandomState(4).standard_normal((len(mean), DRAWS))
    return np.array(mean)[:, None] + np.array(std)[:, None] * luck


def _question(here: lesson.Lesson) -> bool:
    means, widths = ([values[i] for values in START] for i in (0, 1))
    wide = [3.0] * len(START)

    def answer() -> dict[str, object]:
        narrow, broad = (probabilities(means, std).mean[0].tolist() for std in (widths, wide))
        return {
            "narrow_width": widths[0],
            "wide_width": wide[0],
            "first": CLASSES[0],
            "first_narrow": narrow[0],
            "first_wide": broad[0],
            "last": CLASSES[2],
            "last_narrow": narrow[2],
            "last_wide": broad[2],
        }

    return lesson.predict(here, "expect_width", 0, answer)
