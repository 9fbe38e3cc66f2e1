"""Titles of settings and of their choices, which commands know by short names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from bup import calibrators

SETTINGS = {
    "propagation": "Propagation rule",
    "lam": "Weakening of the correlations (λ)",
    "correlation": "Correlation of linked messages",
    "neighbours": "Neighbours of a node",
    "isolation": "Doubt added for few links",
    "known": "Labels that count as known",
    "layers": "Variance between layers",
    "calibrate": "Calibration afterwards",
    "loss": "Likelihood in training",
    "prediction": "Likelihood in predictions",
    "hidden": "Width of the hidden layer",
    "dropout": "Dropout rate",
    "learning_rate": "Learning rate",
    "weight_decay": "Weight decay",
    "decay": "Weight decay",
    "epochs": "Epochs at most",
    "patience": "Patience (epochs)",
    "keep": "Weights to keep",
    "samples": "Samples per answer",
    "members": "Networks per answer",
    "link_trust": "Trust in the given links",
    "missing_links": "Chance of a missing link",
    "latent": "Latent dimensions",
    "prior_weight": "Weight of the prior",
    "error_rate": "Rate of wrong labels",
}
"""Titles by the name in commands; other settings get that name as their title."""

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
    """The titles of a setting's choices, by their names in commands. Links contain these titles."""
    choices = f.metadata["choices"]
    titles: dict[str, str] = CHOICES.get(f.name, {})
    if f.name == "calibrate":
        titles = {name: _calibration(name) for name in choices}
    table = choices if isinstance(choices, Mapping) else {}
    return {
        name: titles[name] if name in titles else _own_title(table.get(name), name)
        for name in choices
    }


def _own_title(choice: object, name: str) -> str:
    """The title of a choice, if it has one besides the sentence that explains it."""
    return name.capitalize() if isinstance(choice, str) else getattr(choice, "title", name)


def _calibration(chosen: str) -> str:
    first, *others = [c.title for c in calibrators.parse_calibrate(chosen)] or ["None"]
    return ", then ".join([first, *(title[0].lower() + title[1:] for title in others)])
