"""Upload a graph: drop files, say what the columns are, look at the graph, open it."""

import dataclasses
from functools import partial

import pandas as pd
import streamlit as st

from bup.datasets import uploads
from bup.datasets.tables.csv import DECIMALS, SEPARATORS
from bup.datasets.uploads.graph_tables import ROWS, ColumnChoice, TablePreview
from bup.datasets.uploads.store import SHARE_PER_VISITOR
from bup.graph import Graph, describe
from bup.io import limits
from dashboard.cache import graphs
from dashboard.cache.shared_cache import cached
from dashboard.network import visitor
from dashboard.session import navigation
from dashboard.ui.errors import show_errors
from dashboard.ui.markdown import escaped
from dashboard.uploads import reader
from dashboard.views.upload import example
from dashboard.views.upload.review import READING, digest, name_and_open, upload_row

NOTHING = "(none)"
AUTOMATIC = "Automatic"
WORDS, COLUMNS, BOTH = "Words of a text", "Columns of numbers", "Words and numbers"
FILE, LINKS_ONLY = "From the file", "None"
KINDS = ["csv", "tsv", "txt", "npz", "zip", "graphml", "gexf", "gml", "json"]


def graph() -> None:
    st.markdown(
        "Drop **nodes.csv** and **edges.csv** (and **features.npz**), a **zip** of them, or one "
        "**GraphML**, **GEXF**, **GML** or node-link **JSON** file. Nodes need an id and, most of "
        "them, a class; links name the ids at their two ends."
    )
    st.caption(
        f"At most {limits.UPLOAD_MB.value} MB, {limits.NODES.value:,} nodes and "
        f"{limits.LINKS.value:,} links. What you open is kept on this server, under a link that "
        f"only you know, for {limits.DAYS.value} days after it was last opened. You can keep "
        f"{int(limits.SPACE_MB.value * SHARE_PER_VISITOR):,} MB; beyond that, the server deletes "
        "what you have not opened for longest."
    )
    reader.POOL.warm()
    files = st.file_uploader(
        "Files of one graph",
        KINDS,
        accept_multiple_files=True,
        key="own_files",
        max_upload_size=limits.UPLOAD_MB.value,
    )
    if files:
        with show_errors():
            _review([(file.name, file.getvalue()) for file in files])
    else:
        example.offer()
    _uploaded_graphs()


def _review(files: list[tuple[str, bytes]]) -> None:
    """Show the graph of the files and how they are read.

    The graph and the button that opens it come first: the columns are mostly guessed right.
    """
    result, options = st.container(), st.container()
    with options:
        separator, decimal = _choose_format()
    key = digest(files)
    preview = _preview(key, files, separator, decimal)
    with options:
        choice = _choose_columns(preview, decimal)
    graph = _graph(key, files, separator, choice)
    with result:
        name = files[0][0].rpartition(".")[0][:40] if len(files) == 1 else "my graph"
        title, opened = name_and_open(_facts(graph), name, "Open this graph", "own")
        if graph.notes:
            st.info("\n".join(f"- {escaped(note)}" for note in graph.notes))
    _first_rows(preview, graph)
    if opened:
        name = uploads.save(graph, title, visitor.uploader())
        visitor.graphs().append(name)
        navigation.switch_page("explore", _query(name, graph))


@cached(by=lambda key, files, separator, decimal: (key, separator, decimal))
def _preview(
    key: str, files: list[tuple[str, bytes]], separator: str | None, decimal: str | None
) -> TablePreview:
    """What the files hold. The graph of the guessed columns comes along, and is cached as well."""
    with st.spinner(READING):
        preview, graph = reader.read_graph_files(files, separator, decimal)
    if graph is not None:
        _graph(key, files, separator, preview.guess, graph)
    return preview


@cached(by=lambda key, files, separator, choice, graph=None: (key, separator, choice))
def _graph(
    key: str,
    files: list[tuple[str, bytes]],
    separator: str | None,
    choice: ColumnChoice,
    graph: Graph | None = None,
) -> Graph:
    if graph is not None:
        return graph
    with st.spinner(READING):
        return reader.read_graph(files, separator, choice)


def _choose_format() -> tuple[str | None, str | None]:
    with st.expander("How tables are read"):
        left, right = st.columns(2)
        separator = left.selectbox("Separator", [AUTOMATIC, *SEPARATORS], key="own_separator")
        decimal = right.selectbox("Decimal mark", [AUTOMATIC, *DECIMALS], key="own_decimal")
        st.caption("UTF-8, UTF-16 and Latin-1 are recognized automatically.")
    return SEPARATORS.get(separator), DECIMALS.get(decimal)


