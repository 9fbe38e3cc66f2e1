"""The numbers that are measured of a run: functions of its result, graph and protocol."""

import numpy as np
import torch
from scipy.special import rel_entr

from bup import calibrators, metrics
from bup.calibrators import CalibrationData, LabelledNodes
from bup.datasets import synthetic
from bup.experiments.protocols import Protocol
from bup.experiments.question import Row
from bup.graph import Graph
from bup.methods import find, outputs_of, settings_of
from bup.metrics.conformal import conformal_sets
from bup.results.result import Result


def plain_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """Accuracy and calibration; percentages as such."""
    probs, targets, _ = result.judged(graph)
    summary = metrics.summary(probs, targets)
    row = {k: v * (100 if metrics.METRICS[k].percent else 1) for k, v in summary.items()}
    return row | {"epochs": len(result.history["loss"]), "seconds": result.seconds}


def calibration_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """Also selective prediction, conformal sets, and the distance to a known truth."""
    probs, targets, nodes = result.judged(graph)
    right = metrics.hits(probs, targets)
    curve = metrics.risk_coverage(1 - metrics.confidence(probs), right)
    sets = conformal_sets(result.probs, graph, result.split)
    row = plain_numbers(result, graph, protocol) | {
        "aurc": 100 * curve.area,
        "accuracy_80": 100 * curve.accuracy_at(0.8),
        "coverage": 100 * sets.coverage(nodes, targets),
        "set_size": float(sets.size[nodes].mean()),
        "truth_distance": np.nan,
        "truth_kl": np.nan,
    }
    if graph.name.partition(":")[0] == synthetic.NAME and not result.split.left_out:
        truth = synthetic.true_posterior(graph.name, links=True, known=result.split.train)[nodes]
        row |= distance_to_truth(probs, truth)
    return row


FLOOR_DRAWS = 20


def record_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """ECE by confidence and by degree, and what either would be were the model exactly right.

    Labels drawn from the model's own probabilities are what perfect calibration looks like: a
    finite number of nodes shows some error even then. That is the floor.
    """
    probs, targets, nodes = result.judged(graph)
    degree = graph.degree[nodes]

    def errors(labels: np.ndarray) -> np.ndarray:
        by_degree = metrics.grouped_calibration_error(probs, labels, degree)
        return 100 * np.array([metrics.expected_calibration_error(probs, labels), by_degree])

    random = np.random.RandomState(result.spec.seed)  # its stream never changes
    ends = probs.astype(np.float64).cumsum(axis=1)
    places = random.uniform(size=(FLOOR_DRAWS, len(nodes), 1)) * ends[:, -1:]
    floor = np.mean([errors((place > ends).sum(axis=1)) for place in places], axis=0)
    measured = errors(targets)
    return plain_numbers(result, graph, protocol) | {
        "ece_degree": measured[1],
        "floor": floor[0],
        "floor_degree": floor[1],
    }


