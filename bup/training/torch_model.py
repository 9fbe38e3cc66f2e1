"""Imported predictions and your own PyTorch models as runs like any other."""

import contextlib
import copy
import dataclasses
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from bup import likelihood
from bup.calibrators.base import label_nll
from bup.engine.loop import OnEpoch, Parameters, Schedule, train
from bup.errors import BupError
from bup.graph import Graph
from bup.imported import predictions
from bup.imported.predictions import Predictions
from bup.methods import complete
from bup.methods.base import Differentiable
from bup.methods.network import NetworkSettings
from bup.results.result import Result
from bup.run.settings import make_settings
from bup.run.spec import Spec, to_plain
from bup.run.splits import Split, split_of
from bup.training import fitting

FitFunction = Callable[[Graph, Split], Any]
"""From a graph and a split: probabilities [n, c], or a mean and a variance of messages."""


def run_of_predictions(
    graph: Graph, given: Predictions, per_class: int | None = None, seed: int = 0, **settings: Any
) -> Spec:
    """Store predictions and return the specification of their run.

    Parameters
    ----------
    graph : Graph
        The graph.
    given : Predictions
        The predictions, see :func:`bup.predictions.read`.
    per_class : int, default None
        Training nodes of each class of the split that they are judged on; None: 20, fewer where a
        class is small. Predictions with a split of their own are judged on that.
    seed : int, default 0
        Seed of this split.
    **settings
        Settings of the method ``own``, such as ``calibrate="temperature"``.

    Returns
    -------
    Spec
        ``bup.runs.fit_specs(graph, [spec])`` returns its result.

    Raises
    ------
    BupError
        If they cannot be stored, or a setting is wrong.

    Examples
    --------
    >>> import bup, numpy as np
    >>> graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    >>> given = bup.predictions.check(graph, np.full((60, 2), 0.5))
    >>> spec = bup.own.run_of_predictions(graph, given)
    >>> (result,) = bup.runs.fit_specs(graph, [spec])
    >>> result.probs[0].tolist()
    [0.5, 0.5]
    """
    given.save()
    return spec_of_predictions(graph, given, per_class, seed, **settings)


