"""Writes the files in ``fixtures`` with the code of commit 9bea6a9, before the folders were moved.

    git worktree add --detach /tmp/old 9bea6a9
    cp tests/compatibility/make_fixtures.py /tmp/old/ && cd /tmp/old
    BUP_CACHE=/tmp/old-cache PYTHONPATH=. python make_fixtures.py FOLDER

FOLDER is ``tests/compatibility/fixtures`` of this checkout. The imports are those of that commit.
"""

import dataclasses
import datetime
import gzip
import json
import re
import shutil
import sys
from pathlib import Path

import streamlit as st
from bup.own import run_of_predictions
from bup.spec import Spec
from dashboard.classes.question import Question
from dashboard.classes.register import Register
from dashboard.export.asked import asked
from dashboard.shelf import Known
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

import bup
from bup import files, predictions, runs
from bup.datasets import own
from bup.methods import METHODS, complete
from dashboard import state
from dashboard.export.page import page

FOLDER = Path(sys.argv[1]).resolve()
NAME = "synthetic:nodes=60,classes=3,words=20"
CLOCK = 1_700_000_000.0
PAGES: dict[str, dict[str, str | list[str]]] = {
    "explore": {
        "tab": "What if?",
        "pin": "7",
        "unlink": '["6"]',
        "link_to": "9",
        "hops": "1",
        "ego_score": "entropy",
        "stage": "1",
        "range": "0.1~0.9",
        "scale": "0.2~0.8",
        "lasso": "0,0;1,0;1,1",
        "before": '{"method": "gcn"}',
        "colour": "Predictive entropy",
        "show": ["Only test papers", "Only mistakes"],
        "plain": "1",
        "large": "true",
    },
    "reliability": {
        "bins": "15",
        "scheme": "equally many papers",
        "rival": "no other method",
        "coverage": "0.5",
        "set_level": "0.8",
        "set_rule": "no (APS)",
    },
    "ood": {
        "sought": "Mistakes",
        "ood_score": "Confidence",
        "alarms": "10",
        "ood_length": "top 50",
    },
    "structure": {"structure_score": "Confidence"},
    "reproduce": {"table": "Table 2: a class never seen", "table_graph": "Citeseer"},
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    expected: dict[str, object] = {"graph": NAME}
    graph = bup.load_graph(NAME)
    settings = dict(state.opening("bup")) | {"epochs": 5}
    result = bup.fit(graph, "bup", per_class=3, **settings)
    expected["run"] = result.spec.as_dict()
    expected["probs"] = result.probs[:3].tolist()
    expected["test"] = bup.evaluate(result, graph)["test"]
    runs.save(result, graph)
    result.save(FOLDER / "saved.bup")
    expected["key"] = runs.run_of(result.spec, graph).key
    shutil.copytree(files.cache_folder() / "runs", FOLDER / "runs", dirs_exist_ok=True)

    name = own.keep(dataclasses.replace(graph, notes=("uploaded",)), "My papers")
    given = predictions.checked(graph, result.probs)
    given = dataclasses.replace(given, title="My model")
    key = given.keep()
    run = run_of_predictions(graph, given, 3)
    expected |= {"own_graph": name, "own_digest": bup.load_graph(name).digest}
    expected |= {"predictions": key, "predictions_run": run.as_dict()}
    shutil.copytree(files.cache_folder() / "own", FOLDER / "own", dirs_exist_ok=True)

    desk = Register(FOLDER / "classes.sqlite", clock=lambda: CLOCK)
    lead = desk.start()
    ann, bob = desk.join(lead.code), desk.join(lead.code)
    question = Question("lesson", "Which?", ("this", "that", "none"), 1)
    desk.ask(lead, question)
    desk.guess(lead.code, ann, question, 1)
    desk.guess(lead.code, bob, question, 2)
    desk.reveal(lead, question)
    desk.send(lead, "/explore?node=3")
    expected["class"] = {"clock": CLOCK, "code": lead.code, "key": lead.key, "student": ann}

    known = [Known(runs.run_of(result.spec, graph), graph, result)]
    text = page(known, datetime.date(2026, 1, 2))
    # The scripts of the page are the same for every page, and large.
    text = re.sub(r'(<script type="module">|id="plotly">).*?(?=</script>)', r"\1", text, flags=re.S)
    (FOLDER / "page.html.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))

    expected["run_links"] = [run_link(method) for method in METHODS if method[:3] != "own"]
    common = dict(state.parameters(result.spec, graph)) | {"node": "5"}
    expected["views"] = [view(address, common | query) for address, query in PAGES.items()]
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def run_link(method: str) -> dict[str, object]:
    graph = bup.load_graph(NAME)
    settings = dict(state.opening(method)) | {"seed": 0}
    names = {f.name for f in dataclasses.fields(METHODS[method].settings)}
    changed = {"hidden": 16, "epochs": 7, "learning_rate": 0.03, "calibrate": "temperature"}
    settings = {k: v for k, v in (settings | changed).items() if k in names}
    spec = complete(
        Spec(
            graph=NAME, method=method, per_class=4, validation=state.usual_sizes(graph)[0],
            test=state.usual_sizes(graph)[1], left_out=(1,), seed=9,
            settings=tuple(settings.items()), split="",
        )
    )  # fmt: skip
    link = f"http://localhost:8501/explore?{state.link(spec, graph)}"
    return {"link": link, "spec": asked(link).as_dict()}


def view(address: str, query: dict[str, str | list[str]]) -> dict[str, object]:
    """What the widgets of a page hold after a link was opened."""
    st.cache_resource.clear()
    app = AppTest.from_file("dashboard/app.py", default_timeout=300)
    app.query_params.update(query)
    app._page_hash = calc_hash(address)
    app.run()
    assert not app.exception, app.exception
    keys = [key for key in query if key in app.session_state]
    values = {key: json.loads(json.dumps(app.session_state[key], default=str)) for key in keys}
    return {"address": address, "query": query, "values": values}


main()
