"""Weights in the form that quantized operators, and those for phones, take: objects of classes
that no program defines.

What torch keeps in them is packed for its kernels; here it is the plain weights.  `state` is what
archives hold of one, `from_state` makes it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeGuard

import numpy as np

from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE, builtin_class
from ...typecheck.definitions.class_types import ClassType
from ..memory.dtype import Array, Scalar
from ..memory.errors import OperatorError
from .halves import are_halves

__all__ = [
    "PACKED_CLASSES",
    *("CellParams", "FloatConvolution", "FloatLinear", "PackedConvolution", "PackedEmbedding"),
    *("PackedLayer", "PackedLinear", "PackedWeights"),
]


_MADE: Final = ("panels", "kept")


@dataclass(eq=False, repr=False)
class PackedWeights:
    """What all of them are."""

    class_name: ClassVar[str]
    never_changes: ClassVar[bool] = True
    """What native code knows of calls with one holds for all calls with it."""

    @property
    def qualified_name(self) -> str:
        """The name of the class in programs."""
        return f"{BUILTIN_NAMESPACE}{self.class_name}"

    @property
    def cls(self) -> ClassType:
        """The class, by which methods are found where no type tells of it."""
        return builtin_class(self.qualified_name)

    def __repr__(self) -> str:
        return f"ScriptObject <{self.qualified_name}>"

    def __getstate__(self) -> dict[str, object]:
        """What copies and pickles hold: all but what was made of the weights for native code."""
        return {name: None if name in _MADE else value for name, value in vars(self).items()}

    @property
    def state(self) -> tuple[object, ...]:
        """The machine value that archives hold."""
        raise NotImplementedError

    state_type: ClassVar[str]
    """The type of the state, as schemas write it."""


@dataclass(eq=False, repr=False)
class PackedLayer(PackedWeights):
    """Weights and a bias, and what native code keeps of them."""

    weight: Array
    bias: Array | None
    panels: Any = field(default=None, init=False, repr=False)
    """The weights as native code takes them, once they were asked for; False if it does not."""
    kept: Any = field(default=None, init=False, repr=False)
    """What made bytes of sums last, and of what ranges."""

    def __post_init__(self) -> None:
        # views of its own, which nobody makes other tensors of
        self.weight = self.weight[...]
        self.bias = None if self.bias is None else self.bias[...]


@dataclass(eq=False, repr=False)
class PackedLinear(PackedLayer):
    """A matrix [out, in], quantized or of half precision, and a bias."""

    class_name = "quantized.LinearPackedParamsBase"
    state_type = "(Tensor, Tensor?)"

    @property
    def is_half(self) -> bool:
        """Whether the weights are floats of half precision."""
        return self.weight.dtype.kind == "f"

    @property
    def state(self) -> tuple[object, ...]:
        return self.weight, self.bias


@dataclass(eq=False, repr=False)
class PackedConvolution(PackedLayer):
    """Weights of a convolution over `dims` dimensions and what it does with them."""

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
    def state(self) -> tuple[object, ...]:
        numbers = (
            *(self.dims, *self.stride, *self.padding, *self.dilation, *self.output_padding),
            *(self.groups, int(self.transpose)),
        )
        return "2", [np.array(numbers, np.int16), self.weight], [self.bias]


@dataclass(eq=False, repr=False)
class FloatLinear(PackedLayer):
    """A matrix [out, in] of floats, and between what numbers the layer's results are held."""

    class_name = "xnnpack.LinearOpContext"
    state_type = "(Tensor, Tensor?, Scalar?, Scalar?)"
    least: Scalar | None
    most: Scalar | None

    def __post_init__(self) -> None:
        _check_floats(self, 2, self.weight.shape[:1])
        super().__post_init__()

    @property
    def state(self) -> tuple[object, ...]:
        return self.weight, self.bias, self.least, self.most


@dataclass(eq=False, repr=False)
class FloatConvolution(PackedLayer):
    """Weights of a convolution of images in floats; `output_padding` is None if it is plain."""

    stride: list[int]
    padding: list[int]
    output_padding: list[int] | None
    dilation: list[int]
    groups: int
    least: Scalar | None
    most: Scalar | None

    def __post_init__(self) -> None:
        channels = self.weight.shape[1] * self.groups if self.transpose else self.weight.shape[0]
        _check_floats(self, 4, (channels,))
        super().__post_init__()

    @property
    def transpose(self) -> bool:
        """Whether the convolution is transposed."""
        return self.output_padding is not None

    @property
    def class_name(self) -> str:  # type: ignore[override]
        return f"xnnpack.{'Transpose' if self.transpose else ''}Conv2dOpContext"

    @property
    def state_type(self) -> str:  # type: ignore[override]
        return f"(Tensor, Tensor?, {'int[], ' * (3 + self.transpose)}int, Scalar?, Scalar?)"

    @property
    def state(self) -> tuple[object, ...]:
        more = [] if self.output_padding is None else [self.output_padding]
        where = self.stride, self.padding, *more, self.dilation
        return self.weight, self.bias, *where, self.groups, self.least, self.most


def _check_floats(packed: FloatLinear | FloatConvolution, dims: int, sums: tuple[int, ...]) -> None:
    weight, bias = packed.weight, packed.bias
    if weight.ndim != dims or weight.dtype != np.float32:
        raise OperatorError(f"`{packed.class_name}` takes weights of float32, of {dims} dimensions")
    if bias is not None and (bias.shape != sums or bias.dtype != np.float32):
        raise OperatorError(f"`{packed.class_name}` takes a bias of float32, of size {sums}")


