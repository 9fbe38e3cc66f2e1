"""What a changed setting did: in a sentence, and as the map before beside the map after."""

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
    """Above the map, after the visitor changed a setting: what it changed, and a button to compare.

    The session holds the specification of the run before as ``previous``, and as ``before`` while
    both maps are shown.
    """
    side_by_side = st.session_state.get("before") is not None
    before = _load(view, st.session_state.get("before") or st.session_state.get("previous"))
    if before is None:
        return

    def toggle() -> None:
        st.session_state.update(before=None if side_by_side else before.spec, previous=None)

    with st.container(horizontal=True, vertical_alignment="center", key="explore_change"):
        st.markdown(f"**{_changes(before.spec, view)}.** {_effect(before, view)}")
        st.button(
            "Now only" if side_by_side else "Before and after",
            icon=":material/compare:",
            on_click=toggle,
            key="before_and_after",
        )


def comparison_run(view: View) -> LoadedRun | None:
    """The run whose map is shown beside the map of this run."""
    return _load(view, st.session_state.get("before"))


def _load(view: View, spec: Spec | None) -> LoadedRun | None:
    """Another run of the same graph; a link may name any."""
    if spec is None or spec.graph != view.spec.graph or spec == view.spec:
        return None
    try:
        run = run_cache.find(spec, view.graph)
    except bup.BupError:
        return None
    return run if run is not None and run.spec != view.spec else None


def _changes(before: Spec, view: View) -> str:
    """The settings that differ, such as ``Dropout rate: 0.5 → 0.3``."""
    now = view.spec
    if before.method != now.method:
        return f"{METHODS[before.method].short} → {METHODS[now.method].short}"
    names = view.graph.class_names

    def values(spec: Spec) -> dict[str, str]:
        settings = dict(spec.settings)
        return {
            "Classes never shown": ", ".join(names[c] for c in spec.left_out) or "none",
            "Labels": spec.labels_in_words,
            "Random seed": str(spec.seed),
        } | {
            view.say(setting_title(f.name)): _text(f, settings[f.name])
            for f in dataclasses.fields(METHODS[now.method].settings)
        }

    old, new = values(before), values(now)
    changed = [key for key in new if old[key] != new[key]]
    return escaped("; ".join(f"{key}: {old[key]} → {new[key]}" for key in changed))


def _text(f: dataclasses.Field, value: Value) -> str:
    """A setting's value as its widget shows it."""
    if isinstance(value, float):
        return f"{value:g}"
    return choice_titles(f).get(str(value), str(value)) if f.metadata["choices"] else str(value)


def _effect(before: LoadedRun, view: View) -> str:
    """How many answers changed, and how the mean of the colour of the map changed."""
    changed = int((before.table.predicted != view.table.predicted).sum())
    answers = (
        f"{view.graph.noun.count(changed)} got a different answer"
        if changed
        else "No answer changed"
    )
    colour = st.session_state.get("colour", "")
    column = columns.numeric_columns(view.table).get(colour)
    if column is None or colour not in before.table:
        return f"{answers}."
    old, new = (f"{run.table[colour].mean():.3g}" for run in (before, view.loaded_run))
    return f"{answers}; {column.label}, on average: {old} → {new}."
