"""What reference layers share: a weight in floats, with the scale and zero point it is to have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ......module_names import names_of
from ......nn.modules.module import Module
from ......ops.eager.dispatch import eager_function
from ......ops.memory.dtype import DTYPES, QSCHEMES
from ......ops.tensors.construct import tensor
from ......ops.tensors.tensor import Tensor

__all__ = ["ReferenceQuantizedModule"]

_dequantize = eager_function("aten::dequantize")
_per_channel = eager_function("aten::quantize_per_channel")
_per_tensor = eager_function("aten::quantize_per_tensor")

WeightParameters = Mapping[str, Any]
"""The scheme, dtype, scale and zero point of a weight, by name."""

PLAIN: Final[WeightParameters] = {
    "qscheme": QSCHEMES["per_tensor_affine"],
    "dtype": DTYPES["quint8"],
    "scale": 1.0,
    "zero_point": 0,
}
"""The parameters of a weight for which none are given."""
_SCHEMES: Final = (
    None,
    QSCHEMES["per_tensor_affine"],
    QSCHEMES["per_channel_affine"],
    QSCHEMES["per_channel_affine_float_qparams"],
)


class ReferenceQuantizedModule(Module):
    """A layer whose weight is rounded when it computes.

    `weight_qscheme`, `weight_dtype`, `weight_scale`, `weight_zero_point` and `weight_axis` say how.
    """

    def _init_weight_qparams(self, weight_qparams: WeightParameters | None, device: object) -> None:
        given = PLAIN if weight_qparams is None else weight_qparams
        scheme, dtype = given["qscheme"], given["dtype"]
        if scheme not in _SCHEMES:
            raise AssertionError(
                f"qscheme: {scheme} is not support in reference quantized {type(self)}"
            )
        self.weight_qscheme, self.weight_dtype = scheme, dtype
        self.weight_axis_int = int(given.get("axis", 0))
        self.is_decomposed = bool(given.get("is_decomposed", False))
        self.weight_quant_min = given.get("quant_min")
        self.weight_quant_max = given.get("quant_max")
        if scheme is None:
            return
        for name, kind in (("scale", "float32"), ("zero_point", "int32")):
            value = given[name]
            made = value.detach().clone() if isinstance(value, Tensor) else tensor(value)
            by_channel = "channel" in str(scheme)
            self.register_buffer(
                f"weight_{name}", made if by_channel else made.reshape([]).to(DTYPES[kind])
            )
        self.register_buffer("weight_axis", tensor(self.weight_axis_int, dtype=DTYPES["int32"]))

    def get_quantized_weight(self) -> Tensor:
        """The weight as a quantized tensor; a float16 one as float16."""
        weight: Tensor = self.weight
        made: Tensor
        if self.weight_dtype is DTYPES["float16"]:
            made = weight.to(DTYPES["float16"])
        elif self.weight_dtype.name not in ("quint8", "qint8", "quint4x2", "qint32"):
            made = weight
        elif self.weight_scale.dim() == 0:
            scale, zero_point = float(self.weight_scale), int(self.weight_zero_point)
            made = _per_tensor(weight, scale, zero_point, self.weight_dtype)
        else:
            scale, zero_point = self.weight_scale, self.weight_zero_point
            if self.weight_qscheme is not QSCHEMES["per_channel_affine_float_qparams"]:
                zero_point = zero_point.to(DTYPES["int64"])
            made = _per_channel(weight, scale, zero_point, self.weight_axis_int, self.weight_dtype)
        return made

    def get_weight(self) -> Tensor:
        """The weight in floats, rounded as it is to be quantized."""
        made = self.get_quantized_weight()
        if made.is_quantized:
            made = _dequantize(made)
        return made.to(DTYPES["float32"])

    def _take(self, mod: Module) -> None:
        """Take weight and bias of a layer."""
        self.weight = mod.weight
        if hasattr(mod, "bias"):
            self.bias = mod.bias


__getattr__ = names_of(__name__)
