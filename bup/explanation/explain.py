"""``bup.explain``: why a run gives its answer for one node, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bup.explanation import sentences
from bup.explanation.changes import Change, ChangeSearch
from bup.explanation.reasons import Reasoner, Reasons
from bup.graph import Graph
from bup.results.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Explanation:
    """The reasons of one answer, and the smallest changes found that give another one."""

    reasons: Reasons
    links: Change | None
    words: Change | None
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def table(self) -> pd.DataFrame:
        """One row per node within reach, see :meth:`Reasons.table`."""
        return self.reasons.table()

    def figure(self) -> Any:
        """The strongest contributions as a Plotly figure."""
        return self.reasons.figure()


def explain(
    result: Result,
    node: int | str,
    against: int | str | None = None,
    graph: Graph | None = None,
) -> Explanation:
    """Explain why a run gives its answer for a node rather than another class.

    Parameters
    ----------
    result : Result
        The run.
    node : int or str
        The node, by its index or its id.
    against : int or str, default None
        The class to compare the answer with, by its number or name; None: the true class of a
        mistake if the model knows it, else the runner-up.
    graph : Graph, default None
        The graph that the run was trained on; None: the one that the result has.

    Returns
    -------
    Explanation
        Prints as a few sentences; ``table()`` has the contribution of every node within reach,
        ``figure()`` draws the strongest ones, ``links`` and ``words`` are what changes the answer.

    Raises
    ------
    BupError
        If there is no such node or class, or the answers of the method are no sum over words.

    Examples
    --------
    >>> import bup
    >>> result = bup.fit("synthetic:nodes=60,classes=2,words=20", per_class=5, epochs=3)
    >>> why = bup.explain(result, node=35)
    >>> bool(abs(why.table().contribution.sum() - why.reasons.gap) < 1e-6)
    True
    """
    reasoner = Reasoner(result.get_graph() if graph is None else graph, result)
    search, reasons = ChangeSearch(reasoner), reasoner.explain(node, against)
    links, words = search.fewest_links(reasons), search.fewest_words(reasons)
    texts = (
        sentences.because(reasons),
        sentences.unless(reasons, search, links),
        sentences.without_words(reasons, words),
    )
    return Explanation(reasons, links, words, tuple(filter(None, texts)))
