"""Scores of messages that have a variance."""

from bup import metrics
from bup.scores.base import Score

MESSAGE_STD = Score(
    "message_std",
    "Message uncertainty",
    "epistemic",
    "How unsure the model is of the message itself: its standard deviation, averaged over classes.",
    "std of the message, mean over classes",
    of_var=metrics.message_std,
)

MESSAGE_ENTROPY = Score(
    "message_entropy",
    "Message entropy",
    "epistemic",
    "How widely the message may vary over all classes together, in nats.",
    "entropy of the message (nats)",
    offered=False,  # nearly always the order of message_std
    of_var=metrics.message_entropy,
)
