"""Batch normalisation by the batches of several processes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from ...ops.eager.dispatch import eager_function
from ...ops.table.grad_mode import no_grad
from ...ops.tensors.tensor import Tensor
from .module import Module

__all__ = ["is_shared", "normalised"]

_OWN = __name__.partition(".")[0]


def is_shared(group: object) -> bool:
    """Whether there are several processes whose batches are one."""
    distributed: ModuleType = import_module(
        f"{_OWN}.distributed.groups"
    )  # not needed by one process
    return bool(distributed.is_initialized() and distributed.is_several(group))


def normalised(module: Module, input: Tensor, share: float) -> Tensor:
    """A batch with the mean of all processes taken off, divided by their deviation.

    Args:
        module: has `weight`, `bias`, `eps`, running statistics and `process_group`.
        input: (N, C, ...); N may differ between processes.
        share: how far the batch moves the running statistics.

    Raises:
        ValueError: all processes together have one value for each channel.
    """
    all_reduce: Callable[..., Tensor] = import_module(
        f"{_OWN}.distributed.nn.functional"
    ).all_reduce
    group, channels = module.process_group, input.shape[1]
    along = [axis for axis in range(input.dim()) if axis != 1]
    shape = [1, channels] + [1] * (input.dim() - 2)
    wide = input.double() if input.dtype.itemsize > 4 else input.float()
    mine = eager_function("aten::full")([1], input.numel() / channels, dtype=wide.dtype)
    sums = all_reduce(eager_function("aten::cat")([wide.sum(along), mine]), group=group)
    count = float(sums[-1].detach())
    if count <= 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{list(input.shape)}"
        )
    mean = sums[:-1] / count
    centred = wide - mean.reshape(shape)
    variance = all_reduce((centred * centred).sum(along), group=group) / count
    if module.running_mean is not None and module.track_running_stats:
        with no_grad():
            module.running_mean.lerp_(mean.to(module.running_mean.dtype), share)
            unbiased = variance * (count / (count - 1))
            module.running_var.lerp_(unbiased.to(module.running_var.dtype), share)
    made = centred * (variance.reshape(shape) + module.eps).rsqrt()
    if module.weight is not None:
        made = made * module.weight.reshape(shape)
    if module.bias is not None:
        made = made + module.bias.reshape(shape)
    cast: Tensor = made.to(input.dtype)
    return cast
