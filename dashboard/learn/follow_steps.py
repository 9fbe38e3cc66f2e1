"""The steps of lesson 8, from words to a probability, and their texts."""

from collections.abc import Sequence

from bup.explanation.derivation import Derivation
from bup.graph import Graph
from dashboard.components.arithmetic import Stage
from dashboard.learn.course import Lesson
from dashboard.ui.numbers import counted

STAGES = (
    Stage("Words", "mean", ("say",)),
    Stage("Neighbours", "mean", ("gather",), "say", "neighbour"),
    Stage("Activation", "mean", ("activate",)),
    Stage("Second layer", "mean", ("again",), "gather", "node"),
    Stage("Mean", "mean", ("mean",), "again", "unit"),
    Stage("Own variance", "variance", ("own",)),
    Stage("The rule", "variance", ("against", "doubt", "factor")),
    Stage("Its steps", "variance", ("step 1", "map", "step 2"), "own", "unit"),
    Stage("Variance", "variance", ("weigh", "scale"), "own", "unit"),
    Stage("Duels", "probability", ("duels",), "mean", "column"),
    Stage("Integral", "probability", ("integral",)),
    Stage("Share", "probability", ("share",), "duels", "column"),
    Stage("Average", "probability", ("mix",)),
)
"""The way from words to a probability, in order."""

ABSENT = {"none": {"step 1": "Nothing travels.", "against": "There is no rule."}}
"""What the drawing says where a rule does nothing."""


def step_texts(
    lesson: Lesson, graph: Graph, derivation: Derivation, class_names: Sequence[str]
) -> dict[str, str]:
    """A text for every operation, with the names of this node's derivation in it."""
    operations = {operation.name: operation for operation in derivation.operations}
    headings = {name: name for stage in STAGES for name in stage.operations} | {
        "overview": "overview",
        "integral": "integral before the average" if "mix" in operations else "integral",
        "factor": "factor of doubt" if "doubt" in operations else "factor",
        "step 2": "step 2" if "step 1" in operations else "step 2 alone",
        "weigh": "weigh with maps" if operations["weigh"].then else "weigh",
    }
    values = {
        "node": graph.name_of(derivation.node),
        "neighbour": graph.name_of(derivation.neighbour),
        "links": counted(len(graph.neighbours(derivation.neighbour)), "link"),
        "unit": f"hidden unit {derivation.unit}",
        "class_name": class_names[derivation.column],
    }
    return {name: lesson.text(f"Step: {heading}", **values) for name, heading in headings.items()}
