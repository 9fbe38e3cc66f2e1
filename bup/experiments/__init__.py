"""The paper's questions, and ours, as grids of runs that end in tables beside its own."""

# ruff: noqa: F401 (names for ``bup.experiments.NAME``)

from bup.experiments.comparisons import Comparison, comparisons
from bup.experiments.measures import (
    calibration_numbers,
    distance_to_truth,
    epistemic_score,
    ood_numbers,
    rule_numbers,
    validation_numbers,
)
from bup.experiments.plans import (
    ALL,
    PlanRequest,
    describe_exclusions,
    estimate_seconds,
    make_plans,
)
from bup.experiments.protocols import PROTOCOLS, Protocol, find_protocol, published_protocols
from bup.experiments.question import (
    CELL,
    PlannedRun,
    Quantity,
    ResearchQuestion,
    choose_variants,
    load_graphs,
    measured_rows,
    plan_runs,
    to_frame,
)
from bup.experiments.questions import QUESTIONS
from bup.experiments.shipped import ShippedResults, collect, load_shipped, pack, unpack
from bup.experiments.tables import format_cell, format_markdown, format_tests, note_on_test, summary
from bup.experiments.variants import PAPERS_BUP, MethodVariant, find_variant, find_variants
