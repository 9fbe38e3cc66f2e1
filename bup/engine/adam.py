"""Torch's Adam without torch's compiler, whose import takes longer than a small run."""

from collections.abc import Sequence

from bup.io.lazy import Tensor, torch


class Adam:
    """As ``torch.optim.Adam`` with its usual settings, bit by bit.

    That class imports ``torch._dynamo`` when it is made; the function behind it does not.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        learning_rate: float,
        weight_decay: float = 0.0,
        fused: bool = False,
    ) -> None:
        self.parameters, self.fused = parameters, fused
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.first, self.second = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
        self.steps = [torch.tensor(0.0) for _ in parameters]

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    def step(self) -> None:
        from torch.optim.adam import adam

        columns = self.parameters, self.first, self.second, self.steps
        moved = [row for row in zip(*columns, strict=True) if row[0].grad is not None]
        if not moved:
            return
        parameters, first, second, steps = map(list, zip(*moved, strict=True))
        with torch.no_grad():
            adam(
                parameters,
                [parameter.grad for parameter in parameters],
                first,
                second,
                [],
                steps,
                foreach=False,
                fused=self.fused,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self.learning_rate,
                weight_decay=self.weight_decay,
                eps=1e-8,
                maximize=False,
            )