def spec_of_predictions(
    graph: Graph, given: Predictions, per_class: int | None = None, seed: int = 0, **settings: Any
) -> Spec:
    """The specification of predictions; their own split, if any, replaces the one here."""
    if per_class is None:
        sizes = np.bincount(graph.labels[graph.labelled], minlength=graph.num_classes)
        per_class = max(1, min(20, int(sizes[list(given.classes)].min()) // 3))
    left_out = tuple(c for c in range(graph.num_classes) if c not in given.classes)
    settings = {"predictions": given.key, **settings}
    fields = {"per_class": per_class, "left_out": left_out, "seed": seed}
    return complete(Spec.for_graph(graph, given.method, settings, **fields))


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
    """Train a model of your own on the split of ``spec``; ``bup.fit(graph, model=...)`` calls this.

    Parameters
    ----------
    graph : Graph
        The graph.
    model : torch.nn.Module or callable
        A module is called with ``(x, edge_index)``, with PyTorch Geometric's ``Data`` or with
        ``(x)``, as its ``forward`` asks, and returns logits [n, c], or the mean and the variance of
        messages. A copy of it is trained, from the weights that it has. A function is called with
        the graph and the split, trains itself, and returns probabilities [n, c], or the mean and
        the variance of messages.
    spec : Spec
        The graph's name, the split and the seed.
    on_epoch : callable, default None
        Called with a :class:`bup.Progress` after every epoch of a module.
    epochs : int, default 400
        Epochs at most.
    patience : int, default 40
        Epochs without a better validation loss after which training ends.
    learning_rate : float, default 0.01
        Learning rate of Adam.
    weight_decay : float, default 5e-4
        Weight decay of all parameters.
    **settings
        Settings of the method ``own``, such as ``calibrate="temperature"``.

    Returns
    -------
    Result
        Its ``model`` is the trained copy, with the weights and buffers of the kept epoch.

    Raises
    ------
    BupError
        If the model cannot be called or copied, or its output has another shape.

    Examples
    --------
    >>> import bup, torch
    >>> class Linear(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = torch.nn.Linear(20, 2)
    ...     def forward(self, x):
    ...         return self.layer(x)
    >>> graph = bup.load_graph("synthetic:nodes=60,classes=2,words=20")
    >>> spec = bup.Spec.for_graph(graph, "own", per_class=5)
    >>> bup.own.fit_model(graph, Linear(), spec, epochs=3).probs.shape
    (60, 2)
    """
    split = split_of(graph, spec)
    start = time.perf_counter()
    learned: dict[str, Any] = {}
    if isinstance(model, nn.Module):
        schedule = _schedule(epochs, patience, learning_rate, weight_decay)
        # A module draws its dropout from torch's own generator, which is put back afterwards.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(spec.seed)
            network = _Module(model, graph, split)
            (trained,) = train(
                network, schedule, [torch.Generator()], on_epoch, buffers=network.buffers
            )
        answer = network.predict(trained.parameters)
        learned = {"history": trained.history, "kept_epoch": trained.kept_epoch}
        learned["model"] = network.module
    elif callable(model) and not isinstance(model, type):
        answer = model(graph, split)
    else:
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise BupError(f"a model is a torch module (not its class) or a function, got {what}")
    if isinstance(answer, tuple) and len(answer) == 2:
        mean, var = map(_array, answer)
        given = predictions.check(graph, mean=mean, var=var, classes=split.classes)
    else:
        given = predictions.check(graph, _array(answer), classes=split.classes)
    title = getattr(model, "__name__", type(model).__name__)[: predictions.LONGEST_TITLE]
    settings = {"predictions": dataclasses.replace(given, title=title).save(), **settings}
    spec = dataclasses.replace(spec, method=given.method, settings=tuple(settings.items()))
    (result,) = fitting.fit_specs(graph, [spec])
    return dataclasses.replace(result, seconds=time.perf_counter() - start, **learned)


def _schedule(*values: float) -> Schedule:
    """How long to train and how fast, within what any network of ours may be asked for."""
    names = ("epochs", "patience", "learning_rate", "weight_decay")
    plain = dict(zip(names, map(to_plain, values), strict=True))
    return make_settings(NetworkSettings, plain, "a model of your own").schedule()


def _array(values: Any) -> np.ndarray:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)


class _Module:
    """A torch module as our loop wants it: parameters with a leading dimension of one seed."""

    def __init__(self, module: nn.Module, graph: Graph, split: Split) -> None:
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise BupError("the model has no parameters to train: give a function instead")
        try:
            self.module = copy.deepcopy(module)
        except RuntimeError as error:  # it holds a tensor that is the outcome of a computation
            raise BupError(
                f"a copy of the model is trained, and it cannot be copied ({error}): make it anew, "
                "or give a function"
            ) from error
        self.split, self.num_nodes = split, graph.num_nodes
        data = graph.to_pyg()
        del data.y  # classes to learn from are those of the split
        self.inputs = _inputs(module, data)
        with torch.no_grad():  # a module that waits for its first input makes its weights now
            self.module.eval()
            self._answer({})
        # What the user froze stays as it is.
        self.parameters: Parameters = {
            name: tensor.detach()[None].clone()
            for name, tensor in self.module.named_parameters()
            if tensor.requires_grad
        }
        self.decayed = tuple(self.parameters)
        self.train_nodes, self.held_nodes = map(torch.from_numpy, (split.train, split.validation))
        labels = torch.from_numpy(split.targets(graph.labels))
        self.train_labels, self.held_labels = labels[self.train_nodes], labels[self.held_nodes]

    def buffers(self) -> Parameters:
        """What a forward pass changes, such as the running statistics of a BatchNorm."""
        return {name: tensor.detach()[None] for name, tensor in self.module.named_buffers()}

    def _answer(self, parameters: Parameters) -> Any:
        named = {name: tensor[0] for name, tensor in parameters.items()}
        # Some modules write into the data that they are given.
        inputs = tuple(i if isinstance(i, Tensor) else copy.copy(i) for i in self.inputs)
        answer = torch.func.functional_call(self.module, named, inputs)
        tables = tuple(answer) if isinstance(answer, tuple | list) else (answer,)
        wanted = [self.num_nodes, len(self.split.classes)]
        shapes = [list(t.shape) if isinstance(t, Tensor) else type(t).__name__ for t in tables]
        if len(tables) > 2 or any(shape != wanted for shape in shapes):
            raise BupError(
                f"the model must answer with [nodes, classes] = {wanted}, once for scores or "
                f"twice for mean and variance, got {shapes}"
            )
        first = tables[0]
        if len(tables) == 1 and (first >= 0).all() and ((first.sum(-1) - 1).abs() < 1e-4).all():
            raise BupError(
                "the model answers with probabilities: each row is nonnegative and sums to 1. Our "
                "loop takes the softmax itself, so leave it out of the model (log_softmax may stay)"
            )
        return tables if len(tables) == 2 else first

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
        answer, nodes = self._answer(self.parameters), self.held_nodes
        if isinstance(answer, tuple):
            mean, var = (table[nodes] for table in answer)
            probs = likelihood.class_probabilities(mean, var, rule="exact")
        else:
            probs = answer[nodes].softmax(-1)
        hits = (probs.argmax(-1) == self.held_labels).float().mean()
        return label_nll(probs, self.held_labels).mean()[None], hits[None]

    def predict(self, best: Parameters) -> Any:
        """Load the best state into the copy, and predict every node."""
        for name, tensor in (*self.module.named_parameters(), *self.module.named_buffers()):
            if name in best:
                tensor.data = best[name][0]
        self.module.eval()
        with torch.no_grad():
            answer = self._answer({})
        return answer if isinstance(answer, tuple) else answer.softmax(-1)


def network(module: nn.Module, graph: Graph) -> Differentiable:
    """A trained module on a graph, as a function of the features that it reads."""
    module.eval()

    def outputs(x: Tensor) -> Tensor:
        data = graph.to_pyg()
        data.x = x
        answer = module(*_inputs(module, data))
        return answer[0] if isinstance(answer, tuple | list) else answer

    return Differentiable(outputs, features=sparse.csr_array(graph.features))


def _inputs(module: nn.Module, data: Any) -> tuple[Any, ...]:
    """What the module's ``forward`` asks for, of PyTorch Geometric's ``data``."""
    signature = inspect.signature(module.forward)
    first = next(iter(signature.parameters), "")
    ways: list[tuple[Any, ...]] = [(data.x, data.edge_index)]
    ways.append((data.x,) if first in ("x", "input") else (data,))
    for inputs in ways[1:] if first in ("data", "batch", "graph") else ways:
        with contextlib.suppress(TypeError):
            signature.bind(*inputs)
            return inputs
    raise BupError(
        "the model is called with (x, edge_index), with (data) or with (x), and its forward asks "
        f"for {signature}: give the others a default"
    )
