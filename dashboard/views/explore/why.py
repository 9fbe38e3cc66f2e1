"""The tab Why?: which nodes and words gave the picked node its answer, and what gave it doubt."""

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bup.explanation import sentences
from bup.explanation.changes import Change
from bup.explanation.reasons import Reasons, why_no_reasons
from bup.methods import METHODS
from dashboard.cache.run_cache import LoadedRun
from dashboard.figures.class_tables import breakdown_table
from dashboard.figures.node import shares_figure
from dashboard.figures.reasons import reasons_figure
from dashboard.session import url
from dashboard.session.view import View
from dashboard.ui.markdown import bold, escaped
from dashboard.ui.numbers import percent
from dashboard.ui.theme import AGAINST, FOR
from dashboard.views import charts, exports
from dashboard.views.explore import what_if

TAB = "Why?"
MOST_LIT = 12
"""How many nodes and links the map lights."""
_searches = ThreadPoolExecutor(2, "search")


def why(view: View) -> Callable[[], None] | None:
    """Draw the tab; what it returns adds what takes longer, once the map is drawn."""
    finish = _why_this_answer(view)
    st.markdown("**Why this doubt**")
    if view.explains.shares:
        _why_this_doubt(view)
    else:
        able = ", ".join(m.short for m in METHODS.values() if m.explains.shares)
        st.markdown(
            "This method does not pass variances along links, so there is no share of a linked "
            f"{view.graph.noun.one} in its doubt. {able} does."
        )
    return finish


def chosen_reasons(view: View) -> Reasons:
    """The reasons against the class that the visitor chose, or against the usual one."""
    against = st.session_state.get("against")
    if against not in view.answers:
        return view.loaded_run.reasons(view.node)
    number = view.result.split.classes[view.answers.index(against)]
    if view.answers.index(against) == view.result.probs[view.node].argmax():
        return view.loaded_run.reasons(view.node)
    return view.loaded_run.reasons(view.node, number)


def lit_reasons(view: View) -> dict[str, Any] | None:
    """What the map lights while the tab is open: see MapData.reasons in types.js."""
    if not view.picked or st.session_state.get("tab") != TAB or why_no_reasons(view.result):
        return None
    reasons = chosen_reasons(view)
    nodes = [n for n in range(len(reasons.nodes)) if reasons.nodes[n] != view.node][:MOST_LIT]
    links = reasons.links[:MOST_LIT].tolist()
    carried = reasons.link_contributions[:MOST_LIT].tolist()
    return {
        "colours": [FOR, AGAINST],
        "names": [reasons.answer_name, reasons.rival_name],
        "nodes": [[int(reasons.nodes[n]), float(reasons.contributions[n])] for n in nodes],
        "links": [[a, b, value] for (a, b), value in zip(links, carried, strict=True)],
    }


def _why_this_answer(view: View) -> Callable[[], None] | None:
    st.markdown("**Why this answer**")
    if cause := why_no_reasons(view.result):
        st.info(cause)
        return None
    usual = _usual_rival(view)
    others = [name for name in view.answers if name not in (usual, _answer(view))]
    url.ensure_option("against", ["", *others])
    with st.spinner("Adding up what every word contributes …"):
        reasons = chosen_reasons(view)
    st.markdown(sentences.because(reasons, bold))
    slot = st.empty()
    for note in _notes(view):
        st.caption(note)
    is_true = usual == view.table.true.iloc[view.node]
    st.selectbox(
        "Compared with",
        ["", *others],
        key="against",
        format_func=lambda name: (
            name or f"{usual} ({'the true class' if is_true else 'runner-up'})"
        ),
    )
    charts.node_chart(view, reasons_figure(reasons, view.theme), "reasons", _caption(view, reasons))
    table = reasons.table()
    exports.show_numbers(table, f"{view.run.key}-{view.node}-reasons", "reasons")
    return lambda: _what_would_change_it(view, reasons, slot)


def _answer(view: View) -> str:
    return view.answers[int(view.result.probs[view.node].argmax())]


def _usual_rival(view: View) -> str:
    return view.loaded_run.reasons(view.node).rival_name


def _notes(view: View) -> list[str]:
    """What is to know of a node or a run before its bars are read."""
    row, notes = view.table.iloc[view.node], []
    if row.part == "train":
        notes.append(view.say("The model was told the class of this node itself."))
    if row.ood:
        notes.append(
            f"Its true class, {escaped(row.true)}, was never shown: no {view.graph.noun.one} can "
            "speak for it."
        )
    if view.recalibrated:
        notes.append("The bars are those of the messages before calibration.")
    return notes


