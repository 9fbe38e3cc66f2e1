"""What a changed setting did: in a sentence, and with the run before beside this one."""

from __future__ import annotations

import dataclasses

import streamlit as st

import bup
from bup.methods import METHODS
from bup.run.spec import Spec, Value
from dashboard.cache import run_cache
from dashboard.cache.run_cache import LoadedRun
from dashboard.session.view import View
from dashboard.ui import columns
from dashboard.ui.markdown import escaped
from dashboard.ui.wording import choice_titles, setting_title


def change_banner(view: View) -> None:
    """Above the map, once something was changed."""
    before = _known(view, st.session_state.get("before") or st.session_state.get("previous"))
    if before is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="explore_change"):
        st.markdown(f"**{_changes(before.spec, view)}.** {_effect(before, view)}")
        beside = st.session_state.get("before") is not None
        st.button(
            "Now only" if beside else "Before and after",
            icon=":material/compare:",
            on_click=_toggle,
            args=(None if beside else before.spec,),
            key="before_and_after",
        )


def comparison_run(view: View) -> LoadedRun | None:
    """The run that is to be seen beside this one."""
    return _known(view, st.session_state.get("before"))


def _toggle(spec: Spec | None) -> None:
    st.session_state.update(before=spec, previous=None)


def _known(view: View, spec: Spec | None) -> LoadedRun | None:
    """What is known of a run that an address may have named."""
    try:
        if spec is None or spec.graph != view.spec.graph:
            return None
        found = run_cache.find(spec, view.graph)
    except bup.BupError:
        return None
    return found if found is not None and found.spec != view.spec else None


def _changes(before: Spec, view: View) -> str:
    now = view.spec
    if before.method != now.method:
        return f"{METHODS[before.method].short} → {METHODS[now.method].short}"
    names = view.graph.class_names
    shown = [", ".join(names[c] for c in spec.left_out) or "none" for spec in (before, now)]
    pairs = {
        "Classes never shown": shown,
        "Labels": [spec.labels_in_words for spec in (before, now)],
        "Random seed": [str(spec.seed) for spec in (before, now)],
    }
    for f in dataclasses.fields(METHODS[now.method].settings):
        settings = (dict(spec.settings)[f.name] for spec in (before, now))
        pairs[view.say(setting_title(f.name))] = [_written(f, value) for value in settings]
    return escaped("; ".join(f"{name}: {a} → {b}" for name, (a, b) in pairs.items() if a != b))


def _written(f: dataclasses.Field, value: Value) -> str:
    """A setting's value as its widget shows it."""
    if isinstance(value, float):
        return f"{value:g}"
    return choice_titles(f).get(str(value), str(value)) if f.metadata["choices"] else str(value)


def _effect(before: LoadedRun, view: View) -> str:
    """On the answers, and on what the map is coloured by."""
    other = int((before.table.predicted != view.table.predicted).sum())
    answers = "No answer changed" if not other else f"{view.graph.noun.count(other)} answered anew"
    colour = st.session_state.get("colour", "")
    column = columns.numeric_columns(view.table).get(colour)
    if column is None or colour not in before.table:
        return f"{answers}."
    means = [f"{loaded_run.table[colour].mean():.3g}" for loaded_run in (before, view.loaded_run)]
    return f"{answers}; {column.label}, on average: {means[0]} → {means[1]}."
