"""Downloads: the command of a run, tables, the numbers of a chart, a run as a web page."""

import datetime
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st

from bup.io.csv import csv_text
from bup.methods import command_line
from dashboard.cache.run_cache import LoadedRun
from dashboard.cache.shared_cache import cached
from dashboard.export.page import page, refusal
from dashboard.network import visitor
from dashboard.network.clients import Client
from dashboard.network.rate_limits import RateLimit
from dashboard.session.view import View
from dashboard.ui.markdown import escaped

MOST_ROWS = 1000
PAGES = RateLimit("web pages", most=6, seconds=600)
Export = Callable[[View], tuple[str, str, str]]
"""Makes a file name, its text and its type."""


def csv_button(label: str, table: pd.DataFrame, name: str, **options: Any) -> None:
    """A button that downloads a table as CSV, which is written at the click."""
    icon = {"icon": ":material/download:"}
    st.download_button(label, lambda: csv_text(table), f"{name}.csv", "text/csv", **icon | options)


def downloads(
    view: View,
    extra: Mapping[str, Export] = MappingProxyType({}),
    compared: Sequence[View] = (),
) -> None:
    """The downloads at the end of every page, made when the visitor opens them.

    ``compared`` are the runs that the page compares with the chosen one.
    """
    with st.expander(
        "Command and downloads", icon=":material/download:", key="exports", on_change="rerun"
    ) as box:
        if not box.open:
            return
        st.caption("The command that trains this run again, on any machine:")
        st.code(command_line(view.spec), language="sh")
        st.download_button(
            view.say("All nodes as CSV"),
            view.loaded_run.table_csv,
            f"{view.run.key}-nodes.csv",
            "text/csv",
            icon=":material/table:",
        )
        _web_page_button([view, *compared])
        for label, make in extra.items():
            name, text, kind = make(view)
            st.download_button(label, text, name, kind, icon=":material/download:")
        st.caption("The camera button of a chart saves the chart as a picture.")


def _web_page_button(views: Sequence[View]) -> None:
    """A button that makes and downloads the runs as one file that needs no server."""
    view = views[0]
    if why := refusal(view.graph, len(views)):
        st.caption(f"There is no web page of this: {escaped(why)}.")
        return
    runs, client = tuple(v.loaded_run for v in views), visitor.client()
    st.download_button(
        "These runs as a web page" if len(views) > 1 else "This run as a web page",
        lambda: _web_page(runs, datetime.date.today(), client),
        f"{view.run.key}.html",
        "text/html",
        icon=":material/public:",
        help=view.say(
            "Map, charts and what the model says of every node, in one file that opens without a "
            "server or a network. Making it takes some seconds."
        ),
    )
    if why := PAGES.refusal(client):
        st.caption(f"No new web page now: {why}.")


@cached(by=lambda runs, day, client: (tuple(map(_identity, runs)), day))
def _web_page(runs: Sequence[LoadedRun], day: datetime.date, client: Client) -> str:
    with PAGES.acquire(client):
        return page(runs, day)


def _identity(run: LoadedRun) -> Hashable:
    """What a web page of a run depends on: the run and its test nodes."""
    return run.run, run.result.split.test.tobytes()


def show_numbers(frame: pd.DataFrame, name: str, key: str) -> None:
    """The numbers of a chart as a table and as CSV, made when the visitor opens them."""
    with st.expander(
        "The numbers", icon=":material/table:", key=f"{key}_numbers", on_change="rerun"
    ) as box:
        if not box.open:
            return
        if len(frame) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS:,} of {len(frame):,} rows; the CSV has all of them.")
        rows = frame.head(MOST_ROWS)
        st.dataframe(rows, hide_index=True, width="stretch", key=f"{key}_table")
        csv_button("CSV", frame, name, icon=None, key=f"{key}_csv")
