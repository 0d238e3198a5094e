"""The `out=` forms of operators, derived from their other forms.

An operator over tensors that returns a new one has such a form, unless its declaration says
otherwise (`out=""`).  The form's schema is the other's with `Tensor(a!) out` at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Protocol

from ..memory.dtype import Array, DType, dtype_by_number, dtype_of, of_numpy
from ..memory.errors import OperatorError
from ..memory.metadata import become
from ..memory.overlap import OutOverlap, check_out, check_resized
from ..memory.storage import is_resizable
from .layouts import OutLayout, in_shape_of, into_resized
from .out_dtypes import OutDtype, check_out_dtype
from .pointwise import cast
from .refusals import cpp_name

__all__ = ["check_dtype_of_out", "into_out", "out_overload", "out_schema"]

_HAS_KEYWORDS: Final = re.compile(r"[(,] ?\*, ")


def out_overload(schema: str, overload: str, said: str | None) -> str:
    """The overload of the `out=` form of an operator, "" if there is none.

    `said` is what the operator's declaration says of it.
    """
    arguments, _, results = schema.rpartition(" -> ")
    if results != "Tensor" or "Tensor" not in arguments or not schema.startswith("aten::"):
        return ""
    if "(a!)" in arguments:
        return ""
    return said if said is not None else f"{overload}_out" if overload else "out"


def out_schema(name: str, overload: str, schema: str) -> str:
    """The schema of the out= form of an operator that returns one tensor."""
    arguments = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    star = ", " if _HAS_KEYWORDS.search(schema) else ", *, "
    return f"{name}.{overload}({arguments}{star}Tensor(a!) out) -> Tensor(a!)"


def check_dtype_of_out(own: DType, wanted: DType) -> None:
    """Refuse an `out` of another dtype than the one asked for.

    Raises:
        OperatorError: the dtypes differ.
    """
    if own is not wanted:
        raise OperatorError(
            f"Expected out tensor to have dtype {cpp_name(wanted)}, "
            f"but got {cpp_name(own)} instead",
            code="dtype-mismatch",
            headline=f"`out` is `{own}`, so `dtype` cannot be `{wanted}`",
            roles={"out": f"is `{own}`"},
        )


class Plain(Protocol):
    """What is asked of the operator that an `out=` form belongs to."""

    name: str
    out_dtype: OutDtype
    out_layout: OutLayout
    out_overlap: OutOverlap


def into_out(plain: Plain, forward: Callable[..., object]) -> Callable[..., Array]:
    """The forward of the out= form of an operator: see `_into_out`."""
    if plain.out_dtype.demand != "computed":
        return _into_out(plain, forward)

    def in_dtype_of_out(*values: Any) -> Array:
        *given, dtype, out = values
        own = dtype_of(out)
        if dtype is not None:
            check_dtype_of_out(own, dtype_by_number(dtype))
        return _into_out(plain, forward)(*given, own.number, out)

    return in_dtype_of_out


def _into_out(plain: Plain, forward: Callable[..., Any]) -> Callable[..., Array]:
    """The forward whose result goes into its last argument, which takes the result's shape.

    It raises an OperatorError if `out` has a dtype it may not have or is a view of another shape.
    """

    def write_out(*values: Any) -> Array:
        out: Array = values[-1]
        check_out(plain.out_overlap, out, values[:-1])
        result: Array = forward(*values[:-1])
        check_out_dtype(plain.out_dtype, plain.name, of_numpy(result.dtype), of_numpy(out.dtype))
        result = in_shape_of(plain.out_layout, result, out)
        if out.shape != result.shape:
            check_resized(plain.out_overlap, out, result.size, values[:-1])
            _resize(plain.out_layout, out, result)
        else:
            out[...] = cast(result, out.dtype)
        return out

    return write_out


def _resize(layout: OutLayout, out: Array, result: Array) -> None:
    if not is_resizable(out):
        raise OperatorError(
            "Trying to resize storage that is not resizable",
            code="shape-mismatch",
            headline=f"`out` has shape {list(out.shape)}, the result {list(result.shape)}",
        )
    become(out, into_resized(layout, result, out.dtype))
