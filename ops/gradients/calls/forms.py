"""Gradients on arrays of what calls of scripted code do most: texts that know all sizes.

A form gives for an operator that ran, by the number of a value, the text of its gradient; `g` is
the text of the result's gradient, an array of the result's sizes and dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np

from ....frontend.foundations.declared import Declared
from ..direct.products import FACTORS, LINEAR
from ..formulas.reduction import dims_of
from .shapes import At, Did, End, Value

__all__ = ["FORMS", "Writer"]


class Writer(Protocol):
    """What a form asks of who writes."""

    def name(self, thing: object) -> str:
        """The name of a thing in the text."""

    def line(self, text: str) -> None:
        """Another line."""

    def array(self, step: Did, at: int) -> str | None:
        """An argument that is an array; None if it is not kept."""

    def value(self, number: int) -> Value:
        """What is known of a value."""

    @property
    def fills_a_hole(self) -> bool:
        """Whether what an operator wrote over needs no gradient where that is zero."""


Form = Callable[[Writer, Did, Sequence[End], str], Sequence[str | None] | None]
"""The gradients of the ends, in order, None for one that is known to be zero; None for what is left
to others."""

FORMS: Final[Declared[str, Form]] = Declared()


def _form(*names: str) -> Callable[[Form], Form]:
    return FORMS.of(*(f"aten::{name}" for name in names))


def _sizes(writer: Writer, step: Did) -> tuple[int, ...]:
    return writer.value(step.args[0].number).shape


@_form(
    *"""view _unsafe_view reshape _reshape_alias flatten unflatten view_as reshape_as ravel squeeze
    unsqueeze""".split()
)
def _reshaped(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str]:
    return [f"{g}.reshape({_sizes(writer, step)!r})"]


@_form("transpose")
def _transposed(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str] | None:
    one, other = step.args[1:]
    return [f"{g}.swapaxes({one}, {other})"] if _sizes(writer, step) else None


@_form("t")
def _turned(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str]:
    return [f"{g}.T"]


@_form("permute")
def _permuted(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str]:
    order = [dim % len(step.args[1]) for dim in step.args[1]]
    return [f"{g}.transpose({tuple(order.index(i) for i in range(len(order)))!r})"]


def _ordinary(writer: Writer, step: Did, *numbers: int) -> bool:
    """Whether values have one dtype of floats, which NumPy itself has, and elements."""
    values = [writer.value(n) for n in (*numbers, *step.results)]
    kind = values[0].dtype
    return kind.char in "fd" and all(each.dtype is kind and 0 not in each.shape for each in values)


@_form("linear")
def _linear(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str] | None:
    input, weight, bias = step.args
    sizes = writer.value(weight.number).shape
    is_vector = bias is None or len(writer.value(bias.number).shape) == 1
    if len(sizes) != 2 or not is_vector or not _ordinary(writer, step, input.number, weight.number):
        return None
    if len(writer.value(step.results[0]).shape) < 2:
        return None
    asked = {end.at for end in ends}
    flags = ", ".join(str(at in asked) for at in range(3))
    x, w = writer.array(step, 0) or g, writer.array(step, 1) or g
    return _several(writer, f"{writer.name(LINEAR)}.call({g}, {x}, {w}, {flags})", len(ends))


@_form("mm", "bmm", "matmul")
def _factors(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str] | None:
    numbers = [each.number for each in step.args]
    shapes = [writer.value(n).shape for n in (*numbers, *step.results)]
    if len({len(each) for each in shapes}) > 1 or len(shapes[0]) < 2:
        return None
    if len({each[:-2] for each in shapes}) > 1 or not _ordinary(writer, step, *numbers):
        return None
    asked = {end.at for end in ends}
    a, b = writer.array(step, 0) or g, writer.array(step, 1) or g
    call = f"{writer.name(FACTORS)}.call({g}, {a}, {b}, {0 in asked}, {1 in asked}, False, False)"
    return _several(writer, call, len(ends))


def _several(writer: Writer, call: str, count: int) -> list[str]:
    writer.line(f"parts = {call}")
    return [f"parts[{place}]" for place in range(count)]


# --------------------------------------------------------------------------- sums


def _spread(writer: Writer, step: Did, g: str) -> str | None:
    sizes = _sizes(writer, step)
    dim = step.args[1] if step.bound.entry.overload.startswith("dim") else None
    kept = list(sizes)
    for each in dims_of(dim, len(sizes)):
        kept[each] = 1
    return f"{writer.name(np.broadcast_to)}({g}.reshape({tuple(kept)!r}), {sizes!r})"


def _is_plain(writer: Writer, step: Did) -> bool:
    before, after = writer.value(step.args[0].number), writer.value(step.results[0])
    return before.dtype is after.dtype and step.bound.entry.overload in ("", "dim", "dim_IntList")


@_form("sum")
def _summed(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str] | None:
    found = _spread(writer, step, g) if _is_plain(writer, step) else None
    return None if found is None else [found]


@_form("mean")
def _averaged(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str] | None:
    sizes, result = _sizes(writer, step), writer.value(step.results[0])
    if not _is_plain(writer, step) or result.dtype.char not in "fd" or 0 in sizes:
        return None
    dim = step.args[1] if step.bound.entry.overload == "dim" else None
    count = 1
    for each in dims_of(dim, len(sizes)):
        count *= sizes[each]
    share = writer.name(np.asarray(count, result.dtype))
    divided = f"{writer.name(np.divide)}({g}, {share}, {writer.name(np.empty_like)}({g}))"
    found = _spread(writer, step, divided)
    return None if found is None else [found]


# --------------------------------------------------------------------------- parts


@_form("select")
def _selected(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str] | None:
    return _among_zeros(writer, step, g, step.args[2])


@_form("slice")
def _sliced(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str] | None:
    return _among_zeros(writer, step, g, slice(*step.args[2:]))


def _among_zeros(writer: Writer, step: Did, g: str, place: object) -> list[str] | None:
    """The gradient of a part at a place of a dimension."""
    value = writer.value(step.args[0].number)
    if value.dtype.isbuiltin != 1 or step.bound.entry.overload not in ("int", "Tensor"):
        return None
    dim = step.args[1] % len(value.shape)
    key = writer.name((*[slice(None)] * dim, place))
    writer.line(f"whole = {writer.name(np.zeros)}({value.shape!r}, {writer.name(value.dtype)})")
    writer.line(f"whole[{key}] = {g}")
    return ["whole"]


@_form("copy", "fill", "zero")
def _replaced(
    writer: Writer, step: Did, ends: Sequence[End], g: str
) -> Sequence[str | None] | None:
    if not writer.fills_a_hole or (len(step.args) > 1 and step.bound.entry.overload == "Tensor"):
        return None
    return [g if end.at else None for end in ends]


@_form("cat")
def _joined(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str] | None:
    result = writer.value(step.results[0])
    ndim = len(result.shape)
    parts = [writer.value(each.number) for each in step.args[0] if type(each) is At]
    if len(parts) < len(step.args[0]) or any(len(p.shape) != ndim for p in parts):
        return None
    dim, start, keys = step.args[1] % ndim, 0, []
    for part in parts:
        end = start + part.shape[dim]
        keys.append((*[slice(None)] * dim, slice(start, end)))
        start = end
    return [f"{g}[{writer.name(keys[end.inner or 0])}]" for end in ends]


@_form("stack")
def _stacked(writer: Writer, step: Did, ends: Sequence[End], g: str) -> list[str]:
    ndim = len(writer.value(step.results[0]).shape)
    dim = step.args[1] % ndim
    return [f"{g}[{writer.name((*[slice(None)] * dim, end.inner or 0, ...))}]" for end in ends]