def _choose_columns(preview: TablePreview, decimal: str | None) -> ColumnChoice:
    """A widget for each column that matters, set to the guess."""
    guess = preview.guess
    nodes, ends = list(preview.nodes), list(preview.edges)
    st.subheader("What are the columns?")
    one, two, three, four, five = st.columns(5)
    with one:
        id = _column("Id of a node", nodes, guess.id, "own_id", "row numbers, from 0")
    with two:
        label = _column("Class", nodes, guess.label, "own_label", NOTHING)
    with three:
        title = _column("Title", nodes, guess.title, "own_name", NOTHING)
    with four:
        source = _column("Link from", ends, guess.source, "own_source")
    with five:
        target = _column("Link to", ends, guess.target, "own_target")
    offered = [WORDS, COLUMNS, BOTH, *([FILE] if preview.has_features else []), LINKS_ONLY]
    usual = WORDS if guess.text else COLUMNS if guess.features else offered[-1]
    usual = FILE if preview.has_features else usual
    left, right = st.columns([2, 3])
    kind = left.segmented_control(
        "Features",
        offered,
        default=usual,
        required=True,
        key="own_kind",
        help="What a model learns from, besides links. Words are weighted by TF-IDF, and shown.",
    )
    choice = ColumnChoice(label, source or ends[0], target or ends[-1], id, title, decimal=decimal)
    if kind in (WORDS, BOTH):
        text = right.multiselect("Text", nodes, guess.text, key="own_text")
        if not text:
            right.caption("Choose at least one column of text.")
        choice = dataclasses.replace(choice, text=tuple(text))
    if kind in (COLUMNS, BOTH):
        able = [column for column in preview.numeric if column not in (id, label)]
        usual_columns = [c for c in guess.features if c in able] if kind == COLUMNS else able
        chosen = right.multiselect("Columns", able, usual_columns, key="own_columns")
        choice = dataclasses.replace(choice, features=tuple(chosen))
    return choice


def _column(
    label: str, columns: list[str], usual: str | None, key: str, none: str | None = None
) -> str | None:
    options = [*([none] if none else []), *columns]
    index = options.index(usual) if usual in options else 0
    chosen = st.selectbox(label, options, index, key=key)
    return None if chosen == none else chosen


def _facts(graph: Graph) -> dict[str, str]:
    homophily = graph.homophily
    return {
        "Nodes": f"{graph.num_nodes:,}",
        "Links": f"{graph.num_edges:,}",
        "Classes": f"{graph.num_classes}",
        "Words" if graph.words else "Features": f"{graph.num_features:,}",
        "Homophily": "unknown" if homophily is None else f"{homophily:.2f}",
    }


def _first_rows(preview: TablePreview, graph: Graph) -> None:
    sizes = pd.DataFrame(describe(graph)["class_sizes"].items(), columns=["Class", "Nodes"])
    left, right = st.columns([1, 2])
    with left:
        st.markdown("**Classes**")
        st.dataframe(sizes, hide_index=True, height=215)
    with right:
        first = min(ROWS, preview.num_nodes)
        st.markdown(f"**First {first} of {preview.num_nodes:,} nodes**")
        st.dataframe(pd.DataFrame(preview.nodes), hide_index=True, height=215)
    with st.expander("First links"):
        st.dataframe(pd.DataFrame(preview.edges), hide_index=True)


def _query(name: str, graph: Graph) -> dict[str, str]:
    """The parameters of a link to a graph; small classes get fewer labels per class."""
    smallest = int(pd.Series(graph.labels[graph.labelled]).value_counts().min())
    fewer = {"per_class": str(max(1, smallest // 3))} if smallest < 60 else {}
    return {"graph": name} | fewer


def _uploaded_graphs() -> None:
    """The graphs that this visitor uploaded, with links and buttons that delete them."""
    names = visitor.graphs()
    if not names:
        return
    st.subheader("Your graphs")
    st.caption(
        "Only people who have the link to a graph can find and open it. Keep the links: this list "
        "ends with your visit, and no other page lists your graphs."
    )
    for name in list(names):
        with show_errors():
            until = uploads.STORE.expires_at(uploads.token_of(name))
            query = _query(name, graphs.graph(name))
            title = escaped(uploads.title_of(name))
            upload_row(
                name,
                partial(navigation.page_link, "explore", title, ":material/hub:", query),
                f"kept until {until:%d %B %Y}, and longer if it is opened",
                "Deletes the graph and every run on it, now.",
                partial(_delete, name),
            )


def _delete(name: str) -> None:
    uploads.delete(name)
    if name in visitor.graphs():
        visitor.graphs().remove(name)
