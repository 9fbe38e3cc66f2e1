"""Reasons in the words of a person: why this answer, and what would change it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bup.explanation.changes import MOST_LINKS, Change, ChangeSearch
from bup.explanation.reasons import GroupReasons, Reasons, class_name, word_name
from bup.io.numbers import percent

DECISIVE = 0.5
"""A node gives the reason alone if it contributes more than this share of all support."""
NAMED = 3
"""How many nodes, links or words a sentence names at most."""

Name = Callable[[str], str]
"""Turns a name from the data into text, such as bold Markdown."""


def because(reasons: Reasons, name: Name = str) -> str:
    """Why the model gives its answer rather than the other class, in one sentence."""
    answer, rival = name(reasons.answer_name), name(reasons.rival_name)
    if reasons.gap <= 0:
        return (
            f"By the means of its messages alone the model would say {rival}. That it says "
            f"{answer} comes from their variances or from the calibration."
        )
    values, supporters = reasons.contributions, _supporters(reasons)
    if not len(supporters):
        return (
            f"It says {answer} although no node speaks for it: the answer comes from "
            f"{reasons.remainder_name}."
        )
    verb = f"It says {answer} rather than {rival}"
    if reasons.remainder_name and reasons.remainder > values[supporters].sum():
        return f"{verb} mainly because of {reasons.remainder_name}, more than of any words."
    if _is_decisive(reasons):
        return f"{verb} mainly because {_cause(reasons, int(supporters[0]), name)}."
    enough = np.searchsorted(np.cumsum(values[supporters]), DECISIVE * values[supporters].sum())
    named = [_node(reasons, reasons.nodes[i], name) for i in supporters[: min(enough + 1, NAMED)]]
    count = reasons.graph.noun.count(len(supporters))
    text = f"{verb} because of {count} together, above all {_listed(named)}."
    if reasons.told_share >= 0.005:
        text += (
            f" {percent(reasons.told_share, 0)} of their support comes from "
            f"{reasons.graph.noun.many} whose class the model was told."
        )
    return text


def unless(reasons: Reasons, search: ChangeSearch, change: Change | None, name: Name = str) -> str:
    """What taking away links does to the answer, in one sentence."""
    graph, node = reasons.graph, reasons.node
    if not graph.degree[node]:
        return reasons.graph.noun.apply_to("This node has no links to take away.")
    if (layers := search.reasoner.layers) is not None and not layers.reads_links:
        return "This method reads no links: without them it would say the same."
    if change is None:
        return search.why_not(node) or (
            f"No set of up to {MOST_LINKS} links was found whose removal changes the answer."
        )
    ends = [other for link in change.links for other in link if other != node]
    named = _is_decisive(reasons) and ends == [reasons.nodes[_supporters(reasons)[0]]]
    if len(change.links) == 1 and node in change.links[0]:
        which = "that link" if named else f"the link to {_node(reasons, ends[0], name)}"
    elif all(node in link for link in change.links):
        others = [_node(reasons, end, name) for end in ends[:NAMED]]
        which = f"its links to {_listed(others, len(ends))}"
    elif len(change.links) == 1:
        one, other = (_node(reasons, end, name) for end in change.links[0])
        which = f"the link between {one} and {other}"
    else:
        which = f"{len(change.links)} links"
    return f"Without {which} it would say {_outcome(reasons, change, name)}."


def without_words(reasons: Reasons, change: Change | None, name: Name = str) -> str:
    """What taking away words does to the answer, in one sentence; empty if nothing was found."""
    if change is None:
        return ""
    nodes = dict.fromkeys(node for node, _ in change.words)
    owners = [_node(reasons, n, name) for n in nodes]
    count = len(change.words)
    which = "one word" if count == 1 else f"{count} words"
    if reasons.graph.words is not None:
        words = list(dict.fromkeys(name(word_name(reasons.graph, w)) for _, w in change.words))
        which += f" ({', '.join(words)})"
    which += f" of {_listed(owners[:NAMED], len(owners))}"
    return f"Without {which} it would say {_outcome(reasons, change, name)}."


def led_there(reasons: GroupReasons, name: Name = str) -> str:
    """What led a group of nodes to their answers, in a few sentences."""
    noun, told = reasons.graph.noun, reasons.told & (reasons.contributions > 0)
    if not reasons.support:
        return noun.apply_to("No node speaks for these answers.")
    text = (
        f"{percent(reasons.share(reasons.is_member), 0)} of all that speaks for these answers "
        f"comes from the words of the {noun.many} themselves"
    )
    if told.any():
        lean = percent(reasons.share(told), 0)
        text += f", {lean} from {noun.count(int(told.sum()))} whose class the model was told"
    if led := [name(reasons.graph.node_id(node)) for node in reasons.misleading()]:
        wrong = reasons.result.predicted != reasons.graph.labels
        verb = "mislead" if wrong[reasons.members].all() else "lead"
        one = len(led) == 1
        which = f"{noun.one} that {verb}s" if one else f"{len(led)} {noun.many} that {verb}"
        text += f". The {which} others most: {_listed(led)}"
    if words := reasons.strongest_words():
        carry = "One word carries" if len(words) == 1 else f"{len(words)} words carry"
        text += f". {carry} {percent(sum(share for _, share in words), 0)} of it"
        if reasons.graph.words is not None:
            text += f": {_listed([name(word) for word, _ in words])}"
    if reasons.remainder_name:
        text += f". What comes from {reasons.remainder_name} is not counted"
    return text + "."


def _supporters(reasons: Reasons) -> np.ndarray:
    """The places of the nodes that speak for the answer, the strongest first."""
    return np.flatnonzero(reasons.contributions > 0)


def _is_decisive(reasons: Reasons) -> bool:
    """Whether one node contributes most of the support."""
    values = reasons.contributions[_supporters(reasons)]
    return len(values) > 0 and bool(values[0] > DECISIVE * values.sum())


def _outcome(reasons: Reasons, change: Change, name: Name) -> str:
    answer = name(class_name(reasons.result, reasons.graph, change.answer))
    sure = "" if change.confidence is None else f", {percent(change.confidence, 0)} sure"
    return answer + sure


def _cause(reasons: Reasons, place: int, name: Name) -> str:
    """The clause after "because" that names one node."""
    node, away = reasons.nodes[place], reasons.links_away[place]
    if away == 0:
        words = [name(w) for w, value in reasons.strongest_words(node, NAMED) if value > 0]
        spelt = reasons.graph.words is not None and words
        return "of its own words" + (f" ({', '.join(words)})" if spelt else "")
    text = f"it is linked to {_node(reasons, node, name)}"
    if away > 1:
        text = f"of {_node(reasons, node, name)}, further away"
        if reasons.through[place] >= 0:
            text = f"of {_node(reasons, node, name)}, two links away through " + _node(
                reasons, reasons.through[place], name
            )
    if not reasons.told[place]:
        return text
    true = reasons.graph.class_names[reasons.graph.labels[node]]
    its = "" if true == reasons.answer_name else f", {name(true)},"
    return f"{text}, whose class{its} the model was told"


def _node(reasons: Reasons, node: int, name: Name) -> str:
    if node == reasons.node:
        return reasons.graph.noun.apply_to("the node itself")
    return name(reasons.graph.name_of(node))


def _listed(names: Sequence[str], count: int | None = None) -> str:
    """Names with commas and an "and"; ``count`` is how many there are with those left out."""
    names = list(names)
    if count is not None and count > len(names):
        names.append(f"{count - len(names):,} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
