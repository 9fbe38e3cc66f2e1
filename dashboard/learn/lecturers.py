"""For lecturers: plans of 45 and 90 minutes, what to say, and the wrong answers to expect."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard.learn import lesson
from dashboard.session.navigation import page_link

NOTEBOOK = Path(__file__).parent.parent / "shipped" / "starter.ipynb"


@dataclass(frozen=True)
class Ask:
    """A question for the room, the wrong answer that usually comes, and what to say to it."""

    question: str
    usual: str
    reply: str


@dataclass(frozen=True)
class Part:
    """What to do and say in a lesson, and what to ask."""

    lesson: int
    do: str
    say: str
    ask: tuple[Ask, ...]


PARTS = {
    part.lesson: part
    for part in (
        Part(
            1,
            "Let the room guess, then show the answer. Raise the bar with the slider until hardly "
            "any unseen paper is trusted, and read out how many known ones are lost.",
            "A softmax shares out 100% among the classes it knows. “None of these” is not on "
            "offer, so confidence alone cannot say “I have never seen this”.",
            (
                Ask(
                    "Why can the model not say “none of these”?",
                    "It was not trained long enough.",
                    "Training longer makes it surer. No output stands for “none”.",
                ),
            ),
        ),
        Part(
            2,
            "Drag one mean past another, then widen one curve only.",
            "A message is a bell curve per class: its place says which class leads, its width how "
            "much that lead is worth.",
            (
                Ask(
                    "Can the class with the largest mean win less often than another?",
                    "No: the largest mean wins.",
                    "With three classes and one very wide curve it can. Let them find the setting.",
                ),
            ),
        ),
        Part(
            3,
            "The heart of the hour. Both guesses, then do them live in the drawing: set the "
            "variance of B, then pull A's plus onto the hub.",
            "Under the published rule the neighbours' variances cancel and only the degrees stay. "
            "That is a theorem, not a bug; whether one wants it is another question.",
            (
                Ask(
                    "B becomes very unsure. What happens to A under the published rule?",
                    "A becomes unsure, too.",
                    "Nothing: the variance of B cancels. Show it with the slider.",
                ),
                Ask(
                    "Does one more neighbour always make a node surer?",
                    "Yes, more evidence is better.",
                    "A link to a hub raises A's own degree, and B then takes off less. The "
                    "variance goes up.",
                ),
            ),
        ),
        Part(
            4,
            "Start at margin 1, walk to −1 and stop at 0. Then go from two classes to seven.",
            "This likelihood charges for doubt when the model is right and rewards it when it is "
            "wrong. Cross-entropy sees the mean only.",
            (
                Ask(
                    "What would training do if doubt cost nothing?",
                    "Doubt everything.",
                    "It would have no reason to be unsure, or sure, of anything: the variance "
                    "would stay where it began.",
                ),
            ),
        ),
        Part(
            5,
            "Fill the diagram slowly and let the room call out each bar. Then the temperature.",
            "Calibrated means: of the answers given with 80%, 80% are right. It says nothing "
            "about any single answer.",
            (
                Ask(
                    "May the temperature be chosen on the test papers?",
                    "Yes, it changes no answer.",
                    "It changes the error: never tune on the data that you report on.",
                ),
                Ask(
                    "Is a model with an ECE of 0 a good model?",
                    "Yes, its errors are zero.",
                    "Always answering with the share of the largest class is calibrated, too.",
                ),
            ),
        ),
        Part(
            6,
            "Guess, show, then drag the threshold and let the curve draw itself for each doubt.",
            "An AUROC of 50% is chance. The variance under the published rule counts links; "
            "nothing in it asks whether the class is known.",
            (
                Ask(
                    "What would a message's variance have to depend on to notice an unseen class?",
                    "On more training labels.",
                    "On what the words around a node look like, held against what is known.",
                ),
            ),
        ),
        Part(
            7,
            "Train a GCN once at homophily 0.8 and once at 0.5, each time beside the perceptron; "
            "then with more labels.",
            "Here we wrote the recipe ourselves, so that the right confidence is known, for once.",
            (
                Ask(
                    "At homophily 0.5 a GCN is far worse than somebody who knows the recipe and "
                    "reads words alone. Why?",
                    "The links mislead it.",
                    "A perceptron, which sees no links, is about as bad: both learned from few "
                    "labels. Links mislead more the fewer of them lead home: try 0.3.",
                ),
            ),
        ),
        Part(
            8,
            "Pick a paper that the room has seen before, and walk from its words to its answer.",
            "Every number here is the model's own. Stop at the sum of the messages and let them "
            "compute one term.",
            (
                Ask(
                    "Which of these numbers would change if a neighbour changed its words?",
                    "Only the neighbour's own.",
                    "Every number from the first sum on, up to two links away.",
                ),
            ),
        ),
        Part(
            9,
            "Guess, show, then pull the slider from 2 labels to 100 and let the room watch one row "
            "at a time.",
            "Where dots lie apart, more labels help: that doubt is epistemic. The torn paper stays "
            "in the middle: that doubt is aleatoric. The line between them is contested.",
            (
                Ask(
                    "A coin is tossed. Is your doubt about it aleatoric?",
                    "Yes, it is chance.",
                    "Before the toss. Once it lies under the hand, it is what you do not know.",
                ),
                Ask(
                    "Ten networks agree about the stranger. Do they know it?",
                    "Yes, or they would disagree.",
                    "None has seen its topic. What they lack is the same, and so is their error.",
                ),
            ),
        ),
        Part(
            10,
            "Guess, show, then pull the slider from 40 to 1 and let the room watch the dashed "
            "ring. Drag the strangers down to the right: there even one stands out.",
            "Doubt compares: a known class against all papers together. Strangers must be many "
            "enough to change what all papers look like, or lie where those reach anyway.",
            (
                Ask(
                    "A single stranger lies far from everybody. Why does doubt not find it?",
                    "It lies too close to a known class.",
                    "It lies where it lay before. One paper hardly changes what all papers look "
                    "like, and that is what doubt compares with.",
                ),
            ),
        ),
        Part(
            11,
            "Read out the first number, then the last bar. Switch to sets that are averaged with "
            "neighbours and let the room say who gains and who pays.",
            "A promise that holds on average is a promise to nobody in particular. Papers among "
            "their own kind are covered more often than promised and make up for the others.",
            (
                Ask(
                    "Nine sets in ten contain the truth. Does this paper's, with 90%?",
                    "Yes, that is what 90% means.",
                    "It means nine papers in ten. Of those without a neighbour of their own class "
                    "it is fewer, as the last bar shows.",
                ),
                Ask(
                    "Could larger sets for everybody mend it?",
                    "Yes, raise the promise.",
                    "Then sets grow for those, too, who need it least. Raise the slider and watch "
                    "the size of the sets beside each bar.",
                ),
            ),
        ),
    )
}

PLANS = {
    "45 minutes": ((1, 8), (2, 6), (3, 14), (5, 10), (6, 7)),
    "90 minutes": ((1, 9), (2, 8), (3, 15), (8, 10), (5, 12), (6, 10), (10, 9), (9, 9), (11, 8)),
}
"""Lessons in their order, and how many minutes each takes."""


def page() -> None:
    st.title("How do I teach this?")
    st.markdown(
        "**Start a class** before you begin: students join with their phones, you see what the "
        "room guesses before you show an answer, and everybody comes along to the page that you "
        "send. Turn on **Large text** above for the projector; it travels in the address. The "
        "first visit to lessons 1, 5, 6, 7, 8 and 11 trains models for a moment: open them "
        "once, with their answers, before the lecture. The usual wrong answers below are our own "
        "judgement, not collected in a course; a class of yours collects its own, as CSV."
    )
    with st.container(horizontal=True):
        page_link("class", "Start a class", ":material/groups:")
        page_link("learn-tour", "A tour for lecturers", ":material/route:")
    with st.container(key="plan"):
        chosen = st.segmented_control(
            "Plan", list(PLANS), default="45 minutes", required=True, key="minutes",
            bind="query-params",
        )  # fmt: skip
    clock = 0
    plan = PLANS[chosen or "45 minutes"]
    for number, minutes in plan:
        _part(PARTS[number], f"Minute {clock} to {clock + minutes}")
        clock += minutes
    with st.expander("If there is time: the other lessons"):
        for number in sorted(PARTS.keys() - dict(plan).keys()):
            _part(PARTS[number], f"Lesson {number}")
    with st.container(border=True, key="exercises"):
        _afterwards()


def _part(part: Part, when: str) -> None:
    each = lesson.LESSONS[part.lesson - 1]
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{when}**", width="content")
            page_link(each.address, f"{part.lesson}. {each.title}", ":material/arrow_forward:")
        left, right = st.columns(2, gap="large")
        left.markdown(f"**Do.** {part.do}\n\n**Say.** {part.say}")
        right.markdown(
            "\n\n".join(
                f"**Ask.** {ask.question}  \n*Usual:* “{ask.usual}”  \n*Reply:* {ask.reply}"
                for ask in part.ask
            )
        )


def _afterwards() -> None:
    st.markdown(
        "**For afterwards.** An exercise sheet with solutions, to print; its numbers come from a "
        "run on your machine, and another seed makes another sheet:"
    )
    st.code("bup exercises -o sheet.html --seed 0", language="sh")
    st.markdown(
        "And a notebook to start from: load a graph, train, ask one node, hold two methods "
        "against each other."
    )
    st.download_button(
        "The notebook",
        NOTEBOOK.read_bytes,
        NOTEBOOK.name,
        "application/x-ipynb+json",
        icon=":material/download:",
        key="notebook",
    )
    st.caption(
        "For a seminar: let pairs find a paper whose confidence surprises them, and say in two "
        "sentences why the model is so sure."
    )
