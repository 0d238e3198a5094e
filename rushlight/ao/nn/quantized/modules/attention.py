"""Attention whose linear layers are quantized."""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar, Final, Self

from .....nn.modules.module import Module
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DTYPES
from ...quantizable.modules import activation as observed

__all__ = ["MultiheadAttention"]

_OWN: Final = __name__.partition(".")[0]
_QUINT8: Final = DTYPES["quint8"]

_quantize = eager_function("aten::quantize_per_tensor")


class MultiheadAttention(observed.MultiheadAttention):
    """What `quantizable.MultiheadAttention` becomes when a model is converted."""

    _FLOAT_MODULE: ClassVar[type[Module]] = observed.MultiheadAttention

    def _get_name(self) -> str:
        return "QuantizedMultiheadAttention"

    @classmethod
    def from_float(cls, other: object) -> Self:
        """Raises: NotImplementedError: a float layer is observed first."""
        raise NotImplementedError(
            "It looks like you are trying to convert a non-observed MHA module. Please, see the "
            "examples on quantizable MHAs."
        )

    @classmethod
    def from_observed(cls, other: Module) -> Self:
        """The quantized layer of an observed one."""
        convert = import_module(f"{_OWN}.ao.quantization.quantize").convert
        made: Self = convert(other, inplace=False, remove_qconfig=True)
        made.__class__ = cls
        for name, linear in (("bias_k", made.linear_K), ("bias_v", made.linear_V)):
            bias = made._parameters.pop(name, None)
            if bias is not None:
                bias = _quantize(bias.detach(), linear.scale, linear.zero_point, _QUINT8)
            setattr(made, name, bias)
        for name in ("in_proj_weight", "in_proj_bias"):  # the linear layers hold them
            made._parameters.pop(name, None)
            setattr(made, name, None)
        return made
