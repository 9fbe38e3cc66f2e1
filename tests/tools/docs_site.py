"""What ``make docs`` adds to the files in docs: README and others, pictures, drawn flowcharts."""

from __future__ import annotations

import re
from typing import Any

import pygraphviz
from mkdocs.structure.files import File, Files

from tests.support import ROOT

PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
_FLOWCHART = re.compile(r"```mermaid\nflowchart LR\n(.*?)```", re.DOTALL)
_ARROW = re.compile(r"(\w+)(?:\[(\".*?\")\])? --(?: (.*?) --)?> (\w+)(?:\[(\".*?\")\])?")


def on_files(files: Files, config: Any) -> Files:
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        for other, renamed in PAGES.items():
            text = text.replace(f"]({other})", f"]({renamed})")
        files.append(File.generated(config, page, content=text))
    for picture in sorted((ROOT / "assets").rglob("*.png")):
        path = picture.relative_to(ROOT).as_posix()
        files.append(File.generated(config, path, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, **about: Any) -> str:
    return _FLOWCHART.sub(_drawn, markdown.replace("](../assets/", "](assets/"))


def _drawn(chart: re.Match[str]) -> str:
    """A flowchart as SVG: the script that draws them in a browser comes from another server."""
    graph = pygraphviz.AGraph(directed=True, rankdir="LR", bgcolor="transparent", ranksep="0.3")
    graph.node_attr.update(shape="box", style="rounded", color="gray50", fontcolor="gray50")
    graph.node_attr.update(fontname="sans-serif", fontsize="11")
    graph.edge_attr.update(color="gray50", fontcolor="gray50", fontname="sans-serif", fontsize="10")
    for line in chart[1].splitlines():
        arrow = _ARROW.fullmatch(line.strip())
        if arrow is None:
            raise ValueError(f"a flowchart has a line of another form: {line!r}")
        first, first_words, said, last, last_words = arrow.groups()
        for name, words in ((first, first_words), (last, last_words)):
            if words:
                graph.add_node(name, label=words.strip('"').replace("<br>", "\n"))
        graph.add_edge(first, last, label=said or "")
    svg = graph.draw(format="svg", prog="dot").decode()
    wide = svg[svg.index("<svg") :].replace("<svg ", '<svg style="max-width: none" ', 1)
    return f'<div style="overflow-x: auto">{wide}</div>'
