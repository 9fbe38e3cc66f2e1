"""An example of the tables of a graph, to look at and to download."""

import io
import zipfile

import streamlit as st

VOCABULARIES = {
    "cooking": ("flour", "oven", "salt", "butter", "knife", "recipe"),
    "music": ("melody", "violin", "chord", "rhythm", "singer", "concert"),
}
NODES = 120
SHOWN = 4  # lines of each table


def tables() -> dict[str, str]:
    """The text of each file: a graph of pages about two topics."""
    nodes, edges = ["id,label,title,text"], ["source,target"]
    for i in range(NODES):
        topic = list(VOCABULARIES)[i % 2]
        words = " ".join(VOCABULARIES[topic][(i // 2 + k) % 6] for k in range(4))
        nodes.append(f"page{i},{topic},Page {i} about {topic},{words}")
        edges += [f"page{i},page{(i + step) % NODES}" for step in (2, 6, 10, 15)]
    return {"nodes.csv": "\n".join(nodes), "edges.csv": "\n".join(edges)}


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in tables().items():
            archive.writestr(name, text)
    return content.getvalue()


def offer() -> None:
    st.markdown("**For example.** If your columns have other names, you can say which is which.")
    for column, (name, text) in zip(st.columns([3, 2]), tables().items(), strict=True):
        column.caption(name)
        column.code("\n".join([*text.splitlines()[:SHOWN], "..."]), language=None)
    st.download_button(
        "This graph as a zip, to try",
        zipped,
        "example.zip",
        "application/zip",
        icon=":material/download:",
        key="own_example",
    )
