"""What a model of one's own says: drop probabilities, look, open them as a run."""

from __future__ import annotations

import dataclasses

import pandas as pd
import streamlit as st

import bup
from bup.datasets.uploads import limits
from bup.graph import PARTS, Graph
from bup.imported.predictions import Predictions, delete
from bup.io.csv import csv_text
from bup.results.result import Result
from bup.run.splits import Split, usual_sizes
from bup.training import fitting
from bup.training.torch_model import spec_of_predictions
from dashboard.cache import graphs
from dashboard.network import visitor
from dashboard.network.visitor import UploadedPredictions
from dashboard.session import navigation, run_link
from dashboard.ui.errors import show_errors
from dashboard.ui.markdown import escaped
from dashboard.ui.streamlit_internals import DeltaGenerator
from dashboard.uploads import reader
from dashboard.views.upload.facts import facts
from dashboard.views.upload.per_session import digest, per_session

ROWS = 5


def predictions() -> None:
    st.markdown(
        "Drop **probs.csv**: a column **id** and one column for each class, named after it, with "
        "the probability of that class. Columns **score** (higher means less sure) and **split** "
        "(train, validation, test) are optional. Or **probs.npz** with an array **probs**, a row "
        "for each node in the order of the graph; with **mean** and **var** instead, intervals "
        "and likelihoods come along."
    )
    names = [*visitor.graphs(), *run_link.graph_names()]
    left, *numbers = st.columns([2, 1, 1])
    name = left.selectbox("Graph", names, format_func=run_link.graph_title, key="own_of")
    with show_errors():
        graph = graphs.graph(name)
        per_class, seed = _split_choice(graph, *numbers)
        split = bup.make_split(graph, per_class, *usual_sizes(graph), seed=seed)
        _offer_split(graph, split)
        reader.POOL.warm()
        file = st.file_uploader(
            "Predictions",
            ["csv", "tsv", "txt", "npz"],
            key="own_probs",
            max_upload_size=limits.UPLOAD_MB.value,
        )
        if file is not None:
            _review(graph, file.name, file.getvalue(), per_class, seed)
    _kept()


def _split_choice(graph: Graph, left: DeltaGenerator, right: DeltaGenerator) -> tuple[int, int]:
    sizes = pd.Series(graph.labels[graph.labelled]).value_counts()
    usual = max(1, min(20, int(sizes.min()) // 3))
    per_class = left.number_input("Labels per class", 1, 100, usual, key="own_per_class")
    seed = right.number_input("Random seed", 0, 2**32 - 1, 0, key="own_seed")
    return int(per_class), int(seed)


def _offer_split(graph: Graph, split: Split) -> None:
    """The nodes that other methods train on: only so is a comparison fair."""
    part = pd.Series("", index=range(graph.num_nodes))
    for name in PARTS:
        part[getattr(split, name)] = name
    ids = [graph.node_id(i) for i in range(graph.num_nodes)]
    table = pd.DataFrame({"id": ids, "label": _names(graph, graph.labels), "split": part})
    st.download_button(
        "The split of the other methods (CSV)",
        csv_text(table),
        "split.csv",
        "text/csv",
        icon=":material/download:",
    )
    st.caption(
        "A file without a column split is judged on the test nodes of this split. Train your model "
        "on its training nodes: one that has seen the test nodes looks better than it is. A file "
        "with a split is judged on its own; methods here still train on this one, and are compared "
        "with yours on what are test nodes of both."
    )


def _names(graph: Graph, labels: object) -> list[str]:
    return [graph.class_names[c] if c >= 0 else "" for c in pd.Series(labels).tolist()]


def _review(graph: Graph, file: str, content: bytes, per_class: int, seed: int) -> None:
    key = (digest([(file, content)]), graph.digest, per_class, seed)
    given, result = per_session("own_run", key, lambda: _run(graph, file, content, per_class, seed))
    spec = result.spec
    facts(_facts(graph, given, result))
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    usual = file.rpartition(".")[0][:40]
    title = left.text_input("Name", usual, max_chars=40, key="own_run_title")
    opened = right.button(
        "Open as a run", type="primary", icon=":material/hub:", key="own_run_open"
    )
    _first_rows(graph, result)
    if opened:
        given = dataclasses.replace(given, title=title or "mine")
        given.save(visitor.uploader())
        fitting.save(result, graph)
        visitor.predictions().append(
            UploadedPredictions(given.title, graph.digest, given.method, given.key, given.classes)
        )
        navigation.switch_page("explore", run_link.parameters(spec, graph))


def _run(
    graph: Graph, file: str, content: bytes, per_class: int, seed: int
) -> tuple[Predictions, Result]:
    given = reader.read_predictions(graph, file, content)
    given.register()
    return given, fitting.fit_specs(graph, [spec_of_predictions(graph, given, per_class, seed)])[0]


def _kept() -> None:
    """What this visitor brought, and a way to be rid of it."""
    if not visitor.predictions():
        return
    st.subheader("Your predictions")
    st.caption("They are offered on Compare and Reliability as rivals of other runs.")
    for given in list(visitor.predictions()):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{escaped(given.title)}**")
            st.caption(f"key {given.key}, kept for {limits.DAYS.value} days after their last use")
            st.button(
                "Delete",
                icon=":material/delete:",
                key=f"delete_{given.key}",
                on_click=_delete,
                args=(given,),
                help="Deletes the predictions and every run of them, now.",
            )


def _delete(given: UploadedPredictions) -> None:
    delete(given.key)
    visitor.predictions().remove(given)


def _facts(graph: Graph, given: Predictions, result: Result) -> dict[str, str]:
    judged = result.judged(graph)
    right = (judged.probs.argmax(axis=1) == judged.targets).mean()
    return {
        "Nodes": f"{graph.num_nodes:,}",
        "Classes": f"{len(given.classes)} of {graph.num_classes}",
        "Test nodes": f"{len(judged.nodes):,}",
        "Right on these": f"{right:.1%}",
        "Split": "yours" if given.parts is not None else "of this app",
    }


def _first_rows(graph: Graph, result: Result) -> None:
    first = range(min(ROWS, graph.num_nodes))
    table = pd.DataFrame(
        {
            "id": [graph.node_id(i) for i in first],
            "class": _names(graph, graph.labels[list(first)]),
            "says": _names(graph, result.predicted[list(first)]),
            "confidence": result.probs[list(first)].max(axis=1).round(3),
        }
    )
    st.markdown(f"**First {len(table)} of {graph.num_nodes:,} nodes**")
    st.dataframe(table, hide_index=True)
