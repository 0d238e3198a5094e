"""Functions of layers: embeddings."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

import warnings
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.construct import stands_for
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from .. import dtype_names
from ..sizes import is_scripting

__all__ = [
    "embedding",
    "embedding_bag",
    "one_hot",
]

Operator = Callable[..., Tensor]

one_hot: Operator = eager_function("aten::one_hot")

_arange: Operator = eager_function("aten::arange")
_embedding: Operator = eager_function("aten::embedding")
_embedding_bag: Callable[..., tuple[Tensor, Tensor, Tensor, Tensor]] = eager_function(
    "aten::embedding_bag"
)
_embedding_renorm_: Operator = eager_function("aten::embedding_renorm_")


@stands_for("aten::_no_grad_embedding_renorm_")
def _no_grad_embedding_renorm_(
    weight: Tensor, input: Tensor, max_norm: float, norm_type: float
) -> None:
    """Shorten the rows that are looked up, unseen by autograd."""
    _embedding_renorm_(weight.detach(), input, max_norm, norm_type)


def _row_of(padding_idx: int, weight: Tensor) -> int:
    """The padding's row, counted from the first.

    Raises:
        AssertionError: there is no such row.
    """
    if padding_idx == 0:
        return 0
    rows = weight.size(0)
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx if padding_idx > 0 else padding_idx + rows


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` that `input` names; rows longer than `max_norm` are shortened."""
    if (type(input) not in PLAIN or type(weight) not in PLAIN) and asks(input, weight):
        return ask_for(embedding, locals())
    padding = -1 if padding_idx is None else _row_of(padding_idx, weight)
    if max_norm is None:
        return _embedding(weight, input, padding, scale_grad_by_freq, sparse)
    rows = input.contiguous()
    _no_grad_embedding_renorm_(weight, rows, max_norm, norm_type)
    return _embedding(weight, rows, padding, scale_grad_by_freq, sparse)


def _bag_starts_of_rows(input: Tensor, offsets: Tensor | None) -> Tensor:
    """Where the rows of a matrix of indices begin, one after the other.

    Raises:
        ValueError: `offsets` says so as well.
    """
    if offsets is not None:
        kind = "<unknown>"
        if not is_scripting():
            is_tensor = isinstance(offsets, Tensor)
            kind = "<class 'torch.Tensor'>" if is_tensor else str(type(offsets))
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
            f"of fixed length sequences. However, found offsets of type {kind}"
        )
    return _arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)


def _need_vector(offsets: Tensor | None) -> Tensor:
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return offsets


def _bag_mode(mode: str, scale_grad_by_freq: bool, sparse: bool) -> int:
    """The number of a mode.

    Raises:
        ValueError: an unknown one, or one that does not go with the flags.
    """
    if mode == "sum":
        return 0
    if mode == "mean":
        return 1
    if mode != "max":
        raise ValueError("mode has to be one of sum, mean or max")
    if scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if sparse:
        raise ValueError("max mode does not support sparse weights")
    return 2


def _check_bag(input: Tensor, weight: Tensor, shares: Tensor | None) -> None:
    """Raises: ValueError: the shares are not one for each index, or the weight is no matrix."""
    if shares is not None and input.size() != shares.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({shares.shape}) is not None, "
            f"then it must have the same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )


def _check_shares(shares: Tensor | None, mode: str) -> None:
    """Raises: NotImplementedError: there are shares, of what is not summed."""
    if shares is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. "
            "per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of rows of `weight`.

    A matrix of indices holds a bag in each row; of a vector `offsets` says where bags begin.
    """
    if (
        type(input) not in PLAIN
        or type(weight) not in PLAIN
        or type(offsets) not in PLAIN
        or type(per_sample_weights) not in PLAIN
    ) and asks(input, weight, offsets, per_sample_weights):
        return ask_for(embedding_bag, locals())
    if weight.dtype == dtype_names.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. "
            "Usage `embedding_bag(weight, input, ...)` is deprecated, "
            "and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    _check_bag(input, weight, per_sample_weights)
    dimensions = input.dim()
    names, shares = input, per_sample_weights
    if dimensions == 2:
        starts = _bag_starts_of_rows(input, offsets)
        names = input.reshape(-1)
        if shares is not None:
            shares = shares.reshape(-1)
    elif dimensions == 1:
        starts = _need_vector(offsets)
    else:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {dimensions}"
        )
    number = _bag_mode(mode, scale_grad_by_freq, sparse)
    if max_norm is not None:
        _no_grad_embedding_renorm_(weight, names, max_norm, norm_type)
    _check_shares(shares, mode)
    return _embedding_bag(
        weight,
        names,
        starts,
        scale_grad_by_freq,
        number,
        sparse,
        shares,
        include_last_offset and dimensions == 1,
        padding_idx,
    )[0]
