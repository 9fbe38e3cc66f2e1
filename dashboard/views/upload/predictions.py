"""Upload the predictions of your own model: drop the file, look at them, open them as a run."""

import dataclasses
from functools import partial

import pandas as pd
import streamlit as st

import bup
from bup.graph import PARTS, Graph
from bup.imported.predictions import Predictions, StoredPredictions, delete
from bup.io import limits
from bup.results.result import Result
from bup.run.splits import Split, usual_sizes
from bup.training import fitting
from bup.training.torch_model import spec_of_predictions
from dashboard.cache import graphs
from dashboard.network import visitor
from dashboard.session import navigation, run_link
from dashboard.ui.errors import show_errors
from dashboard.ui.markdown import escaped
from dashboard.ui.streamlit_internals import DeltaGenerator
from dashboard.uploads import reader
from dashboard.views import exports
from dashboard.views.upload.review import READING, digest, name_and_open, upload_row

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
    _uploaded_predictions()


def _split_choice(graph: Graph, left: DeltaGenerator, right: DeltaGenerator) -> tuple[int, int]:
    sizes = pd.Series(graph.labels[graph.labelled]).value_counts()
    usual = max(1, min(20, int(sizes.min()) // 3))
    per_class = left.number_input("Labels per class", 1, 100, usual, key="own_per_class")
    seed = right.number_input("Random seed", 0, 2**32 - 1, 0, key="own_seed")
    return int(per_class), int(seed)


def _offer_split(graph: Graph, split: Split) -> None:
    """The split that other methods train on, as CSV: a fair comparison uses the same one."""
    part = pd.Series("", index=range(graph.num_nodes))
    for name in PARTS:
        part[getattr(split, name)] = name
    ids = [graph.node_id(i) for i in range(graph.num_nodes)]
    table = pd.DataFrame({"id": ids, "label": _names(graph, graph.labels), "split": part})
    exports.csv_button("The split of the other methods (CSV)", table, "split")
    st.caption(
        "If your file has no column split, your model is tested on the test nodes of this split. "
        "Train it on the training nodes of the split: a model that has seen the test nodes looks "
        "better than it is. If your file has a split, your model is tested on that one. The "
        "methods of this app still train on this split, and are compared with your model on the "
        "nodes that are test nodes of both."
    )


def _names(graph: Graph, labels: object) -> list[str]:
    return [graph.class_names[c] if c >= 0 else "" for c in pd.Series(labels).tolist()]


def _review(graph: Graph, file: str, content: bytes, per_class: int, seed: int) -> None:
    key = (digest([(file, content)]), graph.digest, per_class, seed)
    if st.session_state.get("own_run", (None,))[0] != key:
        with st.spinner(READING):
            run = _run(graph, file, content, per_class, seed)
        st.session_state.own_run = key, run
    given, result = st.session_state.own_run[1]
    name, facts = file.rpartition(".")[0][:40], _facts(graph, given, result)
    title, opened = name_and_open(facts, name, "Open as a run", "own_run")
    _first_rows(graph, result)
    if opened:
        given = dataclasses.replace(given, title=title or "mine")
        given.save(visitor.uploader())
        fitting.save(result, graph)
        visitor.predictions().append(
            StoredPredictions(given.key, given.title, graph.digest, given.classes, given.method)
        )
        navigation.switch_page("explore", run_link.parameters(result.spec, graph))


def _run(
    graph: Graph, file: str, content: bytes, per_class: int, seed: int
) -> tuple[Predictions, Result]:
    given = reader.read_predictions(graph, file, content)
    given.register()
    return given, fitting.fit_specs(graph, [spec_of_predictions(graph, given, per_class, seed)])[0]


def _uploaded_predictions() -> None:
    """The predictions that this visitor uploaded, with buttons that delete them."""
    if not visitor.predictions():
        return
    st.subheader("Your predictions")
    st.caption("Compare and Reliability offer them for comparison with other runs.")
    for given in list(visitor.predictions()):
        upload_row(
            given.key,
            partial(st.markdown, f"**{escaped(given.title)}**"),
            f"key {given.key}, kept for {limits.DAYS.value} days after their last use",
            "Deletes the predictions and every run of them, now.",
            partial(_delete, given),
        )


def _delete(given: StoredPredictions) -> None:
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
