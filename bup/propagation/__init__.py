"""How variance travels along links. A rule is one file in this package and one line here."""

from bup.propagation import conditional, doubt, evidence, gcn, none
from bup.propagation.base import Breakdown, Formula, Propagation, Rule, Shares

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        conditional.RULE,
        doubt.RULE,
        evidence.RULE,
        gcn.RULE,
        none.RULE,
    )
}

__all__ = ["RULES", "Breakdown", "Formula", "Propagation", "Rule", "Shares"]
