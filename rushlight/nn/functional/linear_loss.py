"""Functions of layers: cross entropy of a linear layer's scores, for eager code alone."""

# mypy: disable-error-code="no-any-return"
import math
import warnings

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from .class_losses import cross_entropy

__all__ = ["linear_cross_entropy"]

_linear = eager_function("aten::linear")
_int64 = DTYPES["int64"]


def _check(
    input: Tensor, weight: Tensor, target: Tensor, bias: Tensor | None, ignore_index: int | None
) -> None:
    """Raises: RuntimeError: shapes do not fit together."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {weight.dim()}"
        )
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    rows = tuple(weight.shape[:-1])
    if bias is not None and tuple(bias.shape) != rows:
        raise RuntimeError(f"expected linear_bias shape {rows}, got {tuple(bias.shape)}")
    if len(rows) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires "
            f"batched input, (N, {input.shape[-1]}), got unbatched input with shape "
            f"{tuple(input.shape)}"
        )
    if tuple(target.shape) == (*input.shape[:-1], *rows) and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: object = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)`.

    `options` only say in which pieces torch computes it; here they change nothing.
    """
    if (
        type(input) not in PLAIN
        or type(linear_weight) not in PLAIN
        or type(target) not in PLAIN
        or type(linear_bias) not in PLAIN
        or type(weight) not in PLAIN
    ) and asks(input, linear_weight, target, linear_bias, weight):
        return ask_for(linear_cross_entropy, locals())
    _check(input, linear_weight, target, linear_bias, ignore_index)
    rows = tuple(linear_weight.shape[:-1])
    in_pieces = (
        len(rows) == 1
        and reduction in ("mean", "sum", "none")
        and label_smoothing == 0.0
        and target.dtype == _int64
    )
    if options is not None and not in_pieces:
        warnings.warn("linear_cross_entropy: ``options`` ignored", stacklevel=2)
    shape = (*input.shape[:-1], *rows)
    flat = linear_weight.reshape(math.prod(rows), linear_weight.shape[-1])
    bias = None if linear_bias is None else linear_bias.reshape(math.prod(rows))
    return cross_entropy(
        _linear(input, flat, bias).reshape(shape),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )
