"""Graph Gaussian process (Ng et al. 2018): random functions, averaged over neighbourhoods.

Class c has a function f_c ~ GP(0, k) of a node's words, and node n the mean h_c(n) of f_c over n
and its neighbours; the largest h gives the label. Functions are known by their values u at inducing
points, so three blocks of the kernel are needed: K_uu, K_hu and the diagonal of K_hh.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from bup import likelihood
from bup.engine.loop import Parameters, Trained
from bup.engine.sparse import Csr
from bup.graph import Graph
from bup.graph.operators import walk
from bup.io.extras import needs
from bup.io.lazy import Tensor, distributions, sparse, torch
from bup.methods.base import (
    CalibratesVariance,
    Explains,
    Fitted,
    Method,
    ProbabilityIntervals,
    ScheduleSettings,
    probability_intervals,
)
from bup.methods.network import SingleNetwork
from bup.run.settings import make_settings, setting
from bup.run.splits import Split
from bup.scores.messages import MESSAGE_ENTROPY, MESSAGE_STD

if TYPE_CHECKING:
    from bup.results.result import Result

POWER = 3  # of the kernel (x . x' + offset)^3
JITTER = 1e-5
SMALLEST_VARIANCE = 1e-6
KMEANS_STEPS = 20
CHUNK = 512  # nodes that are predicted at a time


@dataclass(frozen=True)
class GgpSettings(CalibratesVariance, ScheduleSettings):
    """Its authors train longer: epochs=10000, patience=10000, learning_rate=0.0005, keep=last."""

    epochs: int = setting(500, "Epochs at most.", low=1, high=20_000)
    error_rate: float = setting(
        1e-3,
        "How often a label is taken to be wrong: no probability falls below its share of this.",
        low=1e-9,
        high=0.5,
    )


@dataclass(frozen=True, eq=False)
class KernelRegion:
    """Target nodes and their neighbours, as the blocks of the kernel need them."""

    words: Csr  # [near, f] of the targets and their neighbours
    means: Csr  # [targets, near], rows sum to one
    moments: Tensor  # [targets, POWER]: mean over pairs of neighbours of (x . x')^k, k = 1, 2, 3

    @classmethod
    def of(
        cls, words: sparse.csr_array, means: sparse.csr_array, nodes: np.ndarray
    ) -> KernelRegion:
        rows = means[nodes]
        near = np.unique(rows.indices)
        rows, words = sparse.csr_array(rows[:, near]), words[near]
        dots = (words @ words.T).toarray()
        moments = [(rows @ dots**k * rows.toarray()).sum(axis=1) for k in range(1, POWER + 1)]
        return cls(
            words=Csr.from_scipy(words, torch.float64),
            means=Csr.from_scipy(rows, torch.float64),
            moments=torch.from_numpy(np.stack(moments, axis=1)),
        )

    def variances(self, offset: Tensor) -> Tensor:
        """The diagonal of K_hh [targets]: a polynomial in the offset, by the binomial theorem."""
        orders = range(1, POWER + 1)
        terms = [
            math.comb(POWER, k) * self.moments[:, k - 1] * offset ** (POWER - k) for k in orders
        ]
        return offset**POWER + torch.stack(terms).sum(0)

    def covariances(self, inducing: Tensor, offset: Tensor) -> Tensor:
        """K_hu [targets, m] for inducing points [f, m]."""
        return self.means.matmul((self.words.matmul(inducing) + offset) ** POWER)


class GaussianProcess:
    """Whitened posteriors over the inducing values, one per class, and the kernel they share."""

    def __init__(self, inducing: Tensor, classes: int, offset: float) -> None:
        # GPyTorch takes seconds to load: it is imported for this method only.
        with needs("methods", "the method ggp"):
            from gpytorch.distributions import MultivariateNormal
            from gpytorch.kernels import PolynomialKernel
            from gpytorch.variational import CholeskyVariationalDistribution
            from linear_operator.operators import IdentityLinearOperator

        points = inducing.shape[1]
        each = torch.Size([1, classes])
        self.inducing = inducing[None]  # [1, f, m]
        self.posterior = CholeskyVariationalDistribution(points, batch_shape=each).double()
        self.kernel = PolynomialKernel(power=POWER, batch_shape=torch.Size([1])).double()
        self.kernel.offset = torch.tensor([[offset]])
        self.prior = MultivariateNormal(
            torch.zeros(*each, points, dtype=torch.float64),
            IdentityLinearOperator(points, batch_shape=each, dtype=torch.float64),
        )

    def parameters(self) -> Parameters:
        return {
            "inducing": self.inducing,
            "raw_offset": self.kernel.raw_offset,
            "mean": self.posterior.variational_mean,
            "root": self.posterior.chol_variational_covar,
        }

    def divergence(self) -> Tensor:
        """KL(q || p), summed over the classes."""
        return distributions.kl_divergence(self.posterior(), self.prior).sum()

    def messages(self, region: KernelRegion) -> tuple[Tensor, Tensor]:
        """Mean and variance [targets, c] of every class's h."""
        q = self.posterior()
        inducing, offset = self.inducing[0], self.kernel.offset.squeeze()
        points = inducing.T
        among = self.kernel(points, points).to_dense()[0]  # K_uu
        root = torch.linalg.cholesky(among + JITTER * torch.eye(len(among), dtype=among.dtype))
        cross = region.covariances(inducing, offset)
        whitened = torch.linalg.solve_triangular(root, cross.T, upper=False)  # [m, targets]
        explained = whitened.square().sum(0)
        spread = (q.scale_tril[0].mT @ whitened).square().sum(1)  # [c, targets]
        variance = (region.variances(offset) - explained + spread).clamp_min(SMALLEST_VARIANCE)
        return (q.mean[0] @ whitened).T, variance.T


