"""The bits of a float32 as a whole number, and back."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from .compile import generated

__all__ = ["bits_of", "float_of"]


@generated
def bits_of(context: Any, x: Any) -> Any:
    """The int32 of the same bits as a float32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.int32(types.float32), generate


@generated
def float_of(context: Any, x: Any) -> Any:
    """The float32 of the same bits as an int32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate
