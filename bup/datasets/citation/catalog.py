"""The published figures of the graphs, and the hashes of their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CitationGraph:
    label: str
    title: str
    nodes: int
    edges: int
    features: int
    class_sizes: Mapping[str, int]  # in the order of the class numbers
    members: Mapping[str, str]  # file name -> SHA-256
    note: str = ""


# Class numbers follow Planetoid, on which published protocols rely. The names were matched to the
# numbers by class size, which is different for every class.
CITATION_GRAPHS: dict[str, CitationGraph] = {
    "cora": CitationGraph(
        label="Cora",
        title="Machine-learning papers and their citations",
        nodes=2708,
        edges=5278,
        features=1433,
        class_sizes={
            "Theory": 351,
            "Reinforcement Learning": 217,
            "Genetic Algorithms": 418,
            "Neural Networks": 818,
            "Probabilistic Methods": 426,
            "Case Based": 298,
            "Rule Learning": 180,
        },
        members={
            "cora.cites": "316d45e0e48387392c70cc3e3915e43f6f5c147ea45c973971e2c9140aaadacf",
            "cora.content": "0955f03baddbea9911f53814d7781129b71b066e5b442d0a5bd51f439c442082",
        },
    ),
    "citeseer": CitationGraph(
        label="Citeseer",
        title="Computer-science papers and their citations",
        nodes=3327,
        edges=4552,
        features=3703,
        class_sizes={
            "AI": 249,
            "Machine Learning": 590,
            "Information Retrieval": 668,
            "Databases": 701,
            "Agents": 596,
            "Human-Computer Interaction": 508,
        },
        members={
            "ind.citeseer.allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
            "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
            "ind.citeseer.graph": (
                "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"
            ),
            "ind.citeseer.test.index": (
                "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"
            ),
            "ind.citeseer.tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
            "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        },
        note="15 papers have neither words nor a class: they stay in the graph, "
        "but enter no split and no metric",
    ),
    "pubmed": CitationGraph(
        label="PubMed",
        title="Medical papers on diabetes and their citations",
        nodes=19717,
        edges=44324,
        features=500,
        class_sizes={
            "Diabetes Mellitus, Experimental": 4103,
            "Diabetes Mellitus Type 2": 7739,
            "Diabetes Mellitus Type 1": 7875,
        },
        members={
            "ind.pubmed.allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
            "ind.pubmed.ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
            "ind.pubmed.graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
            "ind.pubmed.test.index": (
                "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"
            ),
            "ind.pubmed.tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
            "ind.pubmed.ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        },
    ),
}
