"""Predictions and models of one's own as runs beside ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bup import likelihood, predictions, runs
from bup.calibrators.base import label_nll
from bup.errors import BupError
from bup.graph import Graph
from bup.predictions import Predictions
from bup.results import Result
from bup.spec import Spec
from bup.splits import Split, split_of, usual_sizes
from bup.training import OnEpoch, Parameters, Schedule, train

FitFunction = Callable[[Graph, Split], Any]
"""From a graph and a split: probabilities [n, c], or a mean and a variance of messages."""


def run_of_predictions(
    graph: Graph, given: Predictions, per_class: int | None = None, seed: int = 0, **settings: Any
) -> Spec:
    """Keep predictions, and say which run they are; a split of their own goes before the others."""
    validation, test = usual_sizes(graph)
    if per_class is None:
        sizes = np.bincount(graph.labels[graph.labelled], minlength=graph.num_classes)
        per_class = max(1, min(20, int(sizes[list(given.classes)].min()) // 3))
    left_out = tuple(c for c in range(graph.num_classes) if c not in given.classes)
    settings = {"predictions": given.keep(), **settings}
    return runs.methods.complete(
        Spec(
            graph=graph.name,
            method=given.method,
            per_class=per_class,
            validation=validation,
            test=test,
            left_out=left_out,
            seed=seed,
            settings=tuple(settings.items()),
        )
    )


def fit_model(
    graph: Graph,
    model: nn.Module | FitFunction,
    spec: Spec,
    on_epoch: OnEpoch | None = None,
    epochs: int = 400,
    patience: int = 40,
    learning_rate: float = 0.01,
    weight_decay: float = 5e-4,
    **settings: Any,
) -> Result:
    """Train a model of one's own on the split of ``spec``, or let it train itself.

    A module is called with (x, edge_index), as PyTorch Geometric's are, and answers with a score
    [n, c] for each class or with the mean and the variance of messages; our loop trains it. A
    function is called with the graph and the split, and answers with probabilities or with a mean
    and a variance of messages for every node.
    """
    split = split_of(graph, spec)
    history, kept_epoch = None, 1
    if isinstance(model, nn.Module):
        schedule = Schedule(epochs, patience, learning_rate, weight_decay)
        network = _Module(model, graph, split)
        # A module draws its dropout from torch's own generator, which is put back afterwards.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(spec.seed)
            (trained,) = train(network, schedule, [torch.Generator()], on_epoch)
        history, kept_epoch = trained.history, trained.kept_epoch
        answer = network.keep(trained.parameters)
    elif callable(model):
        answer = model(graph, split)
    else:
        raise BupError(f"a model is a torch module or a function, got {type(model).__name__}")
    if isinstance(answer, tuple) and len(answer) == 2:
        mean, var = map(_array, answer)
        given = predictions.checked(graph, mean=mean, var=var, classes=split.classes)
    else:
        given = predictions.checked(graph, _array(answer), classes=split.classes)
    settings = {"predictions": given.keep(), **settings}
    spec = dataclasses.replace(spec, method=given.method, settings=tuple(settings.items()))
    (result,) = runs.fit_specs(graph, [spec])
    return (
        result
        if history is None
        else dataclasses.replace(result, history=history, kept_epoch=kept_epoch)
    )


def _array(values: Any) -> np.ndarray:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)


class _Module:
    """A torch module as our loop wants it: parameters with a leading dimension of one seed."""

    def __init__(self, module: nn.Module, graph: Graph, split: Split) -> None:
        self.module, self.split = module, split
        data = graph.to_pyg()
        self.inputs = data.x, data.edge_index
        self.parameters: Parameters = {
            name: tensor.detach()[None].clone() for name, tensor in module.named_parameters()
        }
        if not self.parameters:
            raise BupError("the model has no parameters to train: give a function instead")
        self.decayed = tuple(self.parameters)
        self.train_nodes, self.held_nodes = map(torch.from_numpy, (split.train, split.validation))
        labels = torch.from_numpy(split.targets(graph.labels))
        self.train_labels, self.held_labels = labels[self.train_nodes], labels[self.held_nodes]

    def _answer(self, parameters: Parameters) -> Any:
        named = {name: tensor[0] for name, tensor in parameters.items()}
        answer = torch.func.functional_call(self.module, named, self.inputs)
        tables = answer if isinstance(answer, tuple) else (answer,)
        wanted = (len(self.inputs[0]), len(self.split.classes))
        if len(tables) > 2 or any(tuple(table.shape) != wanted for table in tables):
            raise BupError(
                f"the model must answer with [nodes, classes] = {list(wanted)}, once for scores or "
                f"twice for mean and variance, got {[list(table.shape) for table in tables]}"
            )
        return answer

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        self.module.train()
        answer = self._answer(self.parameters)
        if isinstance(answer, tuple):
            mean, var = (table[self.train_nodes] for table in answer)
            loss = -likelihood.log_likelihood(mean, var, self.train_labels, rule="exact").mean()
        else:
            loss = nn.functional.cross_entropy(answer[self.train_nodes], self.train_labels)
        return loss[None]

    def validation(self) -> tuple[Tensor, Tensor]:
        self.module.eval()
        probs = _probabilities(self._answer(self.parameters), self.held_nodes)
        hits = (probs.argmax(-1) == self.held_labels).float().mean()
        return label_nll(probs, self.held_labels).mean()[None], hits[None]

    def keep(self, parameters: Parameters) -> Any:
        """Put the kept weights into the module, and let it answer for every node."""
        self.module.eval()
        with torch.no_grad():
            for name, tensor in self.module.named_parameters():
                tensor.copy_(parameters[name][0])
            answer = self._answer(parameters)
        return answer if isinstance(answer, tuple) else answer.softmax(-1)


def _probabilities(answer: Any, nodes: Tensor) -> Tensor:
    if isinstance(answer, tuple):
        return likelihood.class_probabilities(answer[0][nodes], answer[1][nodes], rule="exact")
    return answer[nodes].softmax(-1)
