"""What leaves as CSV is text, whatever the data are called."""

import csv
import io
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bup.io.csv import csv_text
from tests.support import ROOT


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-cmd", "@x", "\t=1", " =1", "\r=1", "|x", "%0A"),
        *("\uff1d1", "\u200b=1", "\ufeff@x"),
    ],
)
def test_no_text_is_a_formula(text):
    rows = list(csv.reader(io.StringIO(csv_text(pd.DataFrame({"=id": [text], "n": [-1.5]})))))
    assert rows == [["'=id", "n"], ["'" + text, "-1.5"]]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_every_cell_is_the_text_or_the_text_after_an_apostrophe(texts):
    written = csv_text(pd.DataFrame({"id": texts, "n": range(len(texts))}))
    read = [row[0] for row in csv.reader(io.StringIO(written, newline=""), strict=True)][1:]
    for cell, text in zip(read, texts, strict=True):
        assert cell in (text, "'" + text)
        assert not cell.lstrip().startswith(("=", "+", "-", "@"))


def test_every_csv_that_leaves_the_app_goes_through_the_same_guard():
    writers = re.compile(r"to_csv\(|csv\.writer|DictWriter")
    found = [
        path.relative_to(ROOT).as_posix()
        for folder in ("bup", "dashboard")
        for path in sorted((ROOT / folder).glob("**/*.py"))
        if writers.search(path.read_text())
    ]
    assert found == ["bup/io/csv.py"]
