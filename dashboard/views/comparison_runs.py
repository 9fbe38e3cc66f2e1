"""Choose the runs that a page compares with the run of the sidebar."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

import bup
from bup.methods import METHODS, complete, describe_run, parse_run
from bup.propagation import RULES
from bup.run.spec import Spec
from dashboard.cache import run_cache
from dashboard.network import visitor
from dashboard.session.training import train
from dashboard.session.view import View
from dashboard.ui.markdown import escaped

OLD_LABELS = {"BUP: Doubt, uncertain variance": "doubt+spread"}
"""Labels that older links may have, and what they stand for."""
TYPED_HELP = (
    "The list has the runs that are stored on this machine. You can also type a run, such as "
    "`gcn+gats` or `bup (lam=2, dropout=0.5)`."
)


def comparable_specs(view: View) -> dict[str, Spec]:
    """The runs on the same nodes that menus offer, by label.

    These are every method, BUP under each of its rules, the predictions that the visitor uploaded,
    and the stored runs, which are labelled by their changed settings.
    """
    offers: dict[str, tuple[str, dict[str, Any]]] = {}
    for method in METHODS.values():
        too_large = method.max_nodes is not None and view.graph.num_nodes > method.max_nodes
        if method.is_imported or too_large:
            continue
        if "propagation" in method.app_defaults:
            for name, rule in RULES.items():
                offers[f"{method.short}: {rule.title}"] = (method.name, {"propagation": name})
        else:
            offers[method.short] = (method.name, {})
    offers["GCN, temperature-scaled"] = ("gcn+temperature", {})
    for given in visitor.predictions_of(view.graph):
        if not given.classes or given.classes == view.result.split.classes:
            label = f"Own: {given.title}"
            label += f" ({given.key[:6]})" if label in offers else ""
            offers[label] = (given.method, {"predictions": given.key})
    specs = {}
    for label, (name, settings) in offers.items():
        settings_of_run = tuple(settings.items())
        spec = complete(dataclasses.replace(view.spec, method=name, settings=settings_of_run))
        if spec != view.spec:
            specs[label] = spec
    offered = set(specs.values())
    for run in bup.Store().find_comparable(view.run):
        if run.spec not in offered and can_offer(run.spec):
            specs[describe_run(run.spec)] = run.spec
    return specs


def can_offer(spec: Spec) -> bool:
    """Whether menus may show a stored run: not the predictions of others, no removed method."""
    try:
        return complete(spec) == spec and not METHODS[spec.method].is_imported
    except bup.BupError:
        return False


def label_of(spec: Spec, view: View) -> str:
    if spec == view.spec:
        return f"{METHODS[spec.method].short} (this run)"
    labels = (label for label, s in comparable_specs(view).items() if s == spec)
    return next(labels, describe_run(spec))


def choose_runs(
    view: View, multiselect: Callable[..., list[str]], label: str, key: str, **options: Any
) -> list[Spec]:
    """The runs that the visitor chooses or types; the option ``default`` is a number of runs."""
    specs = comparable_specs(view)
    labels = multiselect(
        label,
        list(specs),
        list(specs)[: options.pop("default", 0)],
        key=key,
        bind="query-params",
        accept_new_options=True,
        help=view.say(f"All are trained and tested on the same nodes. {TYPED_HELP}"),
        **options,
    )
    return specs_of_labels(view, labels, specs)


def specs_of_labels(view: View, labels: Sequence[str], specs: Mapping[str, Spec]) -> list[Spec]:
    """The runs of labels that were chosen, or typed as in ``gcn+gats`` or ``bup (lam=2)``."""
    chosen = []
    for label in labels:
        try:
            text = OLD_LABELS.get(label, label)
            chosen.append(specs[text] if text in specs else parse_run(text, view.spec))
        except bup.BupError as error:
            st.warning(escaped(f"{label}: {error}"))
    return [spec for spec in dict.fromkeys(chosen) if spec != view.spec]


def compared_views(view: View, specs: Sequence[Spec]) -> list[View]:
    """The page's run and those to compare it with, tested on the same nodes.

    Runs that are not trained yet are trained; the page runs again when they are there.
    """
    runs = {spec: run_cache.find(spec, view.graph) for spec in specs}
    if missing := [spec for spec, run in runs.items() if run is None]:
        train(missing, view.graph, lambda spec: label_of(spec, view))
    others = [dataclasses.replace(view, loaded_run=run) for run in runs.values() if run is not None]
    return _on_same_nodes([view, *others])


def _on_same_nodes(views: Sequence[View]) -> list[View]:
    """The same runs, all tested on the nodes that are test nodes of each.

    Uploaded predictions may have a split of their own: the page says so. A run that shares no test
    node with the others is left out.
    """
    first, *others = views
    test = first.result.split.test
    comparable, left_out = [first], []
    for other in others:
        both = np.intersect1d(test, other.result.split.test)
        if first.result.split.is_ood(first.graph.labels[both]).all():
            left_out.append(METHODS[other.spec.method].short)
        else:
            test, comparable = both, [*comparable, other]
    if left_out:
        st.warning(
            f"{escaped(', '.join(left_out))}: no test {first.graph.noun.one} in common with the "
            "other runs, so there is nothing to compare."
        )
    if all(len(view.result.split.test) == len(test) for view in comparable):
        return comparable
    trained_on = ", ".join(
        f"{METHODS[v.spec.method].short} from {len(v.result.split.train):,}" for v in comparable
    )
    st.info(
        first.say(
            f"These runs were not tested on the same nodes: they are compared on the {len(test):,} "
            "that are test nodes of all of them. They did not learn from the same labels either: "
        )
        + f"{escaped(trained_on)}.",
        icon=":material/balance:",
    )
    runs = [run_cache.tested_on(v.loaded_run, test) for v in comparable]
    return [dataclasses.replace(first, loaded_run=run) for run in runs]