@dataclass(eq=False, repr=False)
class PackedEmbedding(PackedWeights):
    """A table of rows, each with a scale and a zero point of its own."""

    class_name = "quantized.EmbeddingPackedParamsBase"
    state_type = "(int, Tensor[], float[], int[])"
    weight: Array

    @property
    def state(self) -> tuple[object, ...]:
        bits = 4 if are_halves(self.weight) else 8
        return 1, [self.weight], [], [bits]


@dataclass(eq=False, repr=False)
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
    def state(self) -> tuple[object, ...]:
        return self.kind, self.tensors, self.floats, self.ints, self.packed


# --------------------------------------------------------------------------- from archives


def _linear(state: object) -> PackedLinear:
    match state:
        case (np.ndarray() as weight, np.ndarray() | None as bias) if weight.ndim == 2:
            return PackedLinear(weight, bias)
    raise _bad(PackedLinear.class_name)


def _convolution(dims: int) -> Callable[[object], PackedConvolution]:
    """The maker for `dims` dimensions, from any of the three forms there have been:

    1. weight, bias and, each as a tensor of one element, stride, padding, dilation and groups;
    2. `"2"`, the numbers as one tensor and the weight, the bias (or nothing);
    3. `3`, the numbers, then nothing, weight and bias.
    """

    def make(state: object) -> PackedConvolution:
        match state:
            case ("2", [np.ndarray() as numbers, np.ndarray() as weight], [*bias]):
                return _of_numbers(dims, numbers.tolist(), weight, bias[0] if bias else None)
            case (3, [*numbers], [None, np.ndarray() as weight, bias]):
                return _of_numbers(dims, numbers, weight, bias)
            case (np.ndarray() as weight, bias, [*stride], [*padding], [*dilation], groups):
                given = [*stride, *padding, *dilation, *[0] * dims, groups]
                numbers = [dims, *map(_plain, given), 0]
                return _of_numbers(dims, numbers, weight, bias)
        raise _bad(f"quantized.Conv{dims}dPackedParamsBase")

    return make


def _plain(number: object) -> object:
    """The number in a tensor of one element; others as they are, to be refused."""
    return number.item() if isinstance(number, np.ndarray) and number.size == 1 else number


def _of_numbers(dims: int, numbers: list[Any], weight: Array, bias: object) -> PackedConvolution:
    """From dims, then stride, padding, dilation, output padding, groups, whether transposed."""
    well_formed = (
        len(numbers) == 4 * dims + 3
        and all(type(number) is int for number in numbers)
        and numbers[0] == dims == weight.ndim - 2
        and numbers[-1] in (0, 1)
    )
    if not (well_formed and (bias is None or isinstance(bias, np.ndarray))):
        raise _bad(f"quantized.Conv{dims}dPackedParamsBase")
    parts = (numbers[1 + dims * i : 1 + dims * (i + 1)] for i in range(4))
    stride, padding, dilation, output_padding = parts
    groups, transpose = numbers[-2:]
    return PackedConvolution(
        weight, bias, stride, padding, dilation, output_padding, groups, bool(transpose)
    )


def _float_linear(state: object) -> FloatLinear:
    match state:
        case (np.ndarray() as weight, np.ndarray() | None as bias, least, most):
            if _is_bound(least) and _is_bound(most):
                return FloatLinear(weight, bias, least, most)
    raise _bad(FloatLinear.class_name)


def _float_convolution(transpose: bool) -> Callable[[object], FloatConvolution]:
    def make(state: Any) -> FloatConvolution:
        match state:
            case (np.ndarray() as weight, np.ndarray() | None as bias, *sizes, groups, least, most):
                lists = [each for each in sizes if _are_ints(each)]
                well_formed = len(lists) == len(sizes) == 3 + transpose and type(groups) is int
                is_held = _is_bound(least) and _is_bound(most)
                if well_formed and weight.ndim == 4 and is_held:
                    stride, padding, *more, dilation = lists
                    of_result = more[0] if more else None
                    return FloatConvolution(
                        *(weight, bias, stride, padding, of_result, dilation, groups, least, most)
                    )
        raise _bad(f"xnnpack.{'Transpose' if transpose else ''}Conv2dOpContext")

    return make


def _are_ints(value: object) -> TypeGuard[list[int]]:
    return type(value) is list and len(value) == 2 and all(type(each) is int for each in value)


def _is_bound(value: object) -> TypeGuard[int | float | None]:
    return value is None or type(value) in (int, float)


def _embedding(state: object) -> PackedEmbedding:
    match state:
        case (int(), [np.ndarray() as weight], list(), list()) if weight.ndim == 2:
            return PackedEmbedding(weight)
    raise _bad(PackedEmbedding.class_name)


def _cell(state: object) -> CellParams:
    match state:
        case (str(kind), list() as tensors, list() as floats, list() as ints, list() as packed):
            return CellParams(kind, tensors, floats, ints, packed)
    raise _bad(CellParams.class_name)


def _bad(name: str) -> OperatorError:
    return OperatorError(f"the state of a `{name}` has an unknown form")


PACKED_CLASSES: Final[dict[str, Callable[[object], PackedWeights]]] = {
    "quantized.LinearPackedParamsBase": _linear,
    "quantized.Conv2dPackedParamsBase": _convolution(2),
    "quantized.Conv3dPackedParamsBase": _convolution(3),
    "quantized.EmbeddingPackedParamsBase": _embedding,
    "rnn.CellParamsBase": _cell,
    "xnnpack.Conv2dOpContext": _float_convolution(False),
    "xnnpack.LinearOpContext": _float_linear,
    "xnnpack.TransposeConv2dOpContext": _float_convolution(True),
}
"""How an object of each class is made from its state."""
