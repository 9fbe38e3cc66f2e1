"""Choosing further runs to hold against the one in the sidebar."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

import bup
from bup.methods import METHODS, complete, describe_run, parse_run
from bup.propagation import RULES
from bup.run.spec import Spec
from dashboard.cache import run_cache
from dashboard.network import visitor
from dashboard.session.training import retry_button, submit, wait_for
from dashboard.session.view import View
from dashboard.training_queue.job import Job
from dashboard.ui.markdown import escaped

NONE = "no other method"
OLD_LABELS = {"BUP: Doubt, uncertain variance": "doubt+spread"}
"""What links may still call a run."""
TYPED_HELP = (
    "What was trained on this machine is offered; any other you can type, such as `gcn+gats` or "
    "`bup (lam=2, dropout=0.5)`."
)


def comparable_specs(view: View) -> dict[str, Spec]:
    """Runs on the same nodes: every method, BUP under each of its rules, predictions that were
    brought, and whatever else was trained on them, by what was changed."""
    offers: dict[str, tuple[str, dict[str, Any]]] = {}
    for other in METHODS.values():
        too_large = other.max_nodes is not None and view.graph.num_nodes > other.max_nodes
        if other.is_imported or too_large:
            continue
        if "propagation" in other.app_defaults:
            for name, rule in RULES.items():
                offers[f"{other.short}: {rule.title}"] = (other.name, {"propagation": name})
        else:
            offers[other.short] = (other.name, {})
    offers["GCN, temperature-scaled"] = ("gcn+temperature", {})
    for given in visitor.predictions_of(view.graph):
        if not given.classes or given.classes == view.result.split.classes:
            label = f"Own: {given.title}"
            label += f" ({given.key[:6]})" if label in offers else ""
            offers[label] = (given.method, {"predictions": given.key})
    specs = {}
    for label, (method, settings) in offers.items():
        spec = complete(
            dataclasses.replace(view.spec, method=method, settings=tuple(settings.items()))
        )
        if spec != view.spec:
            specs[label] = spec
    offered = set(specs.values())
    for run in bup.Store().find_comparable(view.run):
        if run.spec not in offered and can_offer(run.spec):
            specs[describe_run(run.spec)] = run.spec
    return specs


def can_offer(spec: Spec) -> bool:
    """Whether a stored run may be told of: what others brought is theirs; some methods are gone."""
    try:
        return complete(spec) == spec and not METHODS[spec.method].is_imported
    except bup.BupError:
        return False


def label_of(spec: Spec, view: View) -> str:
    if spec == view.spec:
        return f"{METHODS[spec.method].short} (this run)"
    named = (label for label, s in comparable_specs(view).items() if s == spec)
    return next(named, describe_run(spec))


def specs_of_labels(view: View, labels: Sequence[str], specs: Mapping[str, Spec]) -> list[Spec]:
    """The runs behind what was chosen, or typed as in ``gcn+gats`` or ``bup (lam=2)``."""
    found = []
    for label in labels:
        try:
            words = OLD_LABELS.get(label, label)
            found.append(specs[words] if words in specs else parse_run(words, view.spec))
        except bup.BupError as error:
            st.warning(escaped(f"{label}: {error}"))
    return [spec for spec in dict.fromkeys(found) if spec != view.spec]


def view_of(spec: Spec, view: View) -> View | None:
    """A finished run as a view; None while it is not trained."""
    loaded_run = run_cache.find(spec, view.graph)
    return None if loaded_run is None else dataclasses.replace(view, loaded_run=loaded_run)


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
    return [
        dataclasses.replace(v, loaded_run=run_cache.tested_on(v.loaded_run, test)) for v in alike
    ]


def choose_comparison(view: View, page: str) -> View | None:
    """A second run to overlay; trains it on demand."""
    specs = comparable_specs(view)
    label = st.selectbox(
        "Compare with",
        [NONE, *specs],
        key="rival",
        bind="query-params",
        accept_new_options=True,
        help=view.say(f"Another method, trained and tested on the same nodes. {TYPED_HELP}"),
    )
    if label in (None, NONE):
        return None
    wanted = specs_of_labels(view, [label], specs)
    if not wanted:
        return None
    found = view_of(wanted[0], view)
    if found is None:
        train_missing(wanted, view)
    return found


def train_missing(specs: list[Spec], view: View) -> None:
    """Start what is not trained yet and refresh until it is there."""
    jobs = submit(specs, view.graph)
    given_up = [job for job in jobs if job.state in ("failed", "cancelled")]
    for job in given_up:
        why = job.error or "its training was cancelled"
        st.warning(f"**{escaped(label_of(job.spec, view))}**: {escaped(why)}")
    if given_up:
        retry_button([job.spec for job in given_up], view.graph)
    if waiting := [job.run for job in jobs if job not in given_up]:
        wait_for(waiting, lambda jobs: _show_progress(jobs, view))


def _show_progress(jobs: list[Job], view: View) -> None:
    left = [job for job in jobs if job.active]
    words = f"Training {label_of(left[0].spec, view)} ({len(left)} to go)"
    st.progress(left[0].progress.share, words)
