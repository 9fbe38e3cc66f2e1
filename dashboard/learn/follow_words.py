"""What lesson 8 says about every step of the way."""

from __future__ import annotations

from collections.abc import Sequence

from bup.explain.derivation import Derivation
from bup.graph import Graph
from dashboard.components.arithmetic import Stage

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
"""The way from words to a probability, in the order in which it is gone."""

SHOWN = "This is the probability that the app shows."
ABSENT = {"none": {"step 1": "Nothing travels.", "against": "There is no rule."}}
"""What is said where a rule does nothing."""


def counted(links: int) -> str:
    return "1 link" if links == 1 else f"{links:,} links"


def sentences(graph: Graph, way: Derivation, names: Sequence[str]) -> dict[str, str]:
    """A sentence for every operation, with the names of this node's way in it."""
    node, near = graph.node_id(way.node), graph.node_id(way.neighbour)
    what, unit = names[way.column], f"hidden unit {way.unit}"
    links = counted(len(graph.neighbours(way.neighbour)))
    said = {operation.name: operation for operation in way.operations}
    words = {
        "overview": f"The final result for node {node}. Follow {what}, or click another class.",
        "say": f"What node {near} ({links}) says in {unit}: each of its words, counted as "
        "one share of them all, times that word's weight.",
        "gather": f"Node {node} hears itself and its neighbours. K is 1/√(dᵢ dⱼ): who has many "
        "links is heard less.",
        "activate": "What is below zero is cut off: this is the network's only bend.",
        "again": "Every neighbour has done the same. Their results are heard once more, with the "
        "same K.",
        "mean": f"All hidden units together, each with its weight for {what}: the mean of the "
        "message.",
        "own": f"Variance starts from the node's own words, in {unit}. Softplus keeps it positive.",
        "weigh": f"The variance of the message for {what}: a weighted mean over all hidden units "
        "(the weights add up to 1).",
        "scale": "One factor for all nodes, fitted on validation nodes after training.",
        "integral": "Slice by slice: where the message of this class may lie, times the chance "
        "that all others are below. "
        + ("This is the probability before any averaging." if "mix" in said else SHOWN),
        "duels": f"The chance that {what} beats each other class: the gap between their means in "
        "widths of both. Their product is the paper's shortcut for the integral.",
        "share": "Products of all classes do not add up to 1, so each is divided by their sum.",
        "mix": "The fitted width is not certain either. So the same is done for several widths, "
        f"and averaged. {SHOWN}",
        "against": "What speaks against any known class here and around, in nats (minus the "
        "logarithm of a probability).",
        "doubt": "Few links are a reason to doubt, too. The larger of the two decides, softly.",
        "step 1": "One multiplication per layer; this is the first.",
        "step 2": "The rule acts in the second layer, too."
        if "step 1" in said
        else "Doubt acts once, at the end: two of its three views need the trained network.",
        "map": "The paper maps variances between the layers, by weights of any sign.",
    }
    if "doubt" in said:
        words["factor"] = "Compared with the graph's mean: above 1, less sure than most nodes."
    else:
        words["factor"] = (
            "Every neighbour takes off 1/(λ dᵢ dⱼ). Degrees alone: no word, no class, no variance."
        )
    if said["weigh"].then:
        words["weigh"] = f"The paper's last map, for {what}: weights of any sign, then softplus."
    return words
