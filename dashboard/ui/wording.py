"""Plain names of what the commands abbreviate: settings, and the choices that some offer."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from bup import calibrators

SETTINGS = {
    "propagation": "Propagation rule",
    "lam": "Weakening of the correlations (λ)",
    "correlation": "What ties linked messages",
    "neighbours": "Neighbours of a node",
    "isolation": "Weight of missing links",
    "known": "Labels that show what is known",
    "layers": "Variance between layers",
    "calibrate": "Calibration afterwards",
    "loss": "Likelihood in training",
    "prediction": "Likelihood in predictions",
    "hidden": "Width of the hidden layer",
    "dropout": "Dropout rate",
    "learning_rate": "Learning rate",
    "weight_decay": "Weight decay",
    "decay": "Weight decay",
    "epochs": "Most epochs",
    "patience": "Patience (epochs)",
    "keep": "Weights to keep",
    "samples": "Draws per answer",
    "members": "Networks per answer",
    "link_trust": "Trust in the given links",
    "missing_links": "Chance of a missing link",
    "latent": "Latent dimensions",
    "prior_weight": "Weight of the prior",
    "error_rate": "Rate of wrong labels",
}
"""By the name that commands use; a setting that is not here is called by that."""

CHOICES = {
    "loss": {
        "erf": "Pairwise bound (erf)",
        "exact": "Exact integral",
        "genz": "Quasi-Monte Carlo (Genz)",
        "sampled": "Softmax of samples",
    },
    "layers": {"simple": "Nothing in between", "paper": "As published"},
    "correlation": {"degrees": "How few links", "words": "How few links and like words"},
    "neighbours": {"apart": "Vary independently", "linked": "Vary together where linked"},
    "known": {"training": "Training", "validation": "Training and validation"},
    "keep": {"last": "The last epoch's", "best": "The best epoch's"},
}
CHOICES["prediction"] = CHOICES["loss"]


def setting_title(name: str) -> str:
    return SETTINGS.get(name, name.replace("_", " ").capitalize())


def setting_help(f: dataclasses.Field) -> str:
    return f"{f.metadata['help']} In commands: `{f.name}`."


def choice_titles(f: dataclasses.Field) -> dict[str, str]:
    """What a page calls the choices of a setting, by the names that commands use."""
    choices = f.metadata["choices"]
    known: dict[str, str] = CHOICES.get(f.name, {})
    if f.name == "calibrate":
        known = {name: _calibration(name) for name in choices}
    table = choices if isinstance(choices, Mapping) else {}
    return {
        name: known[name] if name in known else _own_title(table.get(name), name)
        for name in choices
    }


def _own_title(about: object, name: str) -> str:
    """That of a thing with a title; a sentence about a choice is none."""
    return name.capitalize() if isinstance(about, str) else getattr(about, "title", name)


def _calibration(chosen: str) -> str:
    first, *others = [c.title for c in calibrators.parse_calibrate(chosen)] or ["None"]
    return ", then ".join([first, *(title[0].lower() + title[1:] for title in others)])
