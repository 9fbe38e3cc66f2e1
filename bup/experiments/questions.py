"""The paper's questions, and ours, as ``questions.toml`` describes them."""

from typing import Any

from bup.experiments import measures, protocols
from bup.experiments.published import read_toml
from bup.experiments.question import Quantity, ResearchQuestion
from bup.experiments.variants import read_variants


def _read() -> dict[str, ResearchQuestion]:
    tables = dict(read_toml("questions.toml"))
    shared = tables.pop("quantities")

    def read_question(name: str, table: dict[str, Any]) -> ResearchQuestion:
        tuples = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
        columns = ([q, *shared[q]] if isinstance(q, str) else q for q in table["quantities"])
        parsed = {
            "variants": read_variants(table["variants"]),
            "measure": getattr(measures, table["measure"]),
            "quantities": tuple(Quantity(*column) for column in columns),
            "protocols": getattr(protocols, table.get("protocols", "all_known")),
            "note": table.get("note", ""),
        }
        return ResearchQuestion(name=name, **table | tuples | parsed)

    return {name: read_question(name, table) for name, table in tables.items()}


QUESTIONS = _read()
