"""Choosing further runs to hold against the one in the sidebar."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from bup.methods import METHODS, complete
from bup.propagation import RULES
from bup.spec import Spec
from dashboard import shelf, visitor
from dashboard.jobs.job import Job
from dashboard.markdown import escaped
from dashboard.state import View
from dashboard.waiting import ask_for, offer_again, wait_for

NONE = "no other method"


def rival_specs(view: View) -> dict[str, Spec]:
    """Runs on the same split: every method, BUP under each of its rules, calibrated ones."""
    offers: dict[str, tuple[str, dict[str, Any]]] = {}
    for other in METHODS.values():
        too_large = other.most_nodes is not None and view.graph.num_nodes > other.most_nodes
        if other.brought or too_large:
            continue
        if "propagation" in other.opens_with:
            for name, rule in RULES.items():
                offers[f"{other.short}: {rule.title}"] = (other.name, {"propagation": name})
        else:
            offers[other.short] = (other.name, {})
    offers["GCN, temperature-scaled"] = ("gcn+temperature", {})
    offers["BUP: Doubt, uncertain variance"] = ("bup+spread", {"propagation": "doubt"})
    for given in visitor.predictions():
        if given.digest == view.graph.digest:
            offers[f"Own: {given.title}"] = (given.method, {"predictions": given.key})
    specs = {}
    for label, (method, settings) in offers.items():
        spec = complete(
            dataclasses.replace(view.spec, method=method, settings=tuple(settings.items()))
        )
        if spec != view.spec:
            specs[label] = spec
    return specs


def label_of(spec: Spec, view: View) -> str:
    if spec == view.spec:
        return f"{METHODS[spec.method].short} (this run)"
    return next(
        (label for label, s in rival_specs(view).items() if s == spec), METHODS[spec.method].short
    )


def view_of(spec: Spec, view: View) -> View | None:
    """A finished run as a view; None while it is not trained."""
    known = shelf.find(spec, view.graph)
    return None if known is None else dataclasses.replace(view, known=known)


def on_same_nodes(views: Sequence[View]) -> list[View]:
    """The same runs, all judged on the nodes that are test nodes of each.

    Predictions that came with a split were tested on other nodes than our runs: where these differ,
    it is said. A run that none of these nodes is left of is left out, the first one excepted.
    """
    first, *others = views
    test = first.result.split.test
    alike, none_left = [first], []
    for other in others:
        both = np.intersect1d(test, other.result.split.test)
        if first.result.split.is_ood(first.graph.labels[both]).all():
            none_left.append(METHODS[other.spec.method].short)
        else:
            test, alike = both, [*alike, other]
    if none_left:
        st.warning(
            f"{escaped(', '.join(none_left))}: no test {first.graph.noun.one} in common with the "
            "other runs, so there is nothing to compare."
        )
    if all(len(view.result.split.test) == len(test) for view in alike):
        return alike
    learned = ", ".join(
        f"{METHODS[view.spec.method].short} from {len(view.result.split.train):,}" for view in alike
    )
    st.info(
        first.say(
            f"These runs were not tested on the same nodes: they are compared on the {len(test):,} "
            "that are test nodes of all of them. They did not learn from the same labels either: "
        )
        + f"{escaped(learned)}.",
        icon=":material/balance:",
    )
    return [dataclasses.replace(v, known=shelf.judged_on(v.known, test)) for v in alike]


def choose_rival(view: View, page: str) -> View | None:
    """A second run to overlay; trains it on demand."""
    specs = rival_specs(view)
    label = st.selectbox(
        "Compare with",
        [NONE, *specs],
        key="rival",
        bind="query-params",
        help=view.say("Another method, trained and tested on the same nodes."),
    )
    if label not in specs:
        return None
    found = view_of(specs[label], view)
    if found is None:
        train_missing([specs[label]], view)
    return found


def train_missing(specs: list[Spec], view: View) -> None:
    """Start what is not trained yet and refresh until it is there."""
    jobs = ask_for(specs, view.graph)
    given_up = [job for job in jobs if job.state in ("failed", "cancelled")]
    for job in given_up:
        why = job.error or "its training was cancelled"
        st.warning(f"**{escaped(label_of(job.spec, view))}**: {escaped(why)}")
    if given_up:
        offer_again([job.spec for job in given_up], view.graph)
    if waiting := [job.run for job in jobs if job not in given_up]:
        wait_for(waiting, lambda jobs: _show_progress(jobs, view))


def _show_progress(jobs: list[Job], view: View) -> None:
    left = [job for job in jobs if job.active]
    words = f"Training {label_of(left[0].spec, view)} ({len(left)} to go)"
    st.progress(left[0].progress.share, words)
