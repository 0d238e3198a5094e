"""Convolutions with packed weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, Self

from .....nn import functional as F
from .....nn.modules import conv as floats
from .....nn.modules.module import Module
from .....nn.state import Metadata, StateDict
from .....nn.utils.parametrize import type_before_parametrizations
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DTYPES, DType
from .....ops.tensors.construct import tensor
from .....ops.tensors.tensor import Tensor
from ...intrinsic.modules import fused
from .weighted import (
    WeightedQuantizedModule,
    _quantize_weight,
    activation_qparams,
    empty_weight,
    folded,
    observed_weight,
)

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

Size = int | Sequence[int]
Packed = Any
"""Packed weights: an object of a class of `torch.classes.quantized`."""

_zeros = eager_function("aten::zeros")
_conv1d = eager_function("quantized::conv1d")
_conv2d = eager_function("quantized::conv2d")
_conv3d = eager_function("quantized::conv3d")
_conv_transpose1d = eager_function("quantized::conv_transpose1d")
_conv_transpose2d = eager_function("quantized::conv_transpose2d")
_conv_transpose3d = eager_function("quantized::conv_transpose3d")
_pack1 = eager_function("quantized::conv1d_prepack")
_unpack1 = eager_function("quantized::conv1d_unpack")
_pack_transpose1 = eager_function("quantized::conv_transpose1d_prepack")
_unpack_transpose1 = eager_function("quantized::conv_transpose1d_unpack")
_pack2 = eager_function("quantized::conv2d_prepack")
_unpack2 = eager_function("quantized::conv2d_unpack")
_pack_transpose2 = eager_function("quantized::conv_transpose2d_prepack")
_unpack_transpose2 = eager_function("quantized::conv_transpose2d_unpack")
_pack3 = eager_function("quantized::conv3d_prepack")
_unpack3 = eager_function("quantized::conv3d_unpack")
_pack_transpose3 = eager_function("quantized::conv_transpose3d_prepack")
_unpack_transpose3 = eager_function("quantized::conv_transpose3d_unpack")

_QINT8: Final = DTYPES["qint8"]
_PADDINGS: Final = ("zeros", "reflect")
_NUMBERS: Final = (
    *("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation"),
    *("transposed", "output_padding", "groups", "padding_mode"),
)
"""What the state of a pickled layer begins with."""


def _each(value: Size, dims: int) -> tuple[int, ...]:
    """A number for each dimension."""
    return (value,) * dims if isinstance(value, int) else tuple(value)


def _reverse_repeat_padding(padding: list[int]) -> list[int]:
    """What `pad` takes: for each dimension, the last first, both sides."""
    made: list[int] = []
    for i in range(len(padding)):
        for _ in range(2):
            made.append(padding[len(padding) - 1 - i])
    return made


class _ConvNd(WeightedQuantizedModule):
    """What all of them are: the numbers of a convolution, and packed weights."""

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    scale: float
    zero_point: int
    _packed_params: Packed
    _dims: ClassVar[int]
    _FLOAT_MODULE: ClassVar[type[Module]]
    _NNI_CONV_RELU_MODULE: ClassVar[type[Module] | None] = None
    _PACK: ClassVar[Callable[..., Packed]]
    _UNPACK: ClassVar[Callable[..., tuple[Tensor, Tensor | None]]]

    def _init(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode not in _PADDINGS:
            raise ValueError(
                f"'padding_mode' {padding_mode} is not supported by quantized convolution"
            )
        if self._dims == 3 and padding_mode == "reflect" and not transposed:
            raise AssertionError("Conv3d does not support reflection padding")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        ends = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        sizes = [ends[0], ends[1] // groups, *kernel_size]
        weight = empty_weight(sizes)
        self.set_weight_bias(
            weight, _zeros([out_channels], dtype=DTYPES["float32"]) if bias else None
        )
        self.scale = 1.0
        self.zero_point = 0

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Pack a quantized weight and a bias in floats."""
        padding = list(self.padding)
        if self.padding_mode != "zeros":
            padding = [0] * len(padding)  # it is put around the input beforehand
        numbers = [list(self.stride), padding, list(self.dilation)]
        if self.transposed:
            numbers.insert(2, list(self.output_padding))
        self._packed_params = type(self)._PACK(w, b, *numbers, self.groups)

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        weight, bias = type(self)._UNPACK(self._packed_params)
        return weight, bias

    def weight(self) -> Tensor:
        """The weight, quantized."""
        return self._weight_bias()[0]

    def bias(self) -> Tensor | None:
        """The bias, in floats."""
        return self._weight_bias()[1]

    def extra_repr(self) -> str:
        zeros = (0,) * len(self.padding)
        said = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}",
            f"stride={self.stride}, scale={self.scale}, zero_point={self.zero_point}",
        ]
        if self.padding != zeros:
            said.append(f"padding={self.padding}")
        if self.dilation != (1,) * len(self.dilation):
            said.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * len(self.output_padding):
            said.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            said.append(f"groups={self.groups}")
        if self.bias() is None:
            said.append("bias=False")
        return ", ".join(said)

    def _save_to_state_dict(self, destination: StateDict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[f"{prefix}weight"], destination[f"{prefix}bias"] = self._weight_bias()
        destination[f"{prefix}scale"] = tensor(self.scale)
        destination[f"{prefix}zero_point"] = tensor(self.zero_point)

    def _load_from_state_dict(
        self,
        state_dict: StateDict,
        prefix: str,
        local_metadata: Metadata,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        self.set_weight_bias(state_dict.pop(f"{prefix}weight"), state_dict.pop(f"{prefix}bias"))
        self.scale = float(state_dict.pop(f"{prefix}scale"))
        self.zero_point = int(state_dict.pop(f"{prefix}zero_point"))
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *lists)

    def __getstate__(self) -> tuple[object, ...]:
        return (
            *(self.in_channels, self.out_channels, self.kernel_size, self.stride, self.padding),
            *(self.dilation, self.transposed, self.output_padding, self.groups),
            *(self.padding_mode, *self._weight_bias(), self.scale, self.zero_point),
            self.training,
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:  # type: ignore[override]
        *numbers, weight, bias, scale, zero_point, training = state
        super().__init__()
        for name, value in zip(_NUMBERS, numbers, strict=True):
            setattr(self, name, value)
        self.set_weight_bias(weight, bias)
        self.scale, self.zero_point, self.training = scale, zero_point, training

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        vars(made).update(copy.deepcopy(vars(self), memo))
        return made

    def __copy__(self) -> Self:
        return self.__deepcopy__({})

    @classmethod
    def _of(cls, mod: Module) -> Self:
        """The empty layer of the sizes of a float one."""
        return cls(
            mod.in_channels,
            mod.out_channels,
            mod.kernel_size,
            mod.stride,
            mod.padding,
            mod.dilation,
            mod.groups,
            mod.bias is not None,
            mod.padding_mode,
        )

    @classmethod
    def _sources(cls) -> list[object]:
        """The classes of float modules that it is made of."""
        kinds = [cls._FLOAT_MODULE, cls._NNI_CONV_RELU_MODULE]
        return [kind for kind in kinds if kind is not None]

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed, or trained for this.

        Raises:
            AssertionError: another module; no configuration; weights not to be qint8.
        """
        source = mod
        if hasattr(mod, "weight_fake_quant"):
            weight, bias = folded(mod)
        else:
            if type_before_parametrizations(mod) not in cls._sources():
                raise AssertionError(cls._refusal(mod))
            if not hasattr(mod, "qconfig"):
                raise AssertionError("Input float module must have qconfig defined.")
            source = mod[0] if isinstance(mod, fused._FusedModule) else mod
            weight, bias = source.weight, source.bias
        observer = observed_weight(mod, weight, use_precomputed_fake_quant)
        if observer.dtype is not _QINT8:
            raise AssertionError("Weight observer must have a dtype of qint8")
        made = cls._of(source)
        made.set_weight_bias(_quantize_weight(weight.float(), observer), bias)
        seen = getattr(mod, "activation_post_process", None)
        if seen is not None and seen.dtype is not DTYPES["float32"]:
            made.scale, made.zero_point = activation_qparams(mod)
        return made

    @classmethod
    def _refusal(cls, mod: Module) -> str:
        return (
            f"nnq.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__} but got: "
            f"{type(mod).__name__}"
        )

    @classmethod
    def from_reference(cls, ref_qconv: Module, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference one."""
        made = cls._of(ref_qconv)
        made.set_weight_bias(ref_qconv.get_quantized_weight(), ref_qconv.bias)
        made.scale = float(output_scale)
        made.zero_point = int(output_zero_point)
        return made


class _Conv(_ConvNd):
    """Convolutions that are not transposed."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: DType | None = None,
    ) -> None:
        dims = self._dims
        self._init(
            in_channels,
            out_channels,
            _each(kernel_size, dims),
            _each(stride, dims),
            _each(padding, dims),
            _each(dilation, dims),
            False,
            (0,) * dims,
            groups,
            bias,
            padding_mode,
        )


class Conv1d(_Conv):
    """`nn.Conv1d` over quint8 (N, C, L); its result is quint8 by `scale` and `zero_point`.

    Raises:
        ValueError: groups that do not divide the channels; a padding other than zeros or reflect.
    """

    _dims = 1
    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Conv1d
    _NNI_CONV_RELU_MODULE: ClassVar[type[Module] | None] = fused.ConvReLU1d
    _PACK = staticmethod(_pack1)
    _UNPACK = staticmethod(_unpack1)

    def _get_name(self) -> str:
        return "QuantizedConv1d"

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv1d(input, self._packed_params, self.scale, self.zero_point)


class Conv2d(_Conv):
    """`nn.Conv2d` over quint8 (N, C, H, W); its result is quint8 by `scale` and `zero_point`.

    Raises:
        ValueError: groups that do not divide the channels; a padding other than zeros or reflect.
    """

    _dims = 2
    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Conv2d
    _NNI_CONV_RELU_MODULE: ClassVar[type[Module] | None] = fused.ConvReLU2d
    _PACK = staticmethod(_pack2)
    _UNPACK = staticmethod(_unpack2)

    def _get_name(self) -> str:
        return "QuantizedConv2d"

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        if self.padding_mode != "zeros":
            pads = _reverse_repeat_padding([self.padding[0], self.padding[1]])
            input = F.pad(input, pads, mode=self.padding_mode)
        return _conv2d(input, self._packed_params, self.scale, self.zero_point)


class Conv3d(_Conv):
    """`nn.Conv3d` over quint8 (N, C, D, H, W); its result is quint8 by `scale` and `zero_point`.

    Raises:
        AssertionError: a padding that reflects.
        ValueError: groups that do not divide the channels; another padding than zeros.
    """

    _dims = 3
    _FLOAT_MODULE: ClassVar[type[Module]] = floats.Conv3d
    _NNI_CONV_RELU_MODULE: ClassVar[type[Module] | None] = fused.ConvReLU3d
    _PACK = staticmethod(_pack3)
    _UNPACK = staticmethod(_unpack3)

    def _get_name(self) -> str:
        return "QuantizedConv3d"

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, D, H, W)`!")
        return _conv3d(input, self._packed_params, self.scale, self.zero_point)


class _ConvTransposeNd(_ConvNd):
    """Transposed convolutions."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Size = 1,
        padding_mode: str = "zeros",
        device: object = None,
        dtype: DType | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        dims = self._dims
        self._init(
            in_channels,
            out_channels,
            _each(kernel_size, dims),
            _each(stride, dims),
            _each(padding, dims),
            _each(dilation, dims),
            True,
            _each(output_padding, dims),
            groups,
            bias,
            padding_mode,
        )

    @classmethod
    def _of(cls, mod: Module) -> Self:
        return cls(
            mod.in_channels,
            mod.out_channels,
            mod.kernel_size,
            mod.stride,
            mod.padding,
            mod.output_padding,
            mod.groups,
            mod.bias is not None,
            mod.dilation,
            mod.padding_mode,
        )

    @classmethod
    def _refusal(cls, mod: Module) -> str:
        name = cls.__name__
        return f" nnq.{name}.from_float only works for {cls._FLOAT_MODULE.__name__}"


class ConvTranspose1d(_ConvTransposeNd):
    """`nn.ConvTranspose1d` over quint8 (N, C, L); its result is by `scale` and `zero_point`.

    Raises:
        ValueError: groups that do not divide the channels; a padding other than zeros.
    """

    _dims = 1
    _FLOAT_MODULE: ClassVar[type[Module]] = floats.ConvTranspose1d
    _PACK = staticmethod(_pack_transpose1)
    _UNPACK = staticmethod(_unpack_transpose1)

    def _get_name(self) -> str:
        return "QuantizedConvTranspose1d"

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 3:
            raise ValueError("Input shape must be `(N, C, L)`!")
        return _conv_transpose1d(input, self._packed_params, self.scale, self.zero_point)


class ConvTranspose2d(_ConvTransposeNd):
    """`nn.ConvTranspose2d` over quint8 (N, C, H, W); its result is by `scale` and `zero_point`.

    Raises:
        ValueError: groups that do not divide the channels; a padding other than zeros.
    """

    _dims = 2
    _FLOAT_MODULE: ClassVar[type[Module]] = floats.ConvTranspose2d
    _PACK = staticmethod(_pack_transpose2)
    _UNPACK = staticmethod(_unpack_transpose2)

    def _get_name(self) -> str:
        return "QuantizedConvTranspose2d"

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 4:
            raise ValueError("Input shape must be `(N, C, H, W)`!")
        return _conv_transpose2d(input, self._packed_params, self.scale, self.zero_point)


class ConvTranspose3d(_ConvTransposeNd):
    """`nn.ConvTranspose3d` over quint8 (N, C, D, H, W); its result is by `scale` and `zero_point`.

    Raises:
        ValueError: groups that do not divide the channels; a padding other than zeros.
    """

    _dims = 3
    _FLOAT_MODULE: ClassVar[type[Module]] = floats.ConvTranspose3d
    _PACK = staticmethod(_pack_transpose3)
    _UNPACK = staticmethod(_unpack_transpose3)

    def _get_name(self) -> str:
        return "QuantizedConvTranspose3d"

    def forward(self, input: Tensor) -> Tensor:
        if len(input.shape) != 5:
            raise ValueError("Input shape must be `(N, C, T, H, W)`!")
        return _conv_transpose3d(input, self._packed_params, self.scale, self.zero_point)
