"""The runs of one table or of all of them, and how long they take."""

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bup.calibrators import NONE
from bup.errors import BupError
from bup.experiments.protocols import Protocol, find_protocol
from bup.experiments.question import (
    PlannedRun,
    ResearchQuestion,
    choose_variants,
    load_graphs,
    plan_runs,
)
from bup.experiments.questions import QUESTIONS
from bup.experiments.shipped import ShippedResults
from bup.graph import Graph
from bup.run.spec import Run, Spec
from bup.training import fitting
from bup.training.cost import cost_of

ALL = "all"
Plans = list[tuple[ResearchQuestion, list[PlannedRun]]]


@dataclass(frozen=True)
class PlanRequest:
    """A question, or all of them, and what is requested in place of their defaults."""

    question: str
    graphs: Sequence[str] = ()
    sizes: Sequence[int] = ()
    labels: Sequence[str] = ()
    reruns: int | None = None
    protocol: str | None = None
    split: str | None = None
    everything: bool = False  # of all questions, what is left out of them by default too
    against: str | None = None  # the row that all others of its table are tested against


@dataclass(frozen=True)
class Exclusion:
    """A part of all questions that is left out unless it is requested."""

    questions: tuple[str, ...]
    methods: tuple[str, ...] = ()  # ("",): every method
    graphs: tuple[str, ...] = ()
    reruns: int = 0  # that stay
    why: str = ""

    def leaves_out(self, question: ResearchQuestion, run: PlannedRun) -> bool:
        return (
            question.name in self.questions
            and (not self.methods or run.variant in self.methods)
            and (not self.graphs or run.graph in self.graphs)
            and run.spec.seed - question.first_seed >= self.reruns
        )


EXCLUSIONS = (
    Exclusion(
        ("q1", "ood"),
        ("bbgdc", "bbde", "ggp", "ensemble"),
        ("pubmed",),
        reruns=2,
        why="each takes minutes there, where the others take seconds",
    ),
    Exclusion(("ood",), ("degem",), reruns=2, why="five minutes each"),
    Exclusion(("ood",), ("degem",), ("pubmed",), why="an hour each"),
)
"""With these, all questions take three hours on two cores."""


def make_plans(request: PlanRequest) -> tuple[Plans, dict[str, Graph]]:
    """Every run that is requested, question by question, and their graphs by name."""
    if request.question != ALL and request.question not in QUESTIONS:
        choices = ", ".join((*QUESTIONS, ALL))
        raise BupError(f"there is no question {request.question!r}: choose one of {choices}")
    every = request.question == ALL
    questions = list(QUESTIONS.values()) if every else [QUESTIONS[request.question]]
    names = request.graphs or [name for q in questions for name in q.graphs]
    graphs = load_graphs(dict.fromkeys(names))
    plans = []
    for question in questions:
        # What these compare are settings, not methods: among all questions they stay whole.
        whole = every and question.name in ("ablation", "rules", "sweep", "choices")
        chosen = choose_variants(question, [] if whole else request.labels)
        question = _against(question, request, [c.label for c in chosen or question.variants])
        here = {name: graphs[name] for name in request.graphs or question.graphs}
        planned = plan_runs(
            question, here, request.sizes, chosen, request.reruns, _protocols(question, request)
        )
        left_out = EXCLUSIONS if every and not request.everything else ()
        planned = [run for run in planned if not any(x.leaves_out(question, run) for x in left_out)]
        plans.append((question, planned))
    return plans, graphs


def _against(
    question: ResearchQuestion, request: PlanRequest, rows: Sequence[str]
) -> ResearchQuestion:
    reference = request.against
    if reference is None:
        reference = question.reference if question.reference in rows else rows[0]
    elif reference not in rows and request.question == ALL:
        reference = question.reference
    elif reference not in rows:
        raise BupError(
            f"{question.name} has no row {reference!r} to compare the others with: choose one of "
            f"{', '.join(rows)}"
        )
    return dataclasses.replace(question, reference=reference)


def _protocols(
    question: ResearchQuestion, request: PlanRequest
) -> Callable[[Graph], list[Protocol]]:
    def choose(graph: Graph) -> list[Protocol]:
        named = request.protocol
        protocols = question.protocols(graph) if named is None else [find_protocol(named, graph)]
        return [p.on(request.split) for p in protocols] if request.split else protocols

    return choose


def describe_exclusions() -> list[str]:
    """What ``all`` leaves out by default, and why."""
    texts = []
    for part in EXCLUSIONS:
        what = [", ".join(part.questions)]
        what += [f"of {', '.join(part.methods)}"] if part.methods else []
        what += [f"on {', '.join(part.graphs)}"] if part.graphs else []
        what += [f"beyond {part.reruns} reruns"] if part.reruns else []
        texts.append(f"{' '.join(what)}: {part.why}")
    return texts


USUAL_SHARE = 0.25  # of the estimated cost, which knows no early end, where nothing was measured
CALIBRATION = 0.5  # seconds, once the training that it shares with others is there


def estimate_seconds(
    plans: Plans, graphs: Mapping[str, Graph], measured: ShippedResults
) -> dict[Run, float]:
    """How long each run will train on one core: as long as similar runs did, else by its cost.

    Runs that differ in their calibration only share one training, counted for the first of them.
    """
    members = {
        fitting.run_of(planned_run.spec, graphs[planned_run.graph]): (question.name, planned_run)
        for question, planned in plans
        for planned_run in planned
    }
    costs = {
        run: cost_of(run, graphs[planned.graph]).seconds for run, (_, planned) in members.items()
    }
    seconds: dict[Spec, list[float]] = {}
    shares = []
    for run, (question, _) in members.items():
        row = measured.measured.get(question, {}).get(run.key, {})
        if "seconds" in row:
            seconds.setdefault(_kind(run.spec), []).append(row["seconds"])
            shares.append(row["seconds"] / costs[run])
    share = statistics.median(shares) if shares else USUAL_SHARE
    expected, trained = {}, set()
    for run in members:
        training = _uncalibrated(run.spec), run.digest
        similar = seconds.get(_kind(run.spec))
        whole = sum(similar) / len(similar) if similar else share * costs[run]
        expected[run] = min(whole, CALIBRATION) if training in trained else whole
        trained.add(training)
    return expected


def _uncalibrated(spec: Spec) -> Spec:
    settings = {**dict(spec.settings), "calibrate": NONE}
    return dataclasses.replace(spec, settings=tuple(settings.items()))


def _kind(spec: Spec) -> Spec:
    """What takes about as long: other seeds, labels and left-out classes make little difference."""
    spec = _uncalibrated(spec)
    return Spec(graph=spec.graph, method=spec.method, settings=spec.settings)
