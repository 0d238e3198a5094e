"""Where branches or rounds of a loop meet: the one form that values of several places take there.

    3 and 3                  -> 3, which no run has to carry
    3 and 4                  -> a number that a run carries
    [a, b] and [c, d]        -> a list of two tensors
    [a] and [a, b]           -> an ONNX sequence
    [1] and [1, 2]           -> a 1-d tensor
    None and a               -> a bool, and a tensor that means something if it is true

A form says which operands carry a value (`spread`) and what they are on the other side (`gather`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..ops.memory.dtype import Dtype
from .contents import Contents
from .items import BROKEN, UNSET, Cell, Item, Maybe, Operand, Shape, Unsupported
from .proto import element_type
from .writer import BOOL, Writer, is_number

__all__ = ["Form", "form_of", "gather", "leaves", "meet", "spread"]


@dataclass(frozen=True)
class Same:
    """A value that is the same everywhere."""

    item: Item


@dataclass(frozen=True)
class One:
    """A tensor, a number, a 1-d tensor for a list of numbers, or a sequence.

    `dtype` is None for an empty list whose elements have not been seen yet.
    """

    dtype: Dtype | None
    shape: Shape | None
    weak: bool = False
    is_sequence: bool = False
    is_cell: bool = True


@dataclass(frozen=True)
class Several:
    """A list of a known length, a tuple, or a dict with these keys."""

    forms: tuple[Form, ...]
    is_list: bool
    keys: tuple[Item, ...] | None = None


@dataclass(frozen=True)
class OrNone:
    """A value of a form, or None."""

    form: Form


Form = Same | One | Several | OrNone

_PRESENT: Final = One(BOOL, (), weak=True, is_cell=False)


def form_of(item: Item, contents: Contents) -> Form:
    """The form of one value."""
    content = contents.content(item)
    if isinstance(content, Operand):
        is_cell = isinstance(item, Cell)
        return One(content.dtype, content.shape, content.weak, content.is_sequence, is_cell)
    if isinstance(content, dict):
        parts = tuple(form_of(each, contents) for each in content.values())
        return Several(parts, True, tuple(content))
    if isinstance(content, list | tuple):
        parts = tuple(form_of(each, contents) for each in content)
        return Several(parts, isinstance(content, list))
    if isinstance(content, Maybe):
        return OrNone(form_of(content.value, contents))
    return Same(content)


def meet(a: Form, b: Form) -> Form:
    """The form of values that have one or the other.

    Raises:
        Unsupported: there is none.
    """
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Same) and one.item is UNSET:
            return other
        if isinstance(one, Same) and one.item is BROKEN:
            return one
        if isinstance(one, OrNone):
            inner = other.form if isinstance(other, OrNone) else other
            return one if inner == _NONE else OrNone(meet(one.form, inner))
        if one == _NONE and other != _NONE:
            return OrNone(other if isinstance(other, Several) else _one(other))
    if isinstance(a, Same) and isinstance(b, Same):
        if _equal(a.item, b.item):
            return a
        return _meet_ones(_one(a), _one(b))
    if isinstance(a, Several) and isinstance(b, Several) and a.is_list == b.is_list:
        if a.keys != b.keys:
            raise Unsupported("dicts of different keys meet here")
        if len(a.forms) == len(b.forms):
            return Several(tuple(map(meet, a.forms, b.forms)), a.is_list, a.keys)
        if not a.is_list:
            raise Unsupported("tuples of different lengths meet here")
    return _meet_ones(_one(a), _one(b))


_NONE: Final = Same(None)


def _equal(a: Item, b: Item) -> bool:
    if a is b:
        return True
    if isinstance(a, float) and isinstance(b, float):
        same = a == b or (math.isnan(a) and math.isnan(b))
        return same and math.copysign(1, a) == math.copysign(1, b)
    return type(a) is type(b) and isinstance(a, bool | int | str) and a == b


def _one(form: Form) -> One:
    """The form as a single operand."""
    match form:
        case One():
            return form
        case Same(item) if is_number(item):
            return One(_number(item), (), weak=True, is_cell=False)
        case Several(forms, True):
            return _list(forms)
        case Same(item):
            raise Unsupported(f"`{item}` and another value meet here, and only a run says which")
    raise Unsupported("tuples and other values meet here")


def _number(item: Item) -> Dtype:
    kinds: dict[type, type] = {bool: np.bool_, int: np.int64, float: np.float64}
    if type(item) not in kinds:
        raise Unsupported(f"`{item}` is no number that a run can carry")
    return np.dtype(kinds[type(item)])


def _list(forms: Sequence[Form]) -> One:
    """A list as one operand: numbers become a 1-d tensor, tensors a sequence."""
    if not forms:
        return One(None, None)
    element = _one(forms[0])
    for each in forms[1:]:
        element = _meet_ones(element, _one(each))
    if element.weak and element.shape == ():
        return One(element.dtype, (len(forms),), weak=True)
    if element.weak or element.is_sequence:
        raise Unsupported("a list of lists whose length only a run knows")
    return replace(element, is_sequence=True)


def _meet_ones(a: One, b: One) -> One:
    if a.dtype is None or b.dtype is None:
        known = b if a.dtype is None else a
        return _any_length(known)
    if a.is_sequence != b.is_sequence or a.weak != b.weak:
        raise Unsupported("a list and a tensor, or a number and a tensor, meet here")
    if a.dtype != b.dtype:
        raise Unsupported(f"tensors of {a.dtype.name} and {b.dtype.name} meet here")
    return replace(a, shape=_meet_shapes(a.shape, b.shape), is_cell=a.is_cell or b.is_cell)


def _any_length(form: One) -> One:
    return replace(form, shape=(None,)) if form.weak and form.shape != () else form


def _meet_shapes(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def leaves(form: Form) -> Iterator[One]:
    """The operands that carry a value of the form."""
    if isinstance(form, One):
        yield form
    elif isinstance(form, Several):
        for each in form.forms:
            yield from leaves(each)
    elif isinstance(form, OrNone):
        yield _PRESENT
        yield from leaves(form.form)


def spread(item: Item, form: Form, contents: Contents, w: Writer) -> Iterator[Operand]:
    """The operands that carry a value, converted to what the form wants."""
    content = contents.content(item)
    if isinstance(form, One):
        if form.is_sequence and isinstance(content, list):
            for each in content:
                contents.hold(item, each)
        yield _carried(content, form, contents, w)
    elif isinstance(form, Several):
        given: Sequence[Item] = [UNSET] * len(form.forms)
        if isinstance(content, list | tuple):
            given = content
        elif isinstance(content, dict):
            given = list(content.values())
        for each, inner in zip(given, form.forms, strict=True):
            yield from spread(each, inner, contents, w)
    elif isinstance(form, OrNone):
        value = UNSET if content is None else item
        if isinstance(content, Maybe):
            yield content.present
            value = content.value
        else:
            yield w.tensor(value is not UNSET)
        yield from spread(value, form.form, contents, w)


def _carried(content: Item, form: One, contents: Contents, w: Writer) -> Operand:
    if form.dtype is None:
        raise Unsupported("a list stays empty, so that its elements have no dtype")
    if content is UNSET:
        return _placeholder(form, form.dtype, w)
    if isinstance(content, list | tuple):
        parts = [contents.resolved(each) for each in content]
        if form.weak:
            return w.vector(parts, form.dtype)
        if not parts:
            return w.op("SequenceEmpty", dtype=element_type(form.dtype))
        return w.op("SequenceConstruct", *(w.tensor(part) for part in parts))
    if isinstance(content, Operand) and content.is_sequence:
        return content
    return w.tensor(content, form.dtype)


def _placeholder(form: One, dtype: Dtype, w: Writer) -> Operand:
    if form.is_sequence:
        return w.op("SequenceEmpty", dtype=element_type(dtype))
    sizes = [size if isinstance(size, int) else 1 for size in form.shape or ()]
    return w.filled(sizes, 0, dtype)


def gather(
    form: Form, operands: Iterator[Operand], contents: Contents, others: Sequence[Cell] = ()
) -> Item:
    """The value that operands carry.  `others` are cells that it may be, under another name."""
    if isinstance(form, Same):
        return form.item
    if isinstance(form, OrNone):
        return Maybe(next(operands), gather(form.form, operands, contents, others))
    if isinstance(form, One):
        operand = next(operands)
        is_list = form.is_sequence or (form.weak and form.shape != ())
        return contents.cell(operand, others) if form.is_cell or is_list else operand
    parts = [gather(each, operands, contents, others) for each in form.forms]
    if form.keys is not None:
        return contents.cell(dict(zip(form.keys, parts, strict=True)), others)
    return contents.cell(parts, others) if form.is_list else tuple(parts)
