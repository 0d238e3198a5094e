"""How finely tensors are quantized: which elements share a scale."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = [
    "Granularity",
    "MappingType",
    "PerAxis",
    "PerBlock",
    "PerGroup",
    "PerRow",
    "PerTensor",
    "PerToken",
    "TorchAODType",
    "ZeroPointDomain",
    "get_block_size",
]

_OBSERVER = f"{__package__}.observer"  # where torch has them


class MappingType(enum.Enum):
    """How floats are mapped to whole numbers: around 0, or from end to end."""

    SYMMETRIC = 1
    SYMMETRIC_NO_CLIPPING_ERR = 2
    ASYMMETRIC = 3


class ZeroPointDomain(enum.Enum):
    """What zero points are."""

    INT = 1
    FLOAT = 2
    NONE = 3


class TorchAODType(enum.Enum):
    """Names of dtypes of fewer than 8 bits."""

    INT1 = 1
    INT2 = 2
    INT3 = 3
    INT4 = 4
    INT5 = 5
    INT6 = 6
    INT7 = 7


@dataclass(frozen=True)
class Granularity:
    """What all of them are."""


@dataclass(frozen=True)
class PerBlock(Granularity):
    """A scale for each block of that size."""

    block_size: tuple[int, ...]


@dataclass(frozen=True)
class PerTensor(Granularity):
    """One scale for all."""


@dataclass(frozen=True)
class PerAxis(Granularity):
    """A scale for each index of one dimension."""

    axis: int


@dataclass(frozen=True)
class PerGroup(Granularity):
    """A scale for so many neighbours in a row of a matrix."""

    group_size: int


class PerRow(Granularity):
    """A scale for each row of the last dimension."""


class PerToken(Granularity):
    """A scale for each token: a row of the last dimension."""


for _kind in (
    *(MappingType, ZeroPointDomain, TorchAODType, Granularity, PerBlock, PerTensor),
    *(PerAxis, PerGroup, PerRow, PerToken),
):
    _kind.__module__ = _OBSERVER


def get_block_size(input_shape: tuple[int, ...], granularity: Granularity) -> tuple[int, ...]:
    """The sizes of what shares a scale.

    Args:
        input_shape: the sizes of the tensor.

    Raises:
        AssertionError: groups of what is no matrix.
        ValueError: another granularity.
    """
    if isinstance(granularity, PerTensor):
        return input_shape
    if isinstance(granularity, PerAxis):
        sizes = list(input_shape)
        sizes[granularity.axis] = 1
        return tuple(sizes)
    if isinstance(granularity, PerRow | PerToken):
        return (*(1 for _ in input_shape[:-1]), input_shape[-1])
    if isinstance(granularity, PerGroup):
        if len(input_shape) != 2:
            raise AssertionError(
                "Expecting input shape dim to be 2 for per group quantization, gotinput shape: "
                f"{input_shape}"
            )
        return 1, granularity.group_size
    raise ValueError(f"Unsupported Granularity: {granularity}")
