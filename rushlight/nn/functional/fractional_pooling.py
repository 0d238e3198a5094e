"""Functions of layers: maxima of windows that are placed at random."""

# Script reads these bodies: they keep to its types.
# mypy: disable-error-code="arg-type, assignment, no-any-return"
# mypy: no-warn-unreachable
# ruff: noqa: UP045
from collections.abc import Callable
from typing import Optional

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ..broadcasting import BroadcastingList2, BroadcastingList3
from ..flag_dispatch import FlagDispatch
from ..sizes import pair_of_floats, triple_of_floats

__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
]

Operator = Callable[..., Tensor]
Pair = Callable[..., tuple[Tensor, Tensor]]

_fractional2d: Pair = eager_function("aten::fractional_max_pool2d")
_fractional3d: Pair = eager_function("aten::fractional_max_pool3d")
_rand: Operator = eager_function("aten::rand")


def _shares(input: Tensor, ratios: list[float], spatial: int) -> list[int]:
    """How many windows there are over each of the last dimensions, by their sizes."""
    return [int(input.size(d - spatial) * ratios[d]) for d in range(spatial)]


def _drawn_places(input: Tensor, spatial: int) -> Tensor:
    """Where windows begin: numbers in [0, 1) for each sample, channel and dimension."""
    samples = 1 if input.dim() == spatial + 1 else input.size(0)
    channels = input.size(-spatial - 1)
    return _rand(samples, channels, spatial, dtype=input.dtype, device=input.device)


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: Optional[BroadcastingList2[int]] = None,
    output_ratio: Optional[BroadcastingList2[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor]:
    """Maxima of windows that are placed at random, 2 numbers a channel.

    `output_ratio` says how many there are for each element of the input.

    Raises:
        ValueError: neither `output_size` nor `output_ratio` is given.
    """
    if (type(input) not in PLAIN or type(_random_samples) not in PLAIN) and asks(
        input, _random_samples
    ):
        return ask_for(fractional_max_pool2d_with_indices, locals())
    if output_size is None:
        if output_ratio is None:
            raise ValueError(
                "fractional_max_pool2d requires specifying either an output_size or an output_ratio"
            )
        if len(output_ratio) > 2:
            raise ValueError(
                "fractional_max_pool2d requires output_ratio to either be a single Int or tuple of "
                "Ints."
            )
        output_size = _shares(input, pair_of_floats(output_ratio), 2)
    if _random_samples is None:
        _random_samples = _drawn_places(input, 2)
    return _fractional2d(input, kernel_size, output_size, _random_samples)


def _fractional_max_pool2d(
    input: Tensor,
    kernel_size: BroadcastingList2[int],
    output_size: Optional[BroadcastingList2[int]] = None,
    output_ratio: Optional[BroadcastingList2[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Tensor:
    if type(input) not in PLAIN and asks(input):
        return ask_for(fractional_max_pool2d, locals())
    return fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool2d = FlagDispatch(
    "fractional_max_pool2d",
    "return_indices",
    4,
    fractional_max_pool2d_with_indices,
    _fractional_max_pool2d,
)


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: Optional[BroadcastingList3[int]] = None,
    output_ratio: Optional[BroadcastingList3[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor]:
    """Maxima of windows that are placed at random, 3 numbers a channel.

    `output_ratio` says how many there are for each element of the input.

    Raises:
        ValueError: neither `output_size` nor `output_ratio` is given.
    """
    if (type(input) not in PLAIN or type(_random_samples) not in PLAIN) and asks(
        input, _random_samples
    ):
        return ask_for(fractional_max_pool3d_with_indices, locals())
    if output_size is None:
        if output_ratio is None:
            raise ValueError(
                "fractional_max_pool3d requires specifying either an output_size or an output_ratio"
            )
        output_size = _shares(input, triple_of_floats(output_ratio), 3)
    if _random_samples is None:
        _random_samples = _drawn_places(input, 3)
    return _fractional3d(input, kernel_size, output_size, _random_samples)


def _fractional_max_pool3d(
    input: Tensor,
    kernel_size: BroadcastingList3[int],
    output_size: Optional[BroadcastingList3[int]] = None,
    output_ratio: Optional[BroadcastingList3[float]] = None,
    return_indices: bool = False,
    _random_samples: Optional[Tensor] = None,
) -> Tensor:
    if type(input) not in PLAIN and asks(input):
        return ask_for(fractional_max_pool3d, locals())
    return fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )[0]


fractional_max_pool3d = FlagDispatch(
    "fractional_max_pool3d",
    "return_indices",
    4,
    fractional_max_pool3d_with_indices,
    _fractional_max_pool3d,
)
