"""What can be taken away: the command of a run, tables, the numbers behind a picture."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pandas as pd
import streamlit as st

from bup.methods import changed_settings
from bup.sheets import csv_text
from bup.spec import Spec, text_of
from dashboard.state import View


def command_line(spec: Spec) -> str:
    """The command that trains the same run."""
    words: list[object] = ["bup", "fit", "--graph", spec.graph, "--method", spec.method]
    words += ["--per-class", spec.per_class, "--seed", spec.seed]
    words += ["--validation", spec.validation, "--test", spec.test or 0]
    words += [word for c in spec.left_out for word in ("--left-out", c)]
    for name, value in changed_settings(spec).items():
        words += ["--set", f"{name}={text_of(value)}"]
    return shlex.join(map(str, words))


Export = Callable[[View], tuple[str, str, str]]
"""Makes a file name, its text and its type."""


def downloads(view: View, extra: dict[str, Export] | None = None) -> None:
    """Downloads at the end of every page, made only when somebody opens them."""
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
            view.known.table_csv,
            name,
            "text/csv",
            icon=":material/table:",
        )
        for label, make in (extra or {}).items():
            name, text, kind = make(view)
            st.download_button(label, text, name, kind, icon=":material/download:")
        st.caption("The camera button of a chart saves it as a picture.")


def numbers(frame: pd.DataFrame, name: str, key: str) -> None:
    """The numbers behind a picture, with a CSV."""
    with st.expander("The numbers", icon=":material/table:"):
        st.dataframe(frame, hide_index=True, width="stretch", key=f"{key}_table")
        st.download_button("CSV", csv_text(frame), f"{name}.csv", "text/csv", key=f"{key}_csv")
