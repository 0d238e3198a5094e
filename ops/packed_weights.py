"""Weights in the form that quantized operators take: objects of classes no program defines.

What torch keeps in them is packed for its kernels; here it is the plain weights.  `state` is what
archives hold of one, `from_state` makes it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from .dtype import Array
from .errors import OperatorError

__all__ = [
    "PACKED_CLASSES",
    "CellParams",
    "PackedConvolution",
    "PackedEmbedding",
    "PackedLinear",
    "PackedWeights",
]


@dataclass(eq=False)
class PackedWeights:
    """What all of them are."""

    class_name: ClassVar[str]

    @property
    def qualified_name(self) -> str:
        """The name of the class in programs."""
        return f"__torch__.torch.classes.{self.class_name}"

    @property
    def state(self) -> Any:
        """The machine value that archives hold."""
        raise NotImplementedError

    state_type: ClassVar[str]
    """The type of the state, as schemas write it."""


@dataclass(eq=False)
class PackedLinear(PackedWeights):
    """A matrix [out, in], quantized or of half precision, and a bias."""

    class_name = "quantized.LinearPackedParamsBase"
    state_type = "(Tensor, Tensor?)"
    weight: Array
    bias: Array | None

    @property
    def is_half(self) -> bool:
        """Whether the weights are floats of half precision."""
        return self.weight.dtype.kind == "f"

    @property
    def state(self) -> Any:
        return self.weight, self.bias


@dataclass(eq=False)
class PackedConvolution(PackedWeights):
    """Weights of a convolution over `dims` dimensions and what it does with them."""

    weight: Array
    bias: Array | None
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    output_padding: list[int]
    groups: int
    transpose: bool
    state_type = "(str, Tensor[], Tensor?[])"

    @property
    def dims(self) -> int:
        """How many dimensions are convolved over; 2 for `conv1d`, whose line is an image."""
        return self.weight.ndim - 2

    @property
    def class_name(self) -> str:  # type: ignore[override]
        return f"quantized.Conv{self.dims}dPackedParamsBase"

    @property
    def state(self) -> Any:
        numbers = (
            *(self.dims, *self.stride, *self.padding, *self.dilation, *self.output_padding),
            *(self.groups, int(self.transpose)),
        )
        return "2", [np.array(numbers, np.int16), self.weight], [self.bias]


@dataclass(eq=False)
class PackedEmbedding(PackedWeights):
    """A table of rows, each with a scale and a zero point of its own."""

    class_name = "quantized.EmbeddingPackedParamsBase"
    state_type = "(int, Tensor[], float[], int[])"
    weight: Array

    @property
    def state(self) -> Any:
        bits = 4 if self.weight.dtype.names == ("quint4x2",) else 8
        return 1, [self.weight], [], [bits]


@dataclass(eq=False)
class CellParams(PackedWeights):
    """The weights of one layer and direction of a recurrent network."""

    class_name = "rnn.CellParamsBase"
    state_type = (
        "(str, Tensor[], float[], int[], "
        "__torch__.torch.classes.quantized.LinearPackedParamsBase[])"
    )
    kind: str
    tensors: list[Array]
    floats: list[float]
    ints: list[int]
    packed: list[PackedLinear]

    @property
    def state(self) -> Any:
        return self.kind, self.tensors, self.floats, self.ints, self.packed


# --------------------------------------------------------------------------- from archives


def _linear(state: Any) -> PackedLinear:
    match state:
        case (np.ndarray() as weight, np.ndarray() | None as bias) if weight.ndim == 2:
            return PackedLinear(weight, bias)
    raise _bad(PackedLinear.class_name)


def _convolution(dims: int) -> Callable[[Any], PackedConvolution]:
    def make(state: Any) -> PackedConvolution:
        match state:
            case (str(), [np.ndarray() as numbers, np.ndarray() as weight], [bias]):
                return _of_numbers(numbers.tolist(), weight, bias)
            case (np.ndarray() as weight, bias, list() as stride, list() as padding, *rest):
                return _oldest(weight, bias, stride, padding, rest)
        raise _bad(f"quantized.Conv{dims}dPackedParamsBase")

    return make


def _of_numbers(numbers: list[int], weight: Array, bias: Array | None) -> PackedConvolution:
    dims = numbers[0] if numbers else 0
    if not 1 <= dims <= 3 or len(numbers) not in (4 * dims + 3, 4 * dims + 2):
        raise _bad(f"quantized.Conv{dims}dPackedParamsBase")
    stride, padding, dilation, output_padding = (
        numbers[1 + dims * i : 1 + dims * (i + 1)] for i in range(4)
    )
    groups = numbers[4 * dims + 1]
    transpose = bool(numbers[4 * dims + 2]) if len(numbers) == 4 * dims + 3 else False
    return PackedConvolution(
        weight, bias, stride, padding, dilation, output_padding, groups, transpose
    )


def _oldest(
    weight: Array, bias: Array | None, stride: list[Any], padding: list[Any], rest: list[Any]
) -> PackedConvolution:
    """Of the first form, where each number is a tensor of one element."""
    dilation, groups = rest[0], rest[1]
    one, two, three = ([int(n) for n in part] for part in (stride, padding, dilation))
    count = groups[0] if isinstance(groups, list) else groups
    return PackedConvolution(weight, bias, one, two, three, [0] * len(one), int(count), False)


def _embedding(state: Any) -> PackedEmbedding:
    match state:
        case (int(), [np.ndarray() as weight], list(), list()) if weight.ndim == 2:
            return PackedEmbedding(weight)
    raise _bad(PackedEmbedding.class_name)


def _cell(state: Any) -> CellParams:
    match state:
        case (str(kind), list() as tensors, list() as floats, list() as ints, list() as packed):
            return CellParams(kind, tensors, floats, ints, packed)
    raise _bad(CellParams.class_name)


def _bad(name: str) -> OperatorError:
    return OperatorError(f"the state of a `{name}` has an unknown form")


PACKED_CLASSES: Final[dict[str, Callable[[Any], PackedWeights]]] = {
    "quantized.LinearPackedParamsBase": _linear,
    "quantized.Conv2dPackedParamsBase": _convolution(2),
    "quantized.Conv3dPackedParamsBase": _convolution(3),
    "quantized.EmbeddingPackedParamsBase": _embedding,
    "rnn.CellParamsBase": _cell,
}
"""How an object of each class is made from its state."""
