"""The paper's questions, and ours, as grids of runs that end in tables beside its own."""

from __future__ import annotations

from bup.experiments.comparisons import Comparison, comparisons
from bup.experiments.contenders import PAPERS_BUP, Contender, contender, contenders
from bup.experiments.measures import (
    calibration_numbers,
    distance_to_truth,
    ood_numbers,
    own_score,
    rule_numbers,
    validation_numbers,
)
from bup.experiments.plans import (
    ALL,
    Asked,
    expected_seconds,
    left_out_in_words,
    plans_of,
)
from bup.experiments.protocols import (
    PROTOCOLS,
    Protocol,
    protocol_named,
    published_protocols,
)
from bup.experiments.question import (
    CELL,
    Planned,
    Quantity,
    Question,
    chosen_contenders,
    frame_of,
    load_graphs,
    rows_of,
    runs_of,
)
from bup.experiments.questions import QUESTIONS
from bup.experiments.shipped import Shipped, collected, packed, shipped, unpacked
from bup.experiments.tables import cell_text, markdown, note_on_test, summary, tests_text

__all__ = [
    "ALL",
    "CELL",
    "PAPERS_BUP",
    "PROTOCOLS",
    "QUESTIONS",
    "Asked",
    "Comparison",
    "Contender",
    "Planned",
    "Protocol",
    "Quantity",
    "Question",
    "Shipped",
    "calibration_numbers",
    "cell_text",
    "chosen_contenders",
    "collected",
    "comparisons",
    "contender",
    "contenders",
    "distance_to_truth",
    "expected_seconds",
    "frame_of",
    "left_out_in_words",
    "load_graphs",
    "markdown",
    "note_on_test",
    "ood_numbers",
    "own_score",
    "packed",
    "plans_of",
    "protocol_named",
    "published_protocols",
    "rows_of",
    "rule_numbers",
    "runs_of",
    "shipped",
    "summary",
    "tests_text",
    "unpacked",
    "validation_numbers",
]
