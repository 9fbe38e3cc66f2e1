"""Monte Carlo dropout (Gal and Ghahramani 2016) on a GCN: dropout stays on when predicting."""

from dataclasses import dataclass

from bup.engine.loop import Trained
from bup.io.lazy import torch
from bup.methods import gcn
from bup.methods.base import Explains, Fitted, Method
from bup.run.settings import setting
from bup.run.splits import Split
from bup.scores.samples import SAMPLED, sample_scores


@dataclass(frozen=True)
class McDropoutSettings(gcn.GcnSettings):
    samples: int = setting(10, "Passes with dropout that a prediction averages.", low=1, high=1000)


class McDropoutNetwork(gcn.GcnNetwork):
    def predict(self, trained: Trained, split: Split, seed: int) -> Fitted:
        # A generator of its own: how far training's has run depends on the other seeds.
        generators = [torch.Generator().manual_seed(seed)]
        passes = [
            self.output(trained.parameters, self.everything, generators).softmax(-1)
            for _ in range(self.s.samples)
        ]
        probs, scores = sample_scores(torch.stack(passes))
        return Fitted.of(trained, probs, scores=scores)


METHOD = Method(
    name="mc_dropout",
    title="Monte Carlo dropout",
    explanation="A GCN that keeps dropping inputs at random when it predicts, ten times over. "
    "The answer is the mean; where the ten disagree, the network does not know.",
    settings=McDropoutSettings,
    fit_batch=McDropoutNetwork.fit_batch,
    explains=Explains(layers=gcn.layers, remainder="the average over random dropout"),
    scores=SAMPLED,
    is_stochastic=True,
)
