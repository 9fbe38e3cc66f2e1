"""How variance travels along links. A rule is one file in this package and one line here."""

from __future__ import annotations

from bup.propagation import conditional, evidence, gcn, none
from bup.propagation.base import Formula, Propagation, Rule, Shares

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        conditional.RULE,
        evidence.RULE,
        gcn.RULE,
        none.RULE,
    )
}

__all__ = ["RULES", "Formula", "Propagation", "Rule", "Shares"]