def robust(probs: Tensor, error_rate: float, classes: int) -> Tensor:
    """Probabilities of labels that are wrong at the error rate, from those of the largest h."""
    return probs * (1 - error_rate) + (1 - probs) * error_rate / (classes - 1)


def expected_log_likelihood(mean: Tensor, var: Tensor, labels: Tensor, error_rate: float) -> Tensor:
    """Mean over messages of the log of a label's robust probability [targets]."""
    right = likelihood.log_likelihood(mean, var, labels, rule="exact", check=False).exp()
    wrong = math.log(error_rate / (mean.shape[-1] - 1))
    return right * math.log1p(-error_rate) + (1 - right) * wrong


class GgpNetwork(SingleNetwork):
    def __init__(
        self, graph: Graph, split: Split, seed: int, s: GgpSettings, generator: torch.Generator
    ) -> None:
        super().__init__(graph, split, seed, s, generator)
        self.words, self.means = tf_idf(graph), walk(graph)
        offset = abs(5 + torch.randn(1, generator=generator).item())
        self.process = GaussianProcess(centres(self.words, split.train), len(split.classes), offset)
        self.train_region, self.validation_region = (
            KernelRegion.of(self.words, self.means, nodes)
            for nodes in (split.train, split.validation)
        )
        self.parameters = self.process.parameters()

    def training_loss(self, generators: Sequence[torch.Generator]) -> Tensor:
        mean, var = self.process.messages(self.train_region)
        fit = expected_log_likelihood(mean, var, self.train.labels, self.s.error_rate)
        return (self.process.divergence() - fit.sum())[None] / len(fit)

    def validation(self) -> tuple[Tensor, Tensor]:
        mean, var = self.process.messages(self.validation_region)
        labels = self.held_out.labels
        log_right = likelihood.log_likelihood(mean, var, labels, rule="exact", check=False)
        probs = robust(log_right.exp(), self.s.error_rate, mean.shape[-1])
        hits = mean.argmax(-1) == labels
        return -probs.log().mean()[None], hits.double().mean()[None]

    def predict(self, trained: Trained, generator: torch.Generator) -> Fitted:
        for name, tensor in self.process.parameters().items():
            tensor.copy_(trained.parameters[name])
        count = self.graph.num_nodes
        messages = [
            self.process.messages(KernelRegion.of(self.words, self.means, nodes))
            for nodes in np.array_split(np.arange(count), math.ceil(count / CHUNK))
        ]
        mean, var = (torch.cat(part) for part in zip(*messages, strict=True))
        constants = {"offset": self.process.kernel.offset.item()}
        probs = link(self.s, mean, var)
        return Fitted.of(trained, probs.float(), mean.float(), var.float(), constants)


def tf_idf(graph: Graph) -> sparse.csr_array:
    """Words weighted by how rare they are (TF-IDF), rows of length one."""
    from sklearn.feature_extraction.text import TfidfTransformer

    words = sparse.csr_array(graph.features, dtype=np.float64)
    return sparse.csr_array(TfidfTransformer(smooth_idf=True).fit_transform(words))


def centres(words: sparse.csr_array, start: np.ndarray) -> Tensor:
    """k-means centres of all nodes' words [f, m], beginning at the ``start`` nodes.

    On one thread, for several add up in any order and the same seed would not be the same run.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    first = words[start].toarray()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different nodes than centres
        means = KMeans(len(start), init=first, n_init=1, max_iter=KMEANS_STEPS).fit(words)
    return torch.from_numpy(np.ascontiguousarray(means.cluster_centers_.T))


def link(s: GgpSettings, mean: Tensor, var: Tensor) -> Tensor:
    """Class probabilities of messages."""
    return robust(likelihood.class_probabilities(mean, var), s.error_rate, mean.shape[-1])


def probabilities(
    result: Result, mean: np.ndarray, var: np.ndarray, level: float
) -> ProbabilityIntervals:
    """Probabilities of messages and their interval, by the run's settings.

    The correction for wrong labels is linear, so it maps mean and interval alike.
    """
    s = make_settings(GgpSettings, dict(result.spec.settings), result.spec.method)
    intervals = probability_intervals("exact", result, mean, var, level)
    parts = (torch.from_numpy(part) for part in intervals if part is not None)
    return ProbabilityIntervals(
        *(robust(part, s.error_rate, mean.shape[-1]).numpy() for part in parts)
    )


METHOD = Method(
    name="ggp",
    title="Graph Gaussian process (GGP)",
    explanation="Each class has a random function of a node's words, and a node compares the means "
    "of these functions over itself and its neighbours. Training nodes with similar words settle "
    "the functions; where there are none they stay uncertain, and so does the answer.",
    settings=GgpSettings,
    effort=14,
    memory=4,
    reads_whole_graph=True,
    fit_one=GgpNetwork.fit_one,
    scores=(MESSAGE_STD, MESSAGE_ENTROPY),
    explains=Explains(variance=True, probabilities=probabilities),
    link=link,
)
