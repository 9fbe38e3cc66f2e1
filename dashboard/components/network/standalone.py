"""The network around one node as a file of its own."""

import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyvis.network

from dashboard.components.network import NAMED, SETTLING, options
from dashboard.components.network.ego import EgoNetwork, legend
from dashboard.components.shared.modules import bundle
from dashboard.ui.theme import score_colours

SCRIPT = Path(__file__).with_name("standalone.js")


@cache
def _template() -> Any:
    """The template of pyvis, which takes long to compile.

    It is rendered here, because pyvis shows every hover text as HTML once one contains "href".
    """
    net = pyvis.network.Network(cdn_resources="in_line")
    return net.templateEnv.get_template(net.path)


def standalone_html(ego: EgoNetwork) -> str:
    """The network as one HTML file that makes no requests."""
    theme = ego.theme
    page = _template().render(
        nodes=ego.nodes,
        edges=ego.edges,
        options=json.dumps(options(theme) | {"physics": SETTLING}),
        heading="",
        width="100%",
        height="calc(100vh - 5rem)",
        bgcolor=theme.background,
        cdn_resources="in_line",
        tooltip_link=False,
    )
    name = html.escape(ego.nodes[0]["label"])
    # Between two empty headings the template loads bootstrap from the internet.
    page, found = re.subn("<center>.*</center>", "", page, count=1, flags=re.DOTALL)
    assert found, "pyvis has another template: check what it loads"
    scale = ", ".join(score_colours(np.linspace(0, 1, 9), theme, ego.doubt))
    head = f"""<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>The network around {name}</title>
<style>
 body {{ margin: 0; background: {theme.background}; color: {theme.text};
  font: {theme.font_size}px/1.5 sans-serif; }}
 #mynetwork {{ border: 0 !important; }}
 .vis-tooltip {{ white-space: pre-line !important; }}
 .legend {{ clear: both; margin: 0; padding: .5rem 1rem; }}
 .legend i {{ display: inline-block; width: 8rem; height: .8em; margin: 0 .4em;
  background: linear-gradient(90deg, {scale}); }}
</style>"""
    foot = f"""<p class="legend">The network around {name}, coloured by {html.escape(ego.score)}:
 {ego.low:.3g}<i></i>{ego.high:.3g}<br>{legend(ego)} · scroll: zoom, double-click: fit</p>
<script>var settings = {{ fontSize: {theme.font_size}, named: {NAMED} }};
{bundle(SCRIPT)}</script>
</body>"""
    page = page.replace('<meta charset="utf-8">', head, 1).replace("</body>", foot)
    return f"<!DOCTYPE html>\n{page}"
