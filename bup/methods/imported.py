"""Answers that were made elsewhere, as runs beside ours: nothing is trained, a file is read."""

from dataclasses import dataclass

from bup import likelihood, metrics
from bup.engine.loop import OnEpoch
from bup.errors import BupError
from bup.graph import Graph
from bup.imported import predictions
from bup.imported.predictions import Predictions
from bup.io.lazy import torch
from bup.methods.base import (
    CalibratesVariance,
    Explains,
    Fitted,
    Method,
    MethodSettings,
    intervals_by_prediction,
    link_by_prediction,
)
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores import Score
from bup.scores.messages import MESSAGE_ENTROPY, MESSAGE_STD


def score_of(name: str) -> Score:
    """A score that came with predictions, by its name in the file: ``score entropy``.

    Results of earlier versions call theirs ``own_score_1`` and so on.
    """
    words = name.replace("_", " ").removeprefix("own ")[len("score") :].strip(" .-")
    named = words[:1].isalpha()
    return Score(
        name,
        words[0].upper() + words[1:] if named else f"Your score {words}".strip(),
        "neither",
        "A score that came with the predictions; the higher, the less sure.",
    )


def is_score(name: str) -> bool:
    """Whether a column of a node table, or of a file of predictions, is such a score."""
    return name.lower().removeprefix("own_").startswith("score")


@dataclass(frozen=True)
class ImportedSettings(MethodSettings):
    predictions: str = setting("", "The key of the predictions, as 'bup import' prints it.")


@dataclass(frozen=True)
class ImportedMessageSettings(CalibratesVariance, ImportedSettings):
    prediction: str = setting(
        "exact", "How class probabilities come out of messages.", choices=likelihood.RULES
    )


def fit_one(
    graph: Graph, split: Split, seed: int, s: ImportedSettings, on_epoch: OnEpoch | None
) -> Fitted:
    if not s.predictions:
        raise BupError("which predictions? Bring some on the page Your own, or with 'bup import'")
    return fitted(predictions.load(s.predictions, graph), graph, split, s)


def fitted(given: Predictions, graph: Graph, usual: Split, s: ImportedSettings) -> Fitted:
    """Predictions as the outcome of a method."""
    if given.digest != graph.digest:
        raise BupError(f"these predictions are for another graph than {graph.name}")
    if given.classes != usual.classes:
        wanted = [graph.class_names[c] for c in range(graph.num_classes) if c not in given.classes]
        raise BupError(
            f"these predictions have columns for {len(given.classes)} classes and the run for "
            f"{len(usual.classes)}: as classes never shown, choose {', '.join(wanted) or 'none'}"
        )
    split = given.split(usual)
    probs = given.probs
    if probs is None:
        assert given.mean is not None and given.var is not None
        message = torch.from_numpy(given.mean), torch.from_numpy(given.var)
        probs = link_by_prediction(s, *message).numpy()
    nodes = split.validation
    targets = split.targets(graph.labels[nodes])
    nll = metrics.negative_log_likelihood(probs[nodes], targets)
    accuracy = metrics.accuracy(probs[nodes], targets)
    return Fitted(
        probs=probs,
        history={"loss": [nll], "validation_nll": [nll], "validation_accuracy": [accuracy]},
        kept_epoch=1,
        mean=given.mean,
        var=given.var,
        own_scores=dict(given.scores),
        split=split,
    )


PROBABILITIES = Method(
    name="own",
    title="Predictions of your own (Own)",
    explanation="Class probabilities that were made elsewhere and brought here. Nothing is "
    "trained: they are judged like any other run.",
    settings=ImportedSettings,
    fit_one=fit_one,
    is_imported=True,
)
MESSAGES = Method(
    name="own_messages",
    title="Messages of your own (Own messages)",
    explanation="Means and variances that were made elsewhere and brought here. Class "
    "probabilities follow from them as they do for BUP.",
    settings=ImportedMessageSettings,
    fit_one=fit_one,
    scores=(MESSAGE_STD, MESSAGE_ENTROPY),
    explains=Explains(variance=True, probabilities=intervals_by_prediction),
    link=link_by_prediction,
    is_imported=True,
)
