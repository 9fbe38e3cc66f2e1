"""What messages and labels have to be."""

from torch import Tensor

from bup.errors import BupError


def check_messages(mean: Tensor, var: Tensor, values: bool = True) -> None:
    if mean.shape != var.shape or mean.ndim < 2 or not mean.is_floating_point():
        raise BupError(
            "mean and var must be floating-point tables [..., nodes, classes] of one shape, got "
            f"{mean.dtype} {list(mean.shape)} and {var.dtype} {list(var.shape)}"
        )
    if mean.shape[-1] < 2:
        raise BupError(f"a label needs at least 2 classes to choose from, got {mean.shape[-1]}")
    if not values:
        return
    for name, tensor in (("mean", mean), ("var", var)):
        if not (finite := tensor.isfinite()).all():
            raise BupError(f"{name} must be finite, got {tensor[~finite][0].item()}")
    if not (positive := var > 0).all():
        raise BupError(f"every variance must be positive, got {var[~positive][0].item()}")


def check_labels(labels: Tensor, mean: Tensor, values: bool = True) -> Tensor:
    """The labels, repeated over the leading dimensions they do not have."""
    nodes, classes = mean.shape[:-1], mean.shape[-1]
    if labels.ndim < 1 or labels.shape != nodes[-labels.ndim :] or labels.is_floating_point():
        raise BupError(
            f"labels must be one whole number per node, shape {list(nodes)}, got "
            f"{labels.dtype} {list(labels.shape)}"
        )
    if values and labels.numel() and not ((labels >= 0) & (labels < classes)).all():
        raise BupError(
            f"labels must be between 0 and {classes - 1}, got {labels.min()} to {labels.max()}"
        )
    return labels.long().expand(nodes)