def _caption(view: View, reasons: Reasons) -> str:
    one, many = view.graph.noun.one, view.graph.noun.many
    text = (
        f"Each bar is what the words of one {one} contribute, here or along links; all of them sum "
        f"to {reasons.gap:+.3f}, by which the message of {escaped(reasons.answer_name)} exceeds "
        f"that of {escaped(reasons.rival_name)}. Diamonds mark {many} whose class the model was "
        f"told: {percent(reasons.told_share, 0)} of what speaks for the answer. "
    )
    if reasons.graph.words is not None:
        text += "Below each name are the words that contribute most. "
    return text + f"Click a bar to pick its {one}."


class _Found(NamedTuple):
    """What a search found, in words, and the links to remove."""

    texts: tuple[str, str]
    links: Change | None


def _search(run: LoadedRun, reasons: Reasons) -> _Found:
    classes = run.result.split.classes
    links, words = run.changes(reasons.node, classes[reasons.rival])
    texts = (
        sentences.unless(reasons, run.change_search, links, bold),
        sentences.without_words(reasons, words, bold),
    )
    return _Found(texts, links)


def _what_would_change_it(view: View, reasons: Reasons, slot: DeltaGenerator) -> None:
    """Fill the place below the first sentence; a click meanwhile is served at once."""
    asked = (view.run, view.node, reasons.rival)
    if not view.loaded_run.reasoner.is_fast and st.session_state.get("searched") != asked:
        slot.button(
            "Search for the smallest change that gives another answer",
            icon=":material/search:",
            help="With this method it can take a minute.",
            on_click=lambda: st.session_state.update(searched=asked),
            key="search_change",
        )
        return
    future = _searches.submit(_search, view.loaded_run, reasons)
    try:
        while not future.done():
            slot.caption("Searching for the smallest change that gives another answer …")
            with contextlib.suppress(TimeoutError):
                future.result(timeout=0.1)
    finally:
        future.cancel()  # the visitor has gone on before it began
    texts, change = future.result()
    with slot.container(gap="small"):
        st.markdown(" ".join(filter(None, texts)))
        if change is not None:
            names = [what_if.link_name(view.graph, view.node, *link) for link in change.links]
            which = f"the link to {names[0]}" if len(names) == 1 else f"these {len(names)} links"
            st.button(
                f"Remove {escaped(which)} (the answer changes)",
                icon=":material/link_off:",
                help=f"Opens {what_if.TAB} without {escaped(', '.join(names))}",
                on_click=lambda: st.session_state.update(tab=what_if.TAB, unlink=names, link_to=""),
                key="remove_links",
            )


def _why_this_doubt(view: View) -> None:
    inspection = view.loaded_run.inspection(view.node)
    names = [view.graph.name_of(n) for n in inspection.steps[0].neighbours]
    charts.node_chart(
        view,
        shares_figure(inspection.steps, names, view.theme),
        "shares",
        view.say(
            "Each bar is what one linked node added to this node's variance or took off it, "
            "averaged over the hidden dimensions; the bars sum exactly to the change. Click a bar "
            "to pick its node."
        ),
    )
    for breakdown in inspection.breakdowns:
        st.markdown(
            f"**{view.say(breakdown.title)}**",
            help="The line in each bar is the mean over the graph.",
        )
        st.html(breakdown_table(breakdown, view.theme))
    if inspection.formula is not None:
        st.markdown(view.say(inspection.formula.words))
        if inspection.formula.latex:
            st.latex(inspection.formula.latex)
        st.markdown(view.say(inspection.formula.meaning))
    rows = []
    for number, step in enumerate(inspection.steps, 1):
        before = step.before.mean()
        for n, name, change in zip(step.neighbours, names, step.change.mean(axis=1), strict=True):
            rows.append(
                {
                    "step": number,
                    view.say("linked node"): name,
                    "degree": int(view.graph.degree[n]),
                    "change of variance": float(change),
                    "share of the variance before": float(change / before) if before > 0 else 0.0,
                }
            )
    if rows:
        exports.show_numbers(pd.DataFrame(rows), f"{view.run.key}-{view.node}-shares", "why")
