"""Functions of layers: normalisation."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type, no-any-return"
# ruff: noqa: RUF005
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ..sizes import Sizes
from .pooling import avg_pool2d, avg_pool3d
from .resizing import pad

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]

Operator = Callable[..., Tensor]

_batch_norm: Operator = eager_function("aten::batch_norm")
_instance_norm: Operator = eager_function("aten::instance_norm")
_layer_norm: Operator = eager_function("aten::layer_norm")
_rms_norm: Operator = eager_function("aten::rms_norm")
_group_norm: Operator = eager_function("aten::group_norm")
_div: Operator = eager_function("aten::div")


def _positions(size: list[int]) -> int:
    """How many positions in space an input of that size has."""
    count = 1
    for each in size[2:]:
        count *= each
    return count


def _verify_batch_size(size: list[int]) -> None:
    """Refuse to train on one value a channel.

    Raises:
        ValueError: there is one.
    """
    if size[0] * _positions(size) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel with its mean over the batch taken off, divided by its deviation.

    When training, the running statistics move towards those of the batch by `momentum`; otherwise
    they are what is normalised by.

    Raises:
        ValueError: `eps` is negative, or there is one value a channel to train on.
    """
    if (
        type(input) not in PLAIN
        or type(running_mean) not in PLAIN
        or type(running_var) not in PLAIN
        or type(weight) not in PLAIN
        or type(bias) not in PLAIN
    ) and asks(input, running_mean, running_var, weight, bias):
        return ask_for(batch_norm, locals())
    if training:
        _verify_batch_size(input.size())
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, True
    )


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of each sample normalised by itself.

    Raises:
        ValueError: there is one element a channel.
    """
    if (
        type(input) not in PLAIN
        or type(running_mean) not in PLAIN
        or type(running_var) not in PLAIN
        or type(weight) not in PLAIN
        or type(bias) not in PLAIN
    ) and asks(input, running_mean, running_var, weight, bias):
        return ask_for(instance_norm, locals())
    if use_input_stats and _positions(input.size()) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {input.size()}"
        )
    return _instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


def layer_norm(
    input: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """The last dimensions, which have the shape `normalized_shape`, normalised together."""
    if (type(input) not in PLAIN or type(weight) not in PLAIN or type(bias) not in PLAIN) and asks(
        input, weight, bias
    ):
        return ask_for(layer_norm, locals())
    return _layer_norm(input, normalized_shape, weight, bias, eps, True)


def rms_norm(
    input: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """The last dimensions divided by their root mean square."""
    if (type(input) not in PLAIN or type(weight) not in PLAIN) and asks(input, weight):
        return ask_for(rms_norm, locals())
    return _rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Groups of channels of each sample normalised together.

    Raises:
        RuntimeError: there are no channels.
        ValueError: there is one value a group.
    """
    if (type(input) not in PLAIN or type(weight) not in PLAIN or type(bias) not in PLAIN) and asks(
        input, weight, bias
    ):
        return ask_for(group_norm, locals())
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    _verify_batch_size(
        [input.size(0) * input.size(1) // num_groups, num_groups] + list(input.size()[2:])
    )
    return _group_norm(input, num_groups, weight, bias, eps, True)


def local_response_norm(
    input: Tensor,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
) -> Tensor:
    """Each element divided by `(k + alpha * mean of squares) ** beta` over `size` channels.

    Raises:
        ValueError: the input has fewer than 3 dimensions.
    """
    if type(input) not in PLAIN and asks(input):
        return ask_for(local_response_norm, locals())
    dim = input.dim()
    if dim < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          "
            f"input (got {dim} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    if dim == 3:
        means = _means_of_channels(squares.unsqueeze(1), size)
    else:
        means = _means_of_volumes(squares, input.size(), size)
    return input / means.mul(alpha).add(k).pow(beta)


def _means_of_channels(images: Tensor, size: int) -> Tensor:
    """Means over `size` channels, which are rows of (N, 1, C, L), with zeros beyond the ends."""
    wider = pad(images, (0, 0, size // 2, (size - 1) // 2))
    return avg_pool2d(wider, (size, 1), stride=1).squeeze(1)


def _means_of_volumes(squares: Tensor, shape: list[int], size: int) -> Tensor:
    """The same of (N, C, *space), which is the shape."""
    volumes = squares.view(shape[0], 1, shape[1], shape[2], -1)
    wider = pad(volumes, (0, 0, 0, 0, size // 2, (size - 1) // 2))
    return avg_pool3d(wider, (size, 1, 1), stride=1).squeeze(1).view(shape)


def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """Vectors along `dim` divided by their `p`-norm, which counts as `eps` at least."""
    if (type(input) not in PLAIN or type(out) not in PLAIN) and asks(input, out):
        return ask_for(normalize, locals())
    length = input.norm(p, dim, keepdim=True)
    if out is None:
        denom = length.clamp_min(eps).expand_as(input)
        return input / denom
    return _div(input, length.clamp_min_(eps).expand_as(input), out=out)
