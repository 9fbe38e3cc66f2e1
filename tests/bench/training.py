"""Training speed: an epoch against PyG's usual GCN, seeds side by side, growth with the graph."""

from __future__ import annotations

import dataclasses
import multiprocessing
import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

import bup
from bup.engine.loop import Schedule, train
from bup.graph import Graph
from bup.methods.bup import BupNetwork, BupSettings
from tests.bench.timing import interleaved, report

EPOCHS = 5
"""Epochs per measurement: an epoch is a training step and a validation pass."""


def our_epochs(graph: Graph, settings: BupSettings, **split: int) -> Callable[[], object]:
    """A few epochs of BUP, prepared so that a call does nothing but train and validate."""
    generators = [torch.Generator().manual_seed(0)]
    network = BupNetwork(graph, [bup.make_split(graph, **split)], settings, generators)
    schedule = Schedule(EPOCHS, EPOCHS + 1, settings.learning_rate, settings.weight_decay)
    return lambda: train(network, schedule, generators)


def pyg_epochs(graph: Graph, hidden: int = 64) -> Callable[[], object]:
    """The same number of epochs of the GCN that PyG's own example trains: dense words, cached."""
    from torch_geometric.nn import GCNConv

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = GCNConv(graph.num_features, hidden, cached=True)
            self.second = GCNConv(hidden, graph.num_classes, cached=True)

        def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            x = torch.nn.functional.dropout(x, 0.5, self.training)
            x = self.first(x, index).relu()
            x = torch.nn.functional.dropout(x, 0.5, self.training)
            return self.second(x, index)

    words = torch.from_numpy(graph.features.toarray())
    words = words / words.sum(dim=1, keepdim=True).clamp_min(1)
    index = torch.tensor(np.concatenate([graph.edges, graph.edges[::-1]], axis=1))
    split = bup.make_split(graph)
    labels = torch.tensor(graph.labels)
    nodes, held = torch.from_numpy(split.train), torch.from_numpy(split.validation)
    model = Net()
    optimiser = torch.optim.Adam(
        [
            {"params": model.first.parameters(), "weight_decay": 5e-4},
            {"params": model.second.parameters()},
        ],
        lr=0.01,
    )

    def epochs() -> None:
        for _ in range(EPOCHS):
            model.train()
            optimiser.zero_grad()
            output = model(words, index)
            torch.nn.functional.cross_entropy(output[nodes], labels[nodes]).backward()
            optimiser.step()
            model.eval()
            with torch.no_grad():
                torch.nn.functional.cross_entropy(model(words, index)[held], labels[held])

    return epochs


def run_epochs() -> None:
    """One BUP epoch against one of PyG's GCN, hidden 64; and the exact loss against erf."""
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for name in ("cora", "citeseer"):
            graph = bup.load_graph(name)
            default = BupSettings()
            contenders = {"PyG GCN": pyg_epochs(graph)}
            for words, changes in {
                "erf loss": {"loss": "erf"},
                "exact loss": {"loss": "exact"},
                "exact loss and prediction": {"loss": "exact", "prediction": "exact"},
            }.items():
                settings = dataclasses.replace(default, **changes)
                contenders[f"BUP, {words}"] = our_epochs(graph, settings)
            evidence = dataclasses.replace(default, propagation="evidence")
            contenders["BUP, evidence"] = our_epochs(graph, evidence)
            seconds = interleaved(contenders, repeats=9)
            seconds = {who: value / EPOCHS for who, value in seconds.items()}
            report(f"{name}, one epoch, {threads} thread(s)", seconds, peer="PyG GCN")
            ratio = seconds["BUP, exact loss"] / seconds["BUP, erf loss"]
            print(f"  the exact loss is {ratio:.2f}x erf")


def run_seeds() -> None:
    """Ten seeds side by side against one, training alone; all train the same number of epochs."""
    training = {"epochs": 50, "patience": 51, "calibrate": "none"}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for name in ("cora", "citeseer"):
            graph = bup.load_graph(name)
            one, ten = (
                partial(bup.fit_many, graph, seeds=range(seeds), **training) for seeds in (1, 10)
            )
            seconds = interleaved({"one seed": one, "ten seeds": ten}, repeats=9)
            report(f"{name}, 50 epochs, {threads} thread(s)", seconds, peer="one seed")


def _grow(nodes: int, share: float, queue: multiprocessing.Queue) -> None:
    """Seconds per epoch and peak memory on a synthetic graph, in a process of its own."""
    torch.set_num_threads(2)
    if nodes:
        graph = bup.load_graph(f"synthetic:nodes={nodes},mean_degree=10")
    else:
        graph = bup.load_graph("pubmed")
    per_class = max(20, int(share * graph.num_nodes / graph.num_classes / 2))
    smallest = np.bincount(graph.labels).min()
    split = {"per_class": min(per_class, int(smallest)), "validation": 200, "test": 2000}
    epochs = our_epochs(graph, BupSettings(), **split)
    epochs()
    start = time.perf_counter()
    epochs()
    seconds = (time.perf_counter() - start) / EPOCHS
    size = graph.num_edges + graph.features.nnz
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    queue.put((graph.num_nodes, graph.num_edges, graph.features.nnz, size, seconds, peak))


def run_growth() -> None:
    """Seconds per epoch from 10^4 to 10^6 nodes (5 edges a node), and on PubMed.

    With 20 training nodes per class an epoch sees little of a large graph, so the second table
    trains on a tenth of all nodes, whose neighbourhood is nearly everything.
    """
    context = multiprocessing.get_context("spawn")
    for share, title in ((0.0, "20 training nodes per class"), (0.2, "a tenth of the nodes train")):
        print(f"{title}: nodes, edges, nonzeros, s per epoch, ns per edge + nonzero, GiB at most")
        for nodes in (0, 10_000, 30_000, 100_000, 300_000, 1_000_000):
            queue = context.Queue()
            process = context.Process(target=_grow, args=(nodes, share, queue))
            process.start()
            n, edges, nonzeros, size, seconds, peak = queue.get(timeout=1800)
            process.join()
            print(
                f"  {n:>9,} {edges:>10,} {nonzeros:>11,} {seconds:9.4f} "
                f"{1e9 * seconds / size:8.1f} {peak:6.2f}" + ("   PubMed" if not nodes else "")
            )
