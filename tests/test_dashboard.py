from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = str(Path(__file__).parent.parent / "dashboard" / "app.py")


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "synthetic"])
def test_the_first_page_shows_the_figures_of_a_graph(name):
    app = AppTest.from_file(APP, default_timeout=60).run()
    app.selectbox[0].select(name).run()
    assert not app.exception
    figures = {metric.label: metric.value for metric in app.metric}
    expected = {"cora": "5,278", "citeseer": "4,552", "pubmed": "44,324"}
    assert name not in expected or figures["Citations"] == expected[name]
