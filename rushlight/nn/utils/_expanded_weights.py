"""Weights that get a gradient for each sample of a batch, in `grad_sample`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ...autograd import grad as gradients_of
from ...autograd.function import Function, FunctionCtx
from ...func import vjp, vmap
from ...ops.memory.dtype import Device, DType
from ...ops.table.grad_mode import enable_grad
from ...ops.tensors.overriding import DisableTorchFunctionSubclass
from ...ops.tensors.sizes import Size
from ...ops.tensors.tensor import Tensor
from .. import functional

__all__ = ["ExpandedWeight"]

_HANDLED: Final = frozenset(
    each.__name__
    for each in (
        *(functional.linear, functional.embedding),
        *(functional.conv1d, functional.conv2d, functional.conv3d),
        *(functional.group_norm, functional.instance_norm, functional.layer_norm),
    )
)
"""Functions whose results of one sample depend on no other sample of their first argument."""

Applied = Callable[[Tensor, tuple[Tensor, ...]], Tensor]


class ExpandedWeight(Tensor):
    """A weight in the place of `orig_weight`, for one call over a batch.

    `backward` adds the gradients of the samples to `orig_weight.grad_sample`, and none to `grad`.

    Args:
        orig_weight: the weight.
        batch_size: the number of samples.
        loss_reduction: `sum` or `mean`, as the loss puts the samples together.

    Raises:
        RuntimeError: it is no tensor, or wants no gradient; the weight is given to a function that
            has no gradients for each sample.
    """

    orig_weight: Tensor
    batch_size: int
    loss_reduction: str

    def __new__(cls, orig_weight: object, batch_size: int, loss_reduction: str) -> ExpandedWeight:
        if not isinstance(orig_weight, Tensor):
            kind = type(orig_weight).__name__
            raise RuntimeError(f"Can only make Expanded Weights of Tensors, got {kind}")
        if not orig_weight.requires_grad:
            raise RuntimeError(
                "Can only build ExpandedWeights objects of tensors that require_grad"
            )
        return cls._of(orig_weight._array.view(), True)

    def __init__(self, orig_weight: Tensor, batch_size: int, loss_reduction: str) -> None:
        self.orig_weight, self.batch_size = orig_weight, batch_size
        self.loss_reduction = loss_reduction

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        if func.__name__ not in _HANDLED:
            raise RuntimeError(
                f"Expanded Weights encountered but cannot handle function {func.__name__}"
            )
        named = dict(kwargs or {})
        first, *rest = args or (named.pop("input"),)
        places = [*range(len(rest)), *named]
        values = [*rest, *named.values()]
        weights = {
            place: value
            for place, value in zip(places, values, strict=True)
            if isinstance(value, ExpandedWeight)
        }
        for weight in weights.values():
            _check_batch(first, weight)

        def applied(samples: Tensor, plain: tuple[Tensor, ...]) -> Tensor:
            held = dict(zip(places, values, strict=True)) | dict(zip(weights, plain, strict=True))
            result: Tensor = func(
                samples,
                *(held.pop(place) for place in range(len(rest))),
                **{str(name): value for name, value in held.items()},
            )
            return result

        with DisableTorchFunctionSubclass():
            return _PerSample.apply(applied, first, *weights.values())

    @property
    def shape(self) -> Size:
        """The sizes of the weight."""
        return self.orig_weight.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the weight."""
        return self.orig_weight.dtype

    @property
    def device(self) -> Device:
        """Where the weight is."""
        return self.orig_weight.device


def _check_batch(samples: Tensor, weight: ExpandedWeight) -> None:
    if samples.dim() < 2:
        raise RuntimeError(
            "Input does not have a batch dimension. Expanded Weights expected input of at least "
            f"rank 2, got of rank {samples.dim()}"
        )
    if samples.shape[0] != weight.batch_size:
        raise RuntimeError(
            "Expected ExpandedWeights to have batch size matching input but got input batch size "
            f"of {samples.shape[0]} with ExpandedWeight of batch size {weight.batch_size}"
        )


class _PerSample(Function):
    """A function of samples and weights: the gradient of the samples goes on as always, those of
    the weights are computed for each sample by itself and stay with the weights."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, applied: Applied, samples: Tensor, *weights: ExpandedWeight
    ) -> Tensor:
        ctx.applied, ctx.weights = applied, weights
        ctx.save_for_backward(samples)
        return applied(samples, tuple(weight.orig_weight for weight in weights))

    @staticmethod
    def backward(ctx: FunctionCtx, slope: Tensor) -> tuple[Tensor | None, ...]:
        (samples,) = ctx.saved_tensors
        plain = tuple(weight.orig_weight.detach() for weight in ctx.weights)
        for weight, found in zip(
            ctx.weights, _of_each_sample(ctx.applied, samples, plain, slope), strict=True
        ):
            _keep(weight, found)
        onward = None
        if ctx.needs_input_grad[1]:
            with enable_grad():
                inner = samples.detach().requires_grad_()
                (onward,) = gradients_of(ctx.applied(inner, plain), inner, slope)
        return None, onward, *(None for _ in plain)


def _of_each_sample(
    applied: Applied, samples: Tensor, plain: tuple[Tensor, ...], slope: Tensor
) -> tuple[Tensor, ...]:
    def of_one(sample: Tensor, its_slope: Tensor) -> object:
        def result(*weights: Tensor) -> Tensor:
            return applied(sample.unsqueeze(0), weights).squeeze(0)

        return vjp(result, *plain)[1](its_slope)

    found: tuple[Tensor, ...] = vmap(of_one)(samples, slope)
    return found


def _keep(weight: ExpandedWeight, found: Tensor) -> None:
    """Add gradients to those of the weight; a mean has divided them by the number of samples."""
    if weight.loss_reduction == "mean":
        found = found * weight.batch_size
    whole: Any = weight.orig_weight
    earlier = getattr(whole, "grad_sample", None)
    whole.grad_sample = found if earlier is None else earlier + found
