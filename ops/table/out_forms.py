"""The `out=` forms of operators, derived from their other forms.

An operator over tensors that returns new ones has such a form, unless its declaration says
otherwise (`out=""`).  The form's schema is the other's with `Tensor(a!) out` at the end, or with
an argument for each of several results.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from ..memory.dtype import Array, DType, dtype_by_number, dtype_of, of_numpy
from ..memory.errors import OperatorError
from ..memory.metadata import become
from ..memory.overlap import OutOverlap, check_out, check_resized
from ..memory.storage import is_resizable, memory_of, reach, storage_of, strides_of, view_of
from .layouts import OutLayout, in_shape_of, into_resized
from .out_dtypes import OutDtype, check_out_dtype
from .pointwise import cast
from .refusals import cpp_name

__all__ = [
    "Outs",
    "become_result",
    "check_dtype_of_out",
    "into_out",
    "into_outs",
    "no_gradients",
    "out_schema",
    "outs_in",
    "outs_of",
]

_HAS_KEYWORDS: Final = re.compile(r"[(,] ?\*, ")
_SEVERAL: Final = re.compile(r"\((Tensor(?: \w+)?(?:, Tensor(?: \w+)?)+)\)")
_LETTER: Final = re.compile(r"\((\w)!?\)")


class Outs(NamedTuple):
    """What an `out=` form has besides the arguments of the other form: its name, and its outs."""

    overload: str
    names: tuple[str, ...]
    letters: tuple[str, ...]
    returned: tuple[str, ...]
    """The names of the results; "" where they have none."""


def outs_of(schema: str, overload: str, said: str | None) -> Outs | None:
    """The `out=` form of an operator, None if there is none.

    `said` is what the operator's declaration says of it (`out=`): the overload, and the names of
    its outs, where they are not `out`, those of the results, or `out0`, `out1` and so on; a `-`
    after them if its results have no names though those of the other form do.  `out:d` is an out
    whose alias has that letter.
    """
    arguments, _, results = schema.rpartition(" -> ")
    if said == "" or "Tensor" not in arguments or not schema.startswith("aten::"):
        return None
    called, *names = said.split() if said else [f"{overload}_out" if overload else "out"]
    several = _SEVERAL.fullmatch(results)
    if several is None:
        if results != "Tensor" or "(a!)" in arguments:
            return None
        return Outs(called, (names[0] if names else "out",), ("a",), ("",))
    returned = tuple(each.partition(" ")[2] for each in several[1].split(", "))
    if names[-1:] == ["-"]:
        names.pop()
        returned = ("",) * len(returned)
    names = names or [name or f"out{n}" for n, name in enumerate(returned)]
    letters = (chr(n) for n in range(ord(max(["`", *_LETTER.findall(arguments)])) + 1, 128))
    pairs = [name.partition(":")[::2] for name in names]
    given = tuple(letter or next(letters) for _, letter in pairs)
    return Outs(called, tuple(name for name, _ in pairs), given, returned)


def out_schema(name: str, outs: Outs, schema: str) -> str:
    """The schema of the out= form of an operator."""
    arguments = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    star = ", " if _HAS_KEYWORDS.search(schema) else ", *, "
    types = [f"Tensor({letter}!)" for letter in outs.letters]
    written = ", ".join(map("{} {}".format, types, outs.names))
    results = ", ".join(map("{} {}".format, types, outs.returned)).replace(" ,", ",").rstrip()
    if len(types) > 1:
        results = f"({results})"
    return f"{name}.{outs.overload}({arguments}{star}{written}) -> {results}"


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


def outs_in(result: object, values: Sequence[object]) -> Sequence[Array]:
    """The arrays that an out= form has written, by what it gave and was given."""
    if isinstance(result, np.ndarray):
        return (result,)
    outs = result if isinstance(result, tuple) else values[-1]
    assert isinstance(outs, Sequence)
    return outs


def no_gradients(name: str) -> OperatorError:
    """The refusal to write what gradients are wanted of, for an operator of that name."""
    return OperatorError(
        f"{name}(): functions with out=... arguments don't support automatic "
        "differentiation, but one of the arguments requires grad.",
        headline="`out` takes no results of which gradients are wanted",
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
        _write(plain, result, out, values[:-1])
        return out

    return write_out


def into_outs(
    plain: Plain, forward: Callable[..., Any], fields: Sequence[str]
) -> Callable[..., tuple[Array, ...]]:
    """The forward whose results, of these names, go into its last arguments.

    It raises an OperatorError as that of one result does; of a dtype before any is written.
    """
    count = len(fields)

    def write_outs(*values: Any) -> tuple[Array, ...]:
        given, outs = values[:-count], values[-count:]
        for out in outs:
            check_out(plain.out_overlap, out, given)
        results: Sequence[Array] = forward(*given)
        for result, out, field in zip(results, outs, fields, strict=True):
            own, wanted = of_numpy(out.dtype), of_numpy(result.dtype)
            check_out_dtype(plain.out_dtype, plain.name, wanted, own, field or "out")
        for result, out in zip(results, outs, strict=True):
            _write(plain, result, out, given)
        return outs

    return write_outs


def _write(plain: Plain, result: Array, out: Array, given: Sequence[object]) -> None:
    result = in_shape_of(plain.out_layout, result, out)
    if out.shape != result.shape:
        check_resized(plain.out_overlap, out, result.size, given)
        become_result(plain.out_layout, out, result)
    else:
        out[...] = cast(result, out.dtype)


def become_result(layout: OutLayout, out: Array, result: Array) -> None:
    """Have an `out=` take a result of another shape, in its own memory as far as that reaches.

    Raises:
        OperatorError: it does not, and is not the tensor's to exchange.
    """
    made = into_resized(layout, result, out.dtype)
    steps, offset, memory = strides_of(made), storage_of(out)[1], memory_of(out)
    needed = (offset + reach(made.shape, steps)) * out.itemsize if made.size else memory.size + 1
    if needed <= memory.size:  # what shares this memory sees the result
        width = out.itemsize
        strides = [step * width for step in steps]
        place = view_of(memory, made.shape, strides, offset * width, out.dtype)
        place[...] = made
        made = place
    elif made.size and not is_resizable(out):
        raise OperatorError(
            "Trying to resize storage that is not resizable",
            code="shape-mismatch",
            headline=f"`out` is an array's memory of shape {list(out.shape)}, the result has "
            f"shape {list(result.shape)}",
        )
    become(out, made)
