"""Complex tensors, which in ONNX files are tensors of floats with a last axis of two.

An operand of a complex dtype has the sizes that the program sees; what stands in the file has one
axis more, its real and imaginary parts.  Operators that do the same to both are done twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .items import Item, Operand
from .table import COMPLEX, EXPORTS, PARTS, TAKING_COMPLEX, Form
from .writer import Writer

__all__ = ["by_parts", "form_for", "is_complex", "part_of", "together"]


def is_complex(item: Item) -> bool:
    """Whether it is a complex tensor or number, or a list that holds one."""
    if isinstance(item, list | tuple):
        return any(map(is_complex, item))
    if isinstance(item, Operand):
        return item.dtype.kind == "c"
    return isinstance(item, complex)


def form_for(kind: str, items: Sequence[Item]) -> Form | None:
    """The form of an operator for these operands; None if there is none."""
    form = EXPORTS.get(kind)
    if not is_complex(items):
        return form
    if kind in COMPLEX or form is None:
        return COMPLEX.get(kind)
    if kind in PARTS:
        return by_parts(form, PARTS[kind])
    return form if kind in TAKING_COMPLEX else None


def part_of(w: Writer, item: Item, which: int, is_value: bool = True) -> Item:
    """The real part (0) or the imaginary part (1); of what is no value, the item itself."""
    if isinstance(item, list | tuple):
        return [part_of(w, each, which) for each in item] if is_complex(item) else item
    if isinstance(item, Operand):
        if item.dtype.kind == "c":
            return w.halves(item)[which]
        return w.zeros_as(item) if is_value and which else item
    if isinstance(item, complex):
        return item.imag if which else item.real
    if which and is_value and isinstance(item, bool | int | float):
        return type(item)(0)
    return item


def by_parts(form: Form, values: Collection[int] = (0,)) -> Form:
    """A form that does the same to real and imaginary parts.

    `values` are the places of arguments that are numbers like them, so that a real one has an
    imaginary part of zero.
    """

    def made(w: Writer, *items: Item, **named: Item) -> object:
        halves = []
        for which in (0, 1):
            given = [part_of(w, item, which, at in values) for at, item in enumerate(items)]
            halves.append(form(w, *given, **named))
        return together(w, *halves)

    return made


def together(w: Writer, real: Item, imaginary: Item) -> Item:
    """A complex result of its parts, or several."""
    if isinstance(real, list | tuple) and isinstance(imaginary, list | tuple):
        return type(real)(together(w, a, b) for a, b in zip(real, imaginary, strict=True))
    return w.from_halves(w.tensor(real), w.tensor(imaginary))
