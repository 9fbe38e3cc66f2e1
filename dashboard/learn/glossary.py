"""What our words mean, each in one place: the glossary page and every explanation read it here."""

from __future__ import annotations

from dataclasses import dataclass

from bup.metrics import METRICS


@dataclass(frozen=True)
class Term:
    meaning: str
    symbol: str = ""  # as the paper writes it, in LaTeX
    lesson: int | None = None  # where one can play with it


TERMS = {
    "node": Term("One thing in the network; here, one scientific paper."),
    "link": Term("Two papers are linked if one cites the other. Who cites whom is not used."),
    "neighbours": Term(
        "The nodes that a node is linked to, not counting itself.", r"\mathcal{N}(i)", 3
    ),
    "degree": Term(
        "The number of links of a node. In the paper's formulas one more, for the node itself.",
        "d_{ii}",
        3,
    ),
    "homophily": Term("The share of links that join two nodes of the same class.", lesson=7),
    "class": Term("What is to be predicted; here, the subject of a paper.", "c"),
    "GCN": Term(
        "Graph convolutional network: every node averages what its neighbours say, twice, and "
        "turns the result into class probabilities.",
        lesson=1,
    ),
    "BUP": Term(
        "Bayesian uncertainty propagation: like a GCN, but every message also carries a variance.",
        lesson=2,
    ),
    "message": Term(
        "What a node says about each class. In a GCN it is one number per class; in BUP it is a "
        "bell curve per class, with a mean and a variance.",
        r"\theta_i",
        2,
    ),
    "mean": Term("The middle of a message: the larger, the more it speaks for the class.", "m_i"),
    "variance": Term(
        "How widely a message may vary; its square root is the standard deviation. Zero is "
        "certainty.",
        r"\Sigma_i",
        2,
    ),
    "standard deviation": Term(
        "The square root of the variance: about two thirds of a bell curve lie within one standard "
        "deviation of its mean.",
        r"\sigma",
        2,
    ),
    "propagation": Term(
        "One step along the links: a node's variance is changed by its neighbours.",
        r"\widehat{\mathrm{var}}(i \mid \mathcal{N}(i))",
        3,
    ),
    "lam": Term(
        "How weakly linked nodes are tied together under the published rule: the larger, the less "
        "a neighbour takes off. Written lambda.",
        r"\lambda",
        3,
    ),
    "correlation": Term(
        "How much two linked messages vary together under the published rule; degrees alone decide "
        "it.",
        r"\mathrm{cor}(i,j) = 1 / \sqrt{\lambda\, d_{ii} d_{jj}}",
        3,
    ),
    "evidence propagation": Term(
        "Our own rule, not the paper's: every neighbour is a measurement of the node, and the "
        "surer the neighbour, the more certainty it adds.",
        lesson=3,
    ),
    "doubt": Term(
        "Our second rule, not the paper's: a message is sure only where a known class explains the "
        "words around the node, and doubt spreads along links. It finds unseen groups, not single "
        "strangers.",
        "U_i",
        6,
    ),
    "margin": Term(
        "How far the mean of the true class is above that of another class; negative if it is "
        "below.",
        lesson=4,
    ),
    "likelihood": Term(
        "The probability that the message of the true class is the largest of all.",
        r"\mathcal{L}",
        4,
    ),
    "cross-entropy": Term(
        "The usual loss: minus the logarithm of the probability that softmax gives the true class.",
        lesson=4,
    ),
    "softmax": Term(
        "Turns any numbers into probabilities: exponentials, divided by their sum.", lesson=1
    ),
    "erf product": Term(
        "The paper's shortcut for the likelihood: multiply the probabilities of beating each other "
        "class, as if these were independent.",
        r"\prod_{c \neq c_*} \Phi(\cdot)",
        4,
    ),
    "confidence": Term(
        "The probability that a model gives to the class it predicts.", r"p_{j,c_*}", 1
    ),
    "credible interval": Term(
        "Where a probability lies with, say, 90% probability, given how unsure the message is.",
        lesson=2,
    ),
    "calibrated": Term(
        "Confidence means what it says: of the answers given with 80%, 80% are right.", lesson=5
    ),
    "reliability diagram": Term(
        "Answers sorted into bins by confidence; each bin shows how many of its answers are right.",
        lesson=5,
    ),
    "ECE": Term(METRICS["ece"].meaning, lesson=5),
    "ACE": Term(METRICS["ace"].meaning, lesson=5),
    "temperature": Term(
        "One number that divides all outputs before softmax: below 1 sharpens the probabilities, "
        "above 1 flattens them. It never changes which class is predicted.",
        "T",
        5,
    ),
    "out of distribution": Term(
        "Of a kind that the model was never shown; here, of a class that was hidden in training.",
        lesson=1,
    ),
    "ROC curve": Term(
        "For every threshold: the share of the sought nodes found, against the share of the others "
        "flagged by mistake.",
        lesson=6,
    ),
    "AUROC": Term(METRICS["auroc"].meaning, lesson=6),
    "aleatoric": Term(
        "Doubt that lies in the data: classes overlap, labels are wrong. No further label takes it "
        "away.",
        lesson=9,
    ),
    "epistemic": Term(
        "Doubt that lies in the model: it has not seen enough. More labels would take it away.",
        lesson=9,
    ),
    "mutual information": Term(
        "How much several networks disagree about a node: the entropy of their mean answer, less "
        "the mean entropy of their answers.",
        lesson=9,
    ),
    "density": Term(
        "How many nodes of a kind one expects around a place. Doubt compares that of the known "
        "classes with that of the whole graph.",
        lesson=10,
    ),
    "prediction set": Term(
        "Several classes instead of one, chosen so that the true one is among them with a "
        "promised probability.",
        lesson=11,
    ),
    "coverage": Term(
        "The share of prediction sets that contain the true class: of all nodes, or of a group.",
        lesson=11,
    ),
    "posterior": Term(
        "What one can know of a node's class given everything that is seen; here words, links and "
        "the known classes.",
        lesson=7,
    ),
}


def meaning(word: str) -> str:
    return TERMS[word].meaning


SEEN_ON = {
    "explore": (
        "node", "link", "neighbours", "message", "mean", "variance", "standard deviation", "BUP",
        "propagation", "doubt", "evidence propagation", "lam", "correlation", "credible interval",
        "confidence", "class", "density",
    ),
    "reliability": (
        "calibrated", "reliability diagram", "ECE", "ACE", "temperature", "prediction set",
        "coverage", "likelihood", "softmax", "cross-entropy", "erf product", "margin",
    ),
    "ood": ("out of distribution", "ROC curve", "AUROC", "epistemic", "mutual information"),
    "structure": ("degree",),
    "compare": ("GCN", "aleatoric"),
    "graph": ("homophily", "posterior"),
}  # fmt: skip
"""The page of the dashboard on which a word is seen in the chosen run."""


def seen_on(word: str) -> str:
    return next(page for page, words in SEEN_ON.items() if word in words)
