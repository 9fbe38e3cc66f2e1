"""The runs of the lessons: the same as the dashboard trains, so that links open them at once."""

from typing import Any

from bup import datasets, metrics
from bup.explanation.reasons import Reasons
from bup.methods import complete, resolve_name
from bup.run.spec import Spec
from dashboard.cache import graphs, run_cache
from dashboard.cache.run_cache import LoadedRun
from dashboard.session import run_link
from dashboard.session.training import load_or_wait, submit
from dashboard.ui.numbers import percent

CALIBRATED: dict[str, Any] = resolve_name("gcn+temperature")[1]
"""Settings of a GCN whose confidence was corrected on the validation papers."""


def graph_name() -> str:
    """Cora, or the almanac where Cora has not been fetched."""
    return "cora" if datasets.is_available("cora") else "almanac"


def load_case(
    name: str,
    method: str,
    left_out: tuple[int, ...] = (),
    per_class: int = Spec.per_class,
    **settings: Any,
) -> LoadedRun:
    """Load a run as the dashboard would train it; the page waits here until it is trained."""
    graph = graphs.graph(name)
    spec = Spec.for_graph(graph, method, settings, left_out=left_out, per_class=per_class)
    return load_or_wait(complete(spec), graph)


def request_training(name: str, method: str, per_class: int) -> None:
    """Ask for the training of a run that the page needs later, without waiting for it."""
    graph = graphs.graph(name)
    spec = complete(Spec.for_graph(graph, method, per_class=per_class))
    if run_cache.find(spec, graph) is None:
        submit([spec], graph)


def link_correlation(case: LoadedRun) -> float:
    """Rank correlation of message uncertainty with the factor that links alone decide."""
    rule = case.propagation
    assert rule is not None and rule.factor is not None  # BUP under the published rule
    return metrics.spearman(rule.factor, case.result.scores()["message_std"], resamples=2).value


def supporters(reasons: Reasons) -> dict[str, str]:
    """How many nodes speak for an answer, and how much of it comes from those with labels."""
    say, ahead = reasons.graph.noun.apply_to, int((reasons.contributions > 0).sum())
    share = reasons.share(reasons.told)
    from_told = percent(share, 0) if share else "none"
    return {say("Nodes for it"): f"{ahead:,}", say("Support from told nodes"): from_told}


def query(case: LoadedRun, **more: str) -> list[tuple[str, str]]:
    """The parameters of a link that opens this run in the dashboard."""
    return [*run_link.parameters(case.spec, case.graph), *more.items()]
