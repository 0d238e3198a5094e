"""Linear layers with packed weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, Final, Self

from .....jit.decorators import export
from .....nn.modules import linear as floats
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
    _hide_packed_params_repr,
    _quantize_weight,
    activation_qparams,
    empty_weight,
    folded,
    observed_weight,
)

__all__ = ["Linear", "LinearPackedParams"]

_torch = import_module(__name__.partition(".")[0])
"""The package itself: script takes constants from modules alone."""

_linear = eager_function("quantized::linear")
_prepack = eager_function("quantized::linear_prepack")
_prepack_fp16 = eager_function("quantized::linear_prepack_fp16")
_unpack = eager_function("quantized::linear_unpack")
_unpack_fp16 = eager_function("quantized::linear_unpack_fp16")
_zeros = eager_function("aten::zeros")

_FLOAT16: Final = DTYPES["float16"]
_QINT8: Final = DTYPES["qint8"]


class LinearPackedParams(Module):
    """The weights of a linear layer, packed.

    Args:
        dtype: qint8, or float16 for weights of half precision.
    """

    _version = 3
    dtype: DType

    def __init__(self, dtype: DType = _QINT8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype is _FLOAT16:
            self.set_weight_bias(_zeros([1, 1], dtype=DTYPES["float32"]), None)
        elif dtype is _QINT8:
            self.set_weight_bias(empty_weight([1, 1]), None)

    @export
    def set_weight_bias(self, weight: Tensor, bias: Tensor | None) -> None:
        """Pack a weight (out, in), quantized unless the layer's is of half precision, and a bias.

        Raises:
            RuntimeError: the layer's dtype is another.
        """
        if self.dtype == _torch.qint8:
            self._packed_params = _prepack(weight, bias)
        elif self.dtype == _torch.float16:
            self._packed_params = _prepack_fp16(weight, bias)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")

    @export
    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        if self.dtype == _torch.qint8:
            return _unpack(self._packed_params)
        elif self.dtype == _torch.float16:
            return _unpack_fp16(self._packed_params)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")

    def forward(self, x: Tensor) -> Tensor:
        return x

    def _save_to_state_dict(self, destination: StateDict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[f"{prefix}dtype"] = self.dtype
        destination[f"{prefix}_packed_params"] = tuple(self._weight_bias())

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
        version = local_metadata.get("version")
        self.dtype = _QINT8
        if version is not None and version >= 2:
            self.dtype = state_dict.pop(f"{prefix}dtype")
        if version is None or version < 3:
            weight, bias = state_dict.pop(f"{prefix}weight"), state_dict.pop(f"{prefix}bias")
        else:
            weight, bias = state_dict.pop(f"{prefix}_packed_params")
        self.set_weight_bias(weight, bias)
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *lists)

    def __repr__(self) -> str:
        return repr(self._weight_bias())


class Linear(WeightedQuantizedModule):
    """A linear layer over quantized tensors.

    Its input is quint8 (*, in_features), its result quint8 (*, out_features) by `scale` and
    `zero_point`.

    Raises:
        RuntimeError: a dtype of weights other than qint8 and float16.
    """

    _version = 3
    _FLOAT_MODULE: ClassVar[object] = (floats.Linear, floats.NonDynamicallyQuantizableLinear)
    _packed_params: LinearPackedParams

    def __init__(
        self, in_features: int, out_features: int, bias_: bool = True, dtype: DType = _QINT8
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        bias = _zeros([out_features], dtype=DTYPES["float32"]) if bias_ else None
        if dtype is _QINT8:
            weight = empty_weight([out_features, in_features])
        elif dtype is _FLOAT16:
            weight = _zeros([out_features, in_features], dtype=DTYPES["float32"])
        else:
            raise RuntimeError("Unsupported dtype specified for quantized Linear!")
        self._packed_params = LinearPackedParams(dtype)
        self._packed_params.set_weight_bias(weight, bias)
        self.scale = 1.0
        self.zero_point = 0

    def _get_name(self) -> str:
        return "QuantizedLinear"

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"scale={self.scale}, zero_point={self.zero_point}, qscheme={self.weight().qscheme()}"
        )

    def __repr__(self) -> str:
        return _hide_packed_params_repr(self, LinearPackedParams)

    def forward(self, x: Tensor) -> Tensor:
        return _linear(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _save_to_state_dict(self, destination: StateDict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
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
        self.scale = float(state_dict.pop(f"{prefix}scale"))
        self.zero_point = int(state_dict.pop(f"{prefix}zero_point"))
        version = local_metadata.get("version")
        if version is None or version == 1:  # the weights were the layer's own
            for name in ("weight", "bias"):
                held = state_dict.pop(prefix + name)
                state_dict[f"{prefix}_packed_params.{name}"] = held
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *lists)

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        return self._packed_params._weight_bias()

    def weight(self) -> Tensor:
        """The weight (out_features, in_features)."""
        return self._weight_bias()[0]

    def bias(self) -> Tensor | None:
        """The bias (out_features), in floats."""
        return self._weight_bias()[1]

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Exchange weight and bias."""
        self._packed_params.set_weight_bias(w, b)

    @classmethod
    def _float_names(cls) -> str:
        return ", ".join(kind.__name__ for kind in cls._float_kinds())

    @classmethod
    def _float_kinds(cls) -> tuple[type[Module], ...]:
        kinds = cls._FLOAT_MODULE
        return kinds if isinstance(kinds, tuple) else (kinds,)

    @classmethod
    def _of(cls, mod: Module, *args: Any) -> Self:
        """The empty layer of the sizes of a float one."""
        return cls(mod.in_features, mod.out_features, *args)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats that was observed, or trained for this.

        Raises:
            AssertionError: another module; no configuration; weights not to be qint8.
        """
        args: tuple[object, ...] = ()
        source = mod
        if hasattr(mod, "weight_fake_quant"):
            weight, bias = folded(mod)
        else:
            cls._check(mod)
            if isinstance(mod, fused.LinearLeakyReLU):
                args = (mod[1].negative_slope,)
            source = mod[0] if isinstance(mod, fused._FusedModule) else mod
            weight, bias = source.weight, source.bias
        observer = observed_weight(mod, weight, use_precomputed_fake_quant)
        if observer.dtype is not _QINT8:
            raise AssertionError("Weight observer must have dtype torch.qint8")
        made = cls._of(source, *args)
        made.set_weight_bias(_quantize_weight(weight.float(), observer), bias)
        made.scale, made.zero_point = activation_qparams(mod)
        return made

    @classmethod
    def _check(cls, mod: Module) -> None:
        if type_before_parametrizations(mod) not in cls._float_kinds():
            raise AssertionError(
                f"nnq.{cls.__name__}.from_float only works for {cls._float_names()}, "
                f"but got: {type(mod)}"
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")

    @classmethod
    def from_reference(
        cls, ref_qlinear: Module, output_scale: float, output_zero_point: int
    ) -> Self:
        """The layer of a reference one."""
        made = cls(ref_qlinear.in_features, ref_qlinear.out_features)
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), ref_qlinear.bias)
        made.scale = float(output_scale)
        made.zero_point = int(output_zero_point)
        return made