def distance_to_truth(probs: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Total variation (percent) and KL(truth | learned) in nats, means over nodes."""
    probs = probs.astype(np.float64).clip(metrics.SMALLEST)
    return {
        "truth_distance": 50 * float(np.abs(probs - truth).sum(axis=1).mean()),
        "truth_kl": float(rel_entr(truth, probs).sum(axis=1).mean()),
    }


def unseen_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """The paper's Q2: how sure a model is of known and of unseen classes."""
    ood = result.split.is_ood(graph.labels[result.split.test])
    row: Row = {}
    for key in ("confidence", "prob_std"):
        values = result.scores()[key][result.split.test]
        row |= {f"{key}_in": float(values[~ood].mean()), f"{key}_out": float(values[ood].mean())}
    both = row["confidence_in"] > row["confidence_out"] and row["prob_std_in"] > row["prob_std_out"]
    return row | {"in_above_out": 100.0 * both} | ood_numbers(result, graph, protocol)


def ood_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """AUROC (percent) of every score for finding the left-out classes."""
    split = result.split
    nodes = split.test[~np.isin(graph.labels[split.test], protocol.unjudged)]
    ood = split.is_ood(graph.labels[nodes])
    auroc = {k: 100 * metrics.auroc(v[nodes], ood) for k, v in result.uncertainties().items()}
    own, best = epistemic_score(result.spec.method), max(auroc, key=lambda k: auroc[k])
    return {
        "own_score": own,
        "unseen_share": 100 * float(split.is_ood(graph.labels).mean()),
        "auroc_own": auroc[own],
        "best_score": best,
        "auroc_best": auroc[best],
        **{f"auroc_{score}": value for score, value in auroc.items()},
    }


def epistemic_score(method: str) -> str:
    """A method's score for lack of evidence; the entropy if it has none."""
    scores = (score.name for score in find(method).scores if score.kind == "epistemic")
    return next(scores, "predictive_entropy")


def structure_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """The paper's Q3: rank correlation of message uncertainty with degree and distance."""
    pairs = [(score, axis) for axis in ("degree", "distance") for score in MESSAGE_SCORES]
    if result.var is None:
        return {f"{score}_{axis}": np.nan for score, axis in pairs}
    scores = result.scores()
    axes = {"degree": graph.degree, "distance": graph.mean_hops(result.split.train)}
    return {
        f"{score}_{axis}": metrics.spearman(axes[axis], scores[score], 1).value
        for score, axis in pairs
    }


MESSAGE_SCORES = ("message_std", "message_entropy")


def rule_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """What message uncertainty and confidence find: mistakes, or unseen classes if there are."""
    if protocol.left_out:
        what, nodes = "unseen", result.split.test
        positive = result.split.is_ood(graph.labels[nodes])
    else:
        probs, targets, nodes = result.judged(graph)
        what, positive = "errors", ~metrics.hits(probs, targets)
    return ablation_numbers(result, graph, protocol) | {
        f"{what}_{score}": 100 * metrics.auroc(values[nodes], positive)
        for score, values in result.uncertainties().items()
    }


def ablation_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    return plain_numbers(result, graph, protocol) | structure_numbers(result, graph, protocol)


def validation_numbers(result: Result, graph: Graph, protocol: Protocol) -> Row:
    """What the validation nodes say of a run, as it is and after calibrations of BUP's own.

    A calibration is fitted on one half of them and judged on the other, both ways round. No test
    node is looked at.
    """
    nodes = result.split.validation
    labels = result.split.targets(graph.labels[nodes])
    row: Row = {"validation_accuracy": 100 * metrics.accuracy(result.probs[nodes], labels)}
    for chosen in ("none", "variance", "spread"):
        nll = ece = np.nan
        if chosen in calibrators.choices(result.var is not None):
            probs = _cross_fitted(result, graph, chosen)
            nll = metrics.negative_log_likelihood(probs, labels)
            ece = 100 * metrics.expected_calibration_error(probs, labels)
        row |= {f"nll_{chosen}": nll, f"ece_{chosen}": ece}
    return row


def _cross_fitted(result: Result, graph: Graph, chosen: str) -> np.ndarray:
    """Class probabilities of the validation nodes [v, c], each calibrated on the other half."""
    split = result.split
    parts = (None if a is None else a[split.validation] for a in (result.mean, result.var))
    probs = result.probs[split.validation]
    method, settings = find(result.spec.method), settings_of(result.spec)
    outputs = outputs_of(method, settings, probs, *parts)
    labels = LabelledNodes.of(graph, split, split.validation).labels
    even = torch.arange(len(labels)) % 2 == 0
    calibrated = probs.astype(np.float64)
    for half in (even, ~even):
        nodes = LabelledNodes(torch.nonzero(half).ravel(), labels[half])
        data = CalibrationData(outputs, nodes, graph, split, result.spec.seed)
        done = calibrators.calibrate(data, chosen)
        if done is not None:
            calibrated[~half.numpy()] = done.probs[~half].numpy()
    return calibrated / calibrated.sum(axis=1, keepdims=True)
