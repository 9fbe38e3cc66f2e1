"""Titles of settings and of their choices, which commands know by short names."""

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path

from bup import calibrators

_TABLES = tomllib.loads((Path(__file__).parent / "wording.toml").read_text(encoding="utf-8"))
_SETTINGS: dict[str, str] = _TABLES["settings"]
_CHOICES: dict[str, dict[str, str]] = _TABLES["choices"]
_CHOICES["prediction"] = _CHOICES["loss"]


def setting_title(name: str) -> str:
    return _SETTINGS.get(name, name.replace("_", " ").capitalize())


def setting_help(f: dataclasses.Field) -> str:
    return f"{f.metadata['help']} In commands: `{f.name}`."


def choice_titles(f: dataclasses.Field) -> dict[str, str]:
    """The titles of a setting's choices, by their names in commands. Links contain these titles."""
    choices = f.metadata["choices"]
    titles: dict[str, str] = _CHOICES.get(f.name, {})
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
