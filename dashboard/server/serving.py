"""The app as an ASGI application: Streamlit's pages, our routes and middleware."""

import asyncio
import shlex
import socket
import subprocess
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import streamlit as st
import uvicorn
from starlette.middleware import Middleware

import bup
from bup import datasets
from bup.io import memory
from dashboard.classroom import polling
from dashboard.components import static_files
from dashboard.network import open_files
from dashboard.network.clients import ClientCookies
from dashboard.network.request_timeout import TimeoutProtocol
from dashboard.server.host_guard import HostGuard
from dashboard.server.page_head import PageHead
from dashboard.uploads.quota import UploadQuota

SCRIPT = Path(__file__).parent.parent / "app.py"


def application(
    script: Path | str = SCRIPT,
    prepare: bool = False,
    announce: Callable[[bool], str] | None = None,
) -> st.App:
    """The app for any ASGI server; Streamlit's options are in ``.streamlit`` beside the script."""
    return st.App(script, **app_options(prepare, announce))


def app_options(
    prepare: bool = False, announce: Callable[[bool], str] | None = None
) -> dict[str, Any]:
    """The options of ``st.App`` besides its script.

    ``prepare`` loads the graphs and trains the run of the first page before the server answers.
    ``announce`` is called when it does. It is told whether there is a screen, on which a browser
    then opens the page that it returns.
    """

    @asynccontextmanager
    async def lifespan(app: st.App) -> AsyncIterator[None]:
        memory.share_freed_memory()
        open_files.raise_limit()
        await asyncio.to_thread(_prepare, prepare)
        if announce is not None:
            screen = not st.get_option("server.headless")
            page = announce(screen)
            if screen:
                webbrowser.open(page)
        yield

    return {
        "lifespan": lifespan,
        "routes": [*static_files.routes(), *polling.routes()],
        "middleware": [
            Middleware(HostGuard),
            Middleware(ClientCookies),
            Middleware(UploadQuota),
            Middleware(PageHead),
        ],
    }


def serve(app: st.App, listening: socket.socket) -> None:
    """Serve until interrupted."""
    options = uvicorn.Config(
        app,
        http=TimeoutProtocol,
        ws="websockets-sansio",
        ws_max_size=st.get_option("server.maxMessageSize") * 2**20,
        log_level="warning",
        proxy_headers=False,  # ``ClientCookies`` reads them
    )
    uvicorn.Server(options).run(sockets=[listening])


def _prepare(prepare: bool) -> None:
    """Import what pages need, so that the first visitor does not wait for it."""
    if prepare:
        _get_graphs()
    import_module("dashboard.router")
    # A click is little work in one of many threads; more threads would only wait for cores.
    import_module("torch").set_num_threads(1)
    if prepare:
        _train_first_run()


def _get_graphs() -> None:
    for source in datasets.SOURCES:
        if source.is_cached is not None and not source.is_available(source.name):
            print(f"getting {source.name} ...", flush=True)
            try:
                bup.load_graph(source.name)
            except bup.BupError as error:
                print(f"bup: {error}", file=sys.stderr)


def _train_first_run() -> None:
    from bup.methods import command_line
    from bup.training import fitting
    from dashboard.session import run_link

    graph = bup.load_graph(run_link.graph_names()[0])
    spec = run_link.default_spec(graph)
    if fitting.load(spec, graph) is not None:
        return
    print("training the model that the first page shows ...", flush=True)
    arguments = shlex.split(command_line(spec))[1:]
    # In another process, whose memory is freed when it ends; the page reports a failure.
    subprocess.run(
        [sys.executable, "-m", "bup.cli", *arguments], stdout=subprocess.DEVNULL, check=False
    )
