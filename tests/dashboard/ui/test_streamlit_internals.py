"""Each use of Streamlit's internals, against the Streamlit that is installed.

A failure says what changed in Streamlit and which part of the app needs another way.
"""

import inspect
import re
import tomllib

import pytest
import streamlit as st
from packaging.requirements import Requirement
from streamlit.runtime import Runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import ScriptRunContext
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_routes

from dashboard.ui import streamlit_internals
from tests.support import ROOT

DASHBOARD = ROOT / "dashboard"


def changed(what: str, where: str) -> str:
    return f"Streamlit {st.__version__} {what}; dashboard/{where} needs another way"


def test_the_installed_version_is_one_that_was_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (ours,) = [
        r
        for r in map(Requirement, project["optional-dependencies"]["app"])
        if r.name == "streamlit"
    ]
    assert any(s.operator in ("<", "==") for s in ours.specifier), "pyproject.toml has no upper end"
    assert st.__version__ in ours.specifier, (
        f"pyproject.toml allows {ours.specifier}, installed is {st.__version__}: run the tests of "
        "this file and tests/browser with it, then change pyproject.toml and requirements.txt"
    )


def script() -> None:
    import streamlit as st

    from dashboard.ui import streamlit_internals

    st.session_state.found = (
        streamlit_internals.is_script_run(),
        streamlit_internals.session_id(),
        streamlit_internals.is_history_navigation(),
    )
    with streamlit_internals.widgets_of_page():
        st.text_input("Name", key="name")


@pytest.fixture
def app() -> AppTest:
    app = AppTest.from_function(script).run()
    assert not app.exception, changed(
        f"has no context of a script run as before ({app.exception})", "ui/streamlit_internals.py"
    )
    return app


def test_a_script_is_told_apart_from_an_import(app):
    assert not streamlit_internals.is_script_run()
    assert app.session_state.found[0], changed("hides that a script runs", "app.py")


def test_a_script_knows_its_session(app):
    assert streamlit_internals.session_id() == ""
    assert app.session_state.found[1], changed(
        "gives a script no session id", "network/visitor.py and session/training.py"
    )


def test_a_script_knows_whether_back_or_forward_started_it(app):
    assert app.session_state.found[2] is False
    assert "is_history_navigation" in ScriptRunContext.__dataclass_fields__, changed(
        "does not say whether the back button was pressed", "session/url.py"
    )


def test_widgets_in_a_fragment_can_belong_to_the_page(app):
    assert app.text_input("name").input("Ann").run().session_state.name == "Ann", changed(
        "does not let widgets belong to a page", "router.py, which draws the page in a fragment,"
    )


def test_a_session_can_be_asked_whether_it_is_connected():
    assert streamlit_internals.is_active_session("any"), "no server runs in this test"
    assert list(inspect.signature(Runtime.is_active_session).parameters) == [
        "self",
        "session_id",
    ], changed("does not say which sessions are connected", "session/training.py")


class Server:
    """As much of a running server as holds files, made of Streamlit's own classes."""

    def __init__(self) -> None:
        self.uploaded_file_mgr = MemoryUploadedFileManager("")
        self._session_mgr = WebsocketSessionManager(
            session_storage=MemorySessionStorage(),
            uploaded_file_manager=self.uploaded_file_mgr,
            script_cache=None,
            message_enqueued_callback=None,
        )


def test_files_of_ended_sessions_can_be_removed(monkeypatch):
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

    where = "uploads/quota.py, which bounds the memory that uploads take,"
    server = Server()
    monkeypatch.setattr(streamlit_internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: server)
    server.uploaded_file_mgr.add_file("gone", UploadedFileRec("1", "a.csv", "text/csv", b"12"))
    files = streamlit_internals.uploaded_files()
    assert [file.data for file in files["gone"].values()] == [b"12"], changed(
        "holds uploaded files elsewhere", where
    )
    streamlit_internals.remove_files_of_ended_sessions()
    assert not streamlit_internals.uploaded_files(), changed(
        "keeps the files of a session that has ended", where
    )
    assert {"uploaded_file_mgr", "_session_mgr"} <= {
        *dir(Runtime),
        *re.findall(r"self\.(\w+) =", inspect.getsource(Runtime.__init__)),
    }, changed("names the parts of its server otherwise", where)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("_stcore/health", "server/balancer.py, which waits for it,"),
        ("_stcore/metrics", "server/host_guard.py, which hides it,"),
        ("_stcore/upload_file", "uploads/quota.py, which counts what is sent there,"),
    ],
)
def test_streamlits_own_addresses_are_where_they_were(path, where):
    routes = [value for name, value in vars(starlette_routes).items() if "ROUTE" in name]
    assert path in routes, changed(f"has no /{path}", where)


def test_an_upload_address_names_its_session():
    found = streamlit_internals.UPLOAD_PATH.search("/app/_stcore/upload_file/session/file")
    assert found[1] == "session"


def test_streamlit_brings_its_own_plotly():
    bundle = streamlit_internals.plotly_bundle()
    where = "components/chart, which would send the library again with every page,"
    assert bundle, changed("has no file PlotlyChart.*.js", where)
    text = (streamlit_internals.STATIC / "static" / "js" / bundle).read_text()
    assert "Plotly" in text, changed("has no Plotly in PlotlyChart.*.js", where)


def test_streamlits_page_has_the_scripts_that_the_policy_allows():
    page = (streamlit_internals.STATIC / "index.html").read_text()
    inline = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", page)
    scripts = streamlit_internals.inline_scripts()
    assert len(scripts) == len(inline) and all(scripts), changed(
        "writes its inline scripts otherwise", "server/host_guard.py: browsers would refuse them,"
    )


def names_of_the_frontend() -> dict[str, set[str]]:
    """The test ids and classes that our styles and scripts look for, and the files that do."""
    found: dict[str, set[str]] = {}
    for path in sorted(DASHBOARD.rglob("*")):
        if path.suffix in (".py", ".js", ".css"):
            text = path.read_text()
            for name in re.findall(r"""(?:data-testid=["']?|(?<![\w-])\.)(st[A-Z]\w+)""", text):
                found.setdefault(name, set()).add(str(path.relative_to(DASHBOARD)))
    return found


def test_the_frontend_has_the_elements_that_our_styles_and_scripts_look_for():
    code = "".join(
        path.read_text() for path in (streamlit_internals.STATIC / "static" / "js").glob("*.js")
    )
    names = names_of_the_frontend()
    assert {"stMain", "stSidebar", "stApp"} <= names.keys()
    for name, files in names.items():
        assert name in code, changed(f"has no element {name}", " and ".join(sorted(files)))
    assert "test-script-state" in code or "testScriptState" in code, changed(
        "does not say in the page whether a script runs", "components/history/steps.js"
    )
