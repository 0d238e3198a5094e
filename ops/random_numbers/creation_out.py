"""The `out=` forms of operators that make new tensors.

They have no options: dtype and device are those of `out`, in which the values are computed; `out`
takes the shape of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array, dtype_of
from ..shapes import creation
from ..shapes.creation import OPTIONS
from ..table.out_forms import into_out
from ..table.record import Operator
from ..table.table import TABLE, operator
from . import random_ops  # noqa: F401  (they declare the plain forms)

_FORMS: Final = """
zeros -:out
ones -:out
full -:out
eye -:out m:m_out
linspace -:out Tensor_Tensor:Tensor_Tensor_out Tensor_Scalar:Tensor_Scalar_out \
Scalar_Tensor:Scalar_Tensor_out
logspace -:out Tensor_Tensor:Tensor_Tensor_out Tensor_Scalar:Tensor_Scalar_out \
Scalar_Tensor:Scalar_Tensor_out
arange -:out start_step:start_out
range -:out_ step:out
rand -:out generator:generator_out
randn -:out generator:generator_out
randint -:out generator:generator_out low:low_out low_generator:low_generator_out
randperm -:out generator:generator_out
"""
"""A name, then the overload and that of its out= form, `-` for the nameless one."""

_ANY_DTYPE: Final = OPTIONS.replace("dtype=None", "dtype=4").removeprefix("*, ")


def _declare(name: str, overload: str, out_overload: str) -> None:
    plain = TABLE.operator(f"{name}.{overload}" if overload != "-" else name)
    assert plain is not None
    arguments = plain.schema[plain.schema.index("(") + 1 : plain.schema.rindex(") ->")]
    for options in (OPTIONS, OPTIONS.removeprefix("*, "), _ANY_DTYPE):
        arguments = arguments.removesuffix(options)
    star = "" if "*, " in arguments else "*, "
    schema = f"{name}.{out_overload}({arguments}{star}Tensor(a!) out) -> Tensor(a!)"
    operator(schema, random=plain.random)(_forward(plain))


def _forward(plain: Operator) -> Callable[..., Array]:
    def write_out(*values: Any) -> Array:
        number = dtype_of(values[-1]).number

        def made(*given: object) -> object:
            return plain.forward(*given, number, None, None, None)

        return into_out(plain, made)(*values)

    return write_out


for _line in _FORMS.strip().splitlines():
    _name, *_pairs = _line.split()
    for _pair in _pairs:
        _declare(f"aten::{_name}", *_pair.split(":"))


_EMPTY: Final = TABLE.operators("aten::empty")[0]


@operator(
    "aten::empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) "
    "-> Tensor(a!)"
)
def empty_out(size: list[int], memory_format: int | None, out: Array) -> Array:
    def made(size: list[int], memory_format: int | None) -> Array:
        return np.empty(creation.check_sizes(size, "empty"), out.dtype)

    if tuple(size) == out.shape:
        return out  # what it holds stays
    return into_out(_EMPTY, made)(size, memory_format, out)
