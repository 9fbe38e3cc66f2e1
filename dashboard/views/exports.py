"""What can be taken away: the command of a run, tables, the numbers behind a picture."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Sequence

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


def downloads(
    view: View, extra: dict[str, Export] | None = None, others: Sequence[View] = ()
) -> None:
    """Downloads at the end of every page, made only when somebody opens them.

    ``others`` are runs that the page holds against the chosen one.
    """
    with st.expander(
        "Command and downloads", icon=":material/download:", key="exports", on_change="rerun"
    ) as box:
        if not box.open:
            return
        st.caption("The command that trains this run again, on any machine:")
        st.code(command_line(view.spec), language="sh")
        name = f"{view.run.key}-nodes.csv"
        st.download_button(
            view.say("All nodes as CSV"),
            view.loaded_run.table_csv,
            name,
            "text/csv",
            icon=":material/table:",
        )
        _web_page([view, *others])
        for label, make in (extra or {}).items():
            name, text, kind = make(view)
            st.download_button(label, text, name, kind, icon=":material/download:")
        st.caption("The camera button of a chart saves it as a picture.")


def _web_page(views: Sequence[View]) -> None:
    """All of it as one file that needs no server; made by another thread when somebody clicks."""
    view, several = views[0], len(views) > 1
    if why := refusal(view.graph, len(views)):
        st.caption(f"No web page of this: {escaped(why)}.")
        return
    loaded_run, client = tuple(one.loaded_run for one in views), visitor.client()
    st.download_button(
        "These runs as a web page" if several else "This run as a web page",
        lambda: _made(loaded_run, datetime.date.today(), client),
        f"{view.run.key}.html",
        "text/html",
        icon=":material/public:",
        help=view.say(
            "Map, charts and what the model says of every node, in one file that opens without a "
            "server or a network. It takes some seconds to make."
        ),
    )
    if why := PAGES.refusal(client):
        st.caption(f"No new web page now: {why}.")


@cached(by=lambda loaded_run, day, client: (tuple(map(_identity, loaded_run)), day))
def _made(loaded_run: Sequence[LoadedRun], day: datetime.date, client: Client) -> str:
    with PAGES.one(client):
        return page(loaded_run, day)


def _identity(loaded_run: LoadedRun) -> Hashable:
    """A run, and on which of its nodes it is tested."""
    return loaded_run.run, loaded_run.result.split.test.tobytes()


def numbers(frame: pd.DataFrame, name: str, key: str) -> None:
    """The numbers behind a picture, with a CSV, made only when somebody opens them."""
    with st.expander(
        "The numbers", icon=":material/table:", key=f"{key}_numbers", on_change="rerun"
    ) as box:
        if not box.open:
            return
        if len(frame) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS:,} of {len(frame):,} rows; the CSV has all of them.")
        shown = frame.head(MOST_ROWS)
        st.dataframe(shown, hide_index=True, width="stretch", key=f"{key}_table")
        st.download_button("CSV", csv_text(frame), f"{name}.csv", "text/csv", key=f"{key}_csv")
