"""Memory by its address."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from .compile import generated

__all__ = ["copy_even_8", "copy_run"]


@generated
def copy_run(context: Any, target: Any, source: Any, count: Any) -> Any:
    """Copy as many float32 from one address to another."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        one, other = (builder.inttoptr(each, byte) for each in arguments[:2])
        cgutils.raw_memcpy(builder, one, other, arguments[2], 4)  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@generated
def copy_even_8(context: Any, target: Any, source: Any) -> Any:
    """Copy every second float32 of the 16 at one address to another."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide, narrow = (ir.VectorType(ir.FloatType(), count) for count in (16, 8))
        seen = builder.load(builder.inttoptr(arguments[1], wide.as_pointer()), align=4)
        even = ir.Constant(ir.VectorType(ir.IntType(32), 8), list(range(0, 16, 2)))
        taken = builder.shuffle_vector(seen, ir.Constant(wide, ir.Undefined), even)
        builder.store(taken, builder.inttoptr(arguments[0], narrow.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate
