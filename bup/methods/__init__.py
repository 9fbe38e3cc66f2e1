"""The table of methods. A method is one file in this package and one line here."""

import dataclasses
import re
import shlex
from functools import partial
from typing import Any

import numpy as np

from bup.calibrators import (
    JOIN,
    CalibrationData,
    Calibrator,
    LabelledNodes,
    Outputs,
    calibrate,
    parse_calibrate,
)
from bup.errors import BupError
from bup.graph import Graph
from bup.io.lazy import torch
from bup.likelihood import DISTRIBUTIONS
from bup.methods import (
    beta_bernoulli,
    bup,
    degem,
    energy,
    ensemble,
    gcn,
    gebm,
    ggp,
    gpn,
    grasp,
    imported,
    mc_dropout,
    mlp,
    sgcn,
    vgcn,
)
from bup.methods.base import Fitted, Method
from bup.propagation import RULES
from bup.run.settings import make_settings
from bup.run.spec import Spec, Value, format_value, parse_value
from bup.run.splits import Split

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        bup.METHOD,
        gcn.METHOD,
        vgcn.METHOD,
        beta_bernoulli.BBGDC,
        beta_bernoulli.BBDE,
        ggp.METHOD,
        mc_dropout.METHOD,
        ensemble.METHOD,
        sgcn.METHOD,
        gpn.METHOD,
        energy.METHOD,
        gebm.METHOD,
        grasp.METHOD,
        degem.METHOD,
        mlp.METHOD,
        imported.PROBABILITIES,
        imported.MESSAGES,
    )
}


TRAINED = [name for name, method in METHODS.items() if not method.is_imported]
"""The methods that train, unlike imported predictions."""


def find(name: str) -> Method:
    if name not in METHODS:
        raise BupError(f"there is no method {name!r}: choose one of {', '.join(METHODS)}")
    return METHODS[name]


def settings_of(spec: Spec) -> Any:
    """The method's settings of a run, checked, every default filled in."""
    return make_settings(find(spec.method).settings, dict(spec.settings), spec.method)


def resolve_name(name: str) -> tuple[str, dict[str, Value]]:
    """The method that a name stands for, and the settings that come with the name.

    ``gcn+gats`` is a GCN with what a calibrated one is given; ``doubt`` is BUP under that rule.
    """
    method, joined, calibrator = name.partition(JOIN)
    settings: dict[str, Value] = {}
    if method in RULES and method not in METHODS:
        method, settings = bup.METHOD.name, {"propagation": method}
    if joined:
        settings |= {**find(method).calibrated_defaults, "calibrate": calibrator}
    return method, settings


def complete(spec: Spec) -> Spec:
    """The same run with every setting written out, so that equal runs have equal specifications."""
    method, implied = resolve_name(spec.method)
    if implied:
        given = dict(spec.settings)
        for name in ("calibrate", "propagation"):
            if name in implied and given.get(name, implied[name]) != implied[name]:
                raise BupError(
                    f"{spec.method} asks for {implied[name]}, the setting {name} for "
                    f"{given[name]}: leave one of them out"
                )
        spec = dataclasses.replace(
            spec, method=method, settings=tuple({**implied, **given}.items())
        )
    settings = dataclasses.asdict(settings_of(spec).canonical())
    return dataclasses.replace(spec, settings=tuple(settings.items()))


def changed_settings(spec: Spec, name: str = "") -> dict[str, Value]:
    """The settings of a run that differ from what a name stands for, by default its method's."""
    spec = complete(spec)
    usual = dict(complete(Spec(method=name or spec.method)).settings)
    return {setting: value for setting, value in spec.settings if value != usual[setting]}


def name_and_changes(spec: Spec) -> tuple[str, dict[str, Value]]:
    """A run's name (method and calibrator), and the settings that differ from that name's."""
    spec = complete(spec)
    calibrator = changed_settings(spec).get("calibrate")
    name = spec.method if calibrator is None else f"{spec.method}{JOIN}{calibrator}"
    return name, changed_settings(spec, name)


