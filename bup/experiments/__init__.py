"""The paper's questions, and ours, as grids of runs that end in tables beside its own."""

from __future__ import annotations

from bup.experiments.comparisons import Comparison, comparisons
from bup.experiments.contenders import STRONG_GCN, Contender, contender, contenders
from bup.experiments.measures import (
    calibration_numbers,
    distance_to_truth,
    ood_numbers,
    own_score,
    rule_numbers,
    validation_numbers,
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
    load_graphs,
    rows_of,
    runs_of,
)
from bup.experiments.questions import QUESTIONS
from bup.experiments.tables import cell_text, markdown, note_on_test, summary, tests_text

__all__ = [
    "CELL",
    "PROTOCOLS",
    "QUESTIONS",
    "STRONG_GCN",
    "Comparison",
    "Contender",
    "Planned",
    "Protocol",
    "Quantity",
    "Question",
    "calibration_numbers",
    "cell_text",
    "chosen_contenders",
    "comparisons",
    "contender",
    "contenders",
    "distance_to_truth",
    "load_graphs",
    "markdown",
    "note_on_test",
    "ood_numbers",
    "own_score",
    "protocol_named",
    "published_protocols",
    "rows_of",
    "rule_numbers",
    "runs_of",
    "summary",
    "tests_text",
    "validation_numbers",
]
