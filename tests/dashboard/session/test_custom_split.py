"""A link to a run with a custom split opens it."""

import numpy as np

import bup
from bup.training import fitting

QUICK = {"epochs": 5}


def test_a_link_opens_a_run_with_a_split_of_its_own(open_app, stocked_cache, cora):
    order = np.random.RandomState(3).permutation(cora.num_nodes)
    result = bup.fit(cora, "gcn", split=np.split(order[:900], [300, 400]), **QUICK)
    fitting.save(result, cora)
    query = {"method": "GCN", "gcn.epochs": "5", "split": result.spec.split}
    app = open_app("reliability", **query)
    assert not app.exception and not app.error
    assert app.session_state["split"] == result.spec.split
    assert not any(button.label == "Train" for button in app.button)
