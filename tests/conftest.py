import os
import sys

# Before torch is imported anywhere: two test workers share two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Iterator

import hypothesis
import numpy as np
import pytest
from scipy import sparse
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

import bup
from bup.graph import Graph, simple_edges

# No test measures time, its own included.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _own_main_module() -> Iterator[None]:
    """A tried page leaves its script as the main module, which new processes would then run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def cora() -> Graph:
    return bup.load_graph("cora")


@pytest.fixture(scope="session")
def citeseer() -> Graph:
    return bup.load_graph("citeseer")


@pytest.fixture(scope="session")
def pubmed() -> Graph:
    return bup.load_graph("pubmed")


@pytest.fixture
def path_graph() -> Graph:
    """0 - 1 - 2 - 3 and 4 on its own; classes a, a, b, b, unknown."""
    return Graph(
        name="path",
        features=sparse.csr_array(np.eye(5, dtype=np.float32)),
        edges=simple_edges(np.array([0, 1, 2]), np.array([1, 2, 3])),
        labels=np.array([0, 0, 1, 1, -1]),
        class_names=("a", "b"),
        ids=("n0", "n1", "n2", "n3", "n4"),
    )


@pytest.fixture(scope="session")
def run(cora) -> bup.Result:
    """A short training, enough to draw; one class is left out."""
    return bup.fit(cora, epochs=25, left_out=[6])


@pytest.fixture(scope="session")
def rival(cora) -> bup.Result:
    """The same by a method without variances."""
    return bup.fit(cora, method="gcn", epochs=25, left_out=[6])


@pytest.fixture(scope="session")
def go_to() -> Callable[[AppTest, str], AppTest]:
    """Open a page by its address: ``AppTest.switch_page`` knows only pages that are files."""

    def go(app: AppTest, address: str) -> AppTest:
        app._page_hash = calc_hash(address)
        return app.run()

    return go


@pytest.fixture(scope="session")
def stocked_cache(tmp_path_factory, cora):
    """A cache folder with Cora and a few finished runs, as a visitor would find it."""
    from bup.datasets import citation
    from bup.experiments.variants import PUBLISHED
    from bup.graph.storage import pack
    from bup.methods import METHODS
    from bup.training import fitting

    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("BUP_CACHE")
    os.environ["BUP_CACHE"] = str(folder)
    try:
        path = citation.cache_path("cora")
        path.parent.mkdir(parents=True)
        path.write_bytes(pack(cora))
        for method in ("bup", "gcn", "energy"):
            for left_out in ((), (6,)):
                # As tables have it, by default, and as the app opens.
                published = PUBLISHED if method == "bup" else {}
                for settings in (published, {}, METHODS[method].app_defaults):
                    fitting.save(bup.fit(cora, method, left_out=left_out, **settings), cora)
    finally:
        os.environ.pop("BUP_CACHE")
        if before is not None:
            os.environ["BUP_CACHE"] = before
    return folder
