"""The lessons, in their order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    number: int
    name: str  # in its address
    title: str
    question: str
    takeaway: str  # what to keep, in one sentence
    icon: str
    words: tuple[str, ...] = ()  # of the glossary, that it uses

    @property
    def address(self) -> str:
        return f"learn-{self.number}-{self.name}"


LESSONS = (
    Lesson(
        1,
        "confident",
        "Confident and wrong",
        "What does a model say about something it has never seen?",
        "A classifier has to answer with a class it knows, so its confidence can be high where "
        "every answer is wrong.",
        ":material/sentiment_very_satisfied:",
        ("GCN", "class", "softmax", "confidence", "out of distribution"),
    ),
    Lesson(
        2,
        "message",
        "A message is a distribution",
        "What changes if a node says how sure it is of what it says?",
        "Means say which class is ahead, variances say how much that lead is worth.",
        ":material/waves:",
        ("message", "mean", "variance", "credible interval", "likelihood"),
    ),
    Lesson(
        3,
        "travel",
        "How certainty travels",
        "Does an unsure neighbour make you unsure?",
        "Under the published rule the neighbours' variances cancel and only degrees count; under "
        "evidence propagation a surer neighbour always adds more certainty, and under doubt an "
        "unsure one makes a node unsure.",
        ":material/share:",
        ("message", "variance", "degree", "lam", "evidence propagation"),
    ),
    Lesson(
        4,
        "loss",
        "A loss that punishes doubt",
        "What does training gain from being sure?",
        "A Gaussian likelihood charges for doubt when the model is right and rewards it when the "
        "model is wrong; cross-entropy sees no doubt at all.",
        ":material/landscape_2:",
        ("margin", "standard deviation", "likelihood", "cross-entropy", "erf product"),
    ),
    Lesson(
        5,
        "calibration",
        "Is 80% really 80%?",
        "How would you check a confidence?",
        "Calibration compares confidence with how often it is right, and one temperature can "
        "repair much of it without changing a single answer.",
        ":material/verified:",
        ("GCN", "confidence", "calibrated", "reliability diagram", "ECE", "ACE", "temperature"),
    ),
    Lesson(
        6,
        "unseen",
        "Knowing what you have not seen",
        "Which number notices an unknown class?",
        "Class probabilities notice an unseen class to a degree; the variance of the message under "
        "the published rule does not, because it follows the links and not the class. A rule that "
        "asks what explains a node can find unseen groups, if they are large enough.",
        ":material/visibility_off:",
        ("BUP", "out of distribution", "confidence", "variance", "ROC curve", "AUROC", "doubt"),
    ),
    Lesson(
        7,
        "truth",
        "The truth, for once",
        "How sure should one be?",
        "On a graph drawn from a known model the right confidence can be computed, and a trained "
        "network is some way off it.",
        ":material/balance:",
        ("posterior", "homophily", "confidence", "calibrated"),
    ),
    Lesson(
        8,
        "follow",
        "Follow one message",
        "Where does one probability come from?",
        "Words times weights, averaged over links twice: that is the mean. The variance goes its "
        "own way, and a rule multiplies it: the published rule by what links say, doubt by what is "
        "known. One integral makes a probability of both.",
        ":material/footprint:",
        ("message", "mean", "variance", "degree", "doubt", "likelihood"),
    ),
    Lesson(
        9,
        "kinds",
        "Two kinds of not knowing",
        "Would more data help?",
        "Aleatoric doubt lies in the data and stays; epistemic doubt lies in the model and goes "
        "with more labels. Disagreement between networks shows the second, but networks that agree "
        "may all be wrong about what none of them has seen.",
        ":material/alt_route:",
        ("aleatoric", "epistemic", "mutual information"),
    ),
    Lesson(
        10,
        "sees",
        "What doubt sees",
        "When does a stranger stand out?",
        "Doubt asks whether a known class or all papers together explain a place better. A group "
        "of strangers changes what all papers look like, so it stands out; one alone may not.",
        ":material/visibility:",
        ("doubt", "density", "AUROC"),
    ),
    Lesson(
        11,
        "coverage",
        "Nine times in ten, for whom?",
        "Who pays for a promise that holds on average?",
        "A set that contains the truth nine times in ten on average may fail those whose "
        "neighbours are unlike them: ask for whom a promise is kept.",
        ":material/groups:",
        ("prediction set", "coverage", "homophily"),
    ),
)
