"""Linear layers over floats, with quantized weights."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from importlib import import_module
from typing import ClassVar, Final, Self

from ......nn.modules import linear as floats
from ......nn.modules.module import Module
from ......nn.state import Metadata, StateDict
from ......ops.eager.dispatch import eager_function
from ......ops.memory.dtype import DTYPES, DType
from ......ops.tensors.tensor import Tensor
from .....nn.intrinsic.modules import fused
from .....nn.qat.dynamic.modules.linear import Linear as Trained
from ...modules import linear as static
from ...modules.weighted import _hide_packed_params_repr, _quantize_weight, observed_weight

__all__ = ["Linear"]

_torch = import_module(__name__.partition(".")[0])
"""The package itself: script takes constants from modules alone."""

_dynamic = eager_function("quantized::linear_dynamic")
_dynamic_fp16 = eager_function("quantized::linear_dynamic_fp16")

_FLOAT16: Final = DTYPES["float16"]
_QINT8: Final = DTYPES["qint8"]


class Linear(static.Linear):
    """A linear layer over floats, which are quantized to 8 bits by the range of each call.

    Args:
        dtype: that of the weights: qint8, or float16.
    """

    _version = 4
    _FLOAT_MODULE: ClassVar[object] = (floats.Linear, floats.NonDynamicallyQuantizableLinear)

    def __init__(
        self, in_features: int, out_features: int, bias_: bool = True, dtype: DType = _QINT8
    ) -> None:
        super().__init__(in_features, out_features, bias_, dtype=dtype)
        self.version: int | None = 4

    def forward(self, x: Tensor) -> Tensor:
        if self._packed_params.dtype == _torch.qint8:
            if self.version is None or self.version < 4:
                return _dynamic(x, self._packed_params._packed_params)
            else:
                return _dynamic(x, self._packed_params._packed_params, reduce_range=True)
        elif self._packed_params.dtype == _torch.float16:
            return _dynamic_fp16(x, self._packed_params._packed_params)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def extra_repr(self) -> str:
        dtype = self._packed_params.dtype
        said = f"in_features={self.in_features}, out_features={self.out_features}, dtype={dtype}"
        return f"{said}, qscheme={self.weight().qscheme()}" if dtype is _QINT8 else said

    def __repr__(self) -> str:
        return _hide_packed_params_repr(self, static.LinearPackedParams)

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
        self.version = local_metadata.get("version")
        lists = (missing_keys, unexpected_keys, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *lists)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of one in floats, or of one that was trained for this.

        Raises:
            AssertionError: another module; no configuration.
            RuntimeError: weights that are to be neither qint8 nor float16.
        """
        kinds = [floats.Linear, floats.NonDynamicallyQuantizableLinear, fused.LinearReLU, Trained]
        if type(mod) not in kinds:
            raise AssertionError(
                "nn.quantized.dynamic.Linear.from_float only works for one of"
                f"{[kind.__name__ for kind in kinds]}, got {type(mod)}"
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        source = mod[0] if isinstance(mod, fused.LinearReLU) else mod
        observer = cls._observer(mod, source, use_precomputed_fake_quant)
        dtype: DType = observer.dtype
        if dtype not in (_QINT8, _FLOAT16):
            raise AssertionError(
                "The only supported dtypes for dynamic quantized linear are qint8 and float16, "
                f"got: {dtype}"
            )
        weight = source.weight.float()
        made = cls(source.in_features, source.out_features, dtype=dtype)
        packed = _quantize_weight(weight, observer) if dtype is _QINT8 else weight
        made.set_weight_bias(packed, source.bias)
        return made

    @classmethod
    def _observer(cls, mod: Module, source: Module, precomputed: bool) -> Module:
        if mod.qconfig is not None and mod.qconfig.weight is not None:
            return observed_weight(mod, source.weight, precomputed)
        observer = _torch.ao.quantization.qconfig.default_dynamic_qconfig.weight()
        observer(source.weight)
        return observer

    @classmethod
    def from_reference(cls, ref_qlinear: Module) -> Self:  # type: ignore[override]
        """The layer of a reference one."""
        made = cls(
            ref_qlinear.in_features, ref_qlinear.out_features, dtype=ref_qlinear.weight_dtype
        )
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), ref_qlinear.bias)
        return made