def describe_run(spec: Spec) -> str:
    """A run as text: ``gcn+temperature (hidden=32)``."""
    name, changed = name_and_changes(spec)
    settings = ", ".join(f"{setting}={format_value(value)}" for setting, value in changed.items())
    return f"{name} ({settings})" if settings else name


def parse_run(text: str, spec: Spec) -> Spec:
    """The run that ``describe_run`` would describe so, on the nodes of ``spec``."""
    match = re.fullmatch(r"(?P<name>[a-z_]+(?:\+[a-z_]+)*)(?: \((?P<settings>.+)\))?", text.strip())
    if match is None:
        raise BupError(
            f"a run is named by its method, as gcn+gats or bup (lam=2, dropout=0.5), got {text!r}"
        )
    settings = {}
    for pair in re.split(r", ?(?=[a-z_]+=)", match["settings"] or ""):
        name, equals, value = pair.partition("=")
        if equals:
            settings[name] = parse_value(value)
        elif pair:
            raise BupError(f"a setting is written as NAME=VALUE, such as lam=2, got {pair!r}")
    return complete(
        dataclasses.replace(spec, method=match["name"], settings=tuple(settings.items()))
    )


def command_line(spec: Spec) -> str:
    """The command that trains the same run."""
    name, changed = name_and_changes(spec)
    words: list[object] = ["bup", "fit", "--graph", spec.graph, "--method", name]
    if spec.split:
        words += ["--split", spec.split, "--seed", spec.seed]
    else:
        words += ["--per-class", spec.per_class, "--seed", spec.seed]
        words += ["--validation", spec.validation, "--test", spec.test or 0]
    words += [word for c in spec.left_out for word in ("--left-out", c)]
    for setting, value in changed.items():
        words += ["--set", f"{setting}={format_value(value)}"]
    return shlex.join(map(str, words))


def probability_calibrator(spec: Spec) -> Calibrator | None:
    """The calibrator that adjusts a run's probabilities without changing its messages, if any."""
    has_variance = find(spec.method).explains.variance
    chosen = parse_calibrate(settings_of(spec).calibrate)
    after = [c for c in chosen if not (c.acts_on_messages and has_variance)]
    return after[-1] if after else None


def why_no_interval(spec: Spec) -> str:
    """Why a run's probabilities have no credible interval, in a sentence; empty if they have one.

    An interval is drawn only where the probability is the mean of the distribution it belongs to.
    """
    if not find(spec.method).explains.intervals:
        return "This method's messages have no variance, so there is no interval."
    if (after := probability_calibrator(spec)) is not None:
        return f"Calibrated by {after.title}. The messages were not, so there is no interval."
    rule = getattr(settings_of(spec), "prediction", "exact")
    if rule not in DISTRIBUTIONS:
        return (
            f"These probabilities follow the rule {rule!r}, which is not the mean of a "
            "distribution, so there is no interval. Predictions by the exact integral have one."
        )
    return ""


def outputs_of(
    method: Method,
    settings: Any,
    probs: np.ndarray,
    mean: np.ndarray | None,
    var: np.ndarray | None,
) -> Outputs:
    """The outputs [n, c] that a calibrator reads."""
    # A Gaussian message is not a logit: the logarithm of the probability is used instead.
    logits = mean if mean is not None and var is None else np.log(probs.clip(1e-30))
    if mean is None or var is None or method.link is None:
        return Outputs(torch.from_numpy(logits))
    message = torch.from_numpy(mean), torch.from_numpy(var)
    return Outputs(torch.from_numpy(logits), *message, partial(method.link, settings))


def calibrate_fitted(
    fitted: Fitted, method: Method, settings: Any, graph: Graph, split: Split, seed: int
) -> Fitted:
    """Apply the calibration that the settings name."""
    outputs = outputs_of(method, settings, fitted.probs, fitted.mean, fitted.var)
    validation = LabelledNodes.of(graph, split, split.validation)
    after = calibrate(CalibrationData(outputs, validation, graph, split, seed), settings.calibrate)
    if after is None:
        return fitted
    return dataclasses.replace(
        fitted,
        probs=after.probs.numpy(),
        var=None if fitted.var is None else after.var_factor * fitted.var,
        constants={**fitted.constants, **after.constants},
    )
