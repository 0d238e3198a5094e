"""Sums of products named by letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import index
from types import EllipsisType
from typing import Any, Final, SupportsIndex

from ..arithmetic.elementwise import mul
from ..kernels import family, in_order
from ..memory.dtype import Array, Key
from ..memory.errors import OperatorError
from ..memory.storage import view_of
from ..reductions.reduce import sum_over
from ..shapes.shape import diagonal
from ..table.pointwise import as_array
from ..table.refusals import scalar_types_differ
from ..table.table import operator
from .contraction import contraction, dims_to_sum
from .linalg import bmm, matmul

__all__ = ["einsum", "from_sublists", "summed"]

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ELLIPSIS: Final = -1
_RESULT: Final = "the output"

Labels = list[int]


def _labels(text: str, start: int, whose: str) -> Labels:
    """The labels of one operand or of the result; `_ELLIPSIS` for three dots.

    `start` is the place of `text` in the equation.
    """
    labels: Labels = []
    place = 0
    while place < len(text):
        letter = text[place]
        if letter == ".":
            if _ELLIPSIS in labels:
                if whose == _RESULT:
                    raise _error("found '.' for output but an ellipsis (...) was already found")
                raise _error(f"found '.' for {whose} for which an ellipsis was already found")
            if text[place : place + 3] != "...":
                if whose == _RESULT:
                    raise _error("found '.' for output that is not part of any ellipsis (...)")
                raise _error(f"found '.' for {whose} that is not part of any ellipsis")
            labels.append(_ELLIPSIS)
            place += 2
        elif letter in _LETTERS:
            labels.append(_LETTERS.index(letter))
        elif letter != " ":
            raise _error(
                f"invalid subscript given at index {start + place} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        place += 1
    return labels


def _error(sentence: str) -> OperatorError:
    return OperatorError(f"einsum(): {sentence}", code="shape-mismatch")


def _parsed(equation: str, count: int) -> tuple[list[Labels], Labels | None]:
    """The labels of the operands and of the result; None for a result that is left open."""
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    operands: list[Labels] = []
    start = 0
    for place, part in enumerate(parts):
        if place >= count:
            raise _error("fewer operands were provided than specified in the equation")
        operands.append(_labels(part, start, f"operand {place}"))
        start += len(part) + 1
    if len(parts) < count:
        raise _error("more operands were provided than specified in the equation")
    if not arrow:
        return operands, None
    return operands, _labels(right, len(left) + 2, _RESULT)


def _check_operand(labels: Labels, shape: tuple[int, ...], place: int) -> int:
    """How many dimensions the ellipsis of an operand stands for."""
    named = sum(label != _ELLIPSIS for label in labels)
    if _ELLIPSIS in labels:
        if named > len(shape):
            raise _error(
                f"the number of subscripts in the equation ({named}) is more than the number of "
                f"dimensions ({len(shape)}) for operand {place}"
            )
    elif named != len(shape):
        raise _error(
            f"the number of subscripts in the equation ({named}) does not match the number of "
            f"dimensions ({len(shape)}) for operand {place} and no ellipsis was given"
        )
    return len(shape) - named


def _open_result(operands: list[Labels]) -> Labels:
    """The result of an equation without an arrow: the labels that occur once, sorted."""
    every = [label for labels in operands for label in labels]
    dots = [_ELLIPSIS] if _ELLIPSIS in every else []
    once = {label for label in every if label != _ELLIPSIS and every.count(label) == 1}
    return dots + sorted(once)


def _check_result(result: Labels, operands: list[Labels]) -> None:
    known = {label for labels in operands for label in labels}
    for label in result:
        if label == _ELLIPSIS:
            continue
        letter = _LETTERS[label]
        if result.count(label) > 1:
            raise _error(f"output subscript {letter} appears more than once in the output")
        if label not in known:
            raise _error(
                f"output subscript {letter} does not appear in the equation for any input operand"
            )


def _check_sizes(operands: list[Labels], shapes: Sequence[tuple[int, ...]]) -> None:
    """Equal labels have equal sizes, or 1."""
    sizes: dict[int, int] = {}
    for place, (labels, shape) in enumerate(zip(operands, shapes, strict=True)):
        own: dict[int, int] = {}
        for label, size in zip(labels, shape, strict=True):
            if own.setdefault(label, size) != size:  # never of an ellipsis
                raise _error(
                    f"subscript {_LETTERS[label]} is repeated for operand {place} but the sizes "
                    f"don't match, {size} != {own[label]}"
                )
        for label, size in own.items():
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size not in (1, known) and label < 52:
                raise _error(
                    f"subscript {_LETTERS[label]} has size {size} for operand {place} which does "
                    f"not broadcast with previously seen size {known}"
                )
            elif size not in (1, known):
                dim = label - min(each for each in own if each >= 52)
                raise _error(
                    f"dimension {dim} covered by ellipsis in operand {place}has size {size} which "
                    f"does not broadcast with previously seen ellipsis with size {known} for the "
                    "respective dimension"
                )


def _spread(labels: Labels, dots: int, widest: int) -> Labels:
    """The labels with an ellipsis replaced by labels from 52 on, aligned at the right."""
    if _ELLIPSIS not in labels:
        return labels
    place = labels.index(_ELLIPSIS)
    return [*labels[:place], *range(52 + widest - dots, 52 + widest), *labels[place + 1 :]]


@operator(
    "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    autocast="lower",
    out="",
    cost="products-by-letters",
    prepared=True,
    on_slices="einsum",
)
def einsum(equation: str, tensors: list[Array], path: object) -> Array:
    """The sum of products that an equation such as `ij,jk->ik` describes."""
    if not tensors:
        raise _error("must provide at least one operand")
    return summed(tensors, *_read(equation, tuple(tensor.shape for tensor in tensors)))


@lru_cache(512)
def _read(equation: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[Labels], Labels]:
    """The labels of operands of these shapes, and of the result."""
    operands, result = _parsed(equation, len(shapes))
    dots = [_check_operand(*each) for each in zip(operands, shapes, range(99), strict=False)]
    widest = max(dots)
    if result is None:
        result = _open_result(operands)
    _check_result(result, operands)
    wide = [_spread(labels, d, widest) for labels, d in zip(operands, dots, strict=True)]
    _check_sizes(wide, shapes)
    return wide, _spread(result, widest, widest)


@operator(
    "aten::einsum.sublist(Tensor a, ...) -> Tensor",
    autocast="lower",
    out="",
    cost="products-by-letters",
)
def einsum_of_sublists(a: Array, *rest: object) -> Array:
    equation, tensors = from_sublists(a, *rest)
    return einsum(equation, tensors, None)


def from_sublists(*args: Any) -> tuple[str, list[Array]]:
    """The equation of operands that are each followed by the numbers of their dimensions.

    Raises:
        ValueError: a number is not in [0, 52).
    """
    pairs = len(args) // 2
    texts = [_letters(args[2 * i + 1]) for i in range(pairs)]
    result = f"->{_letters(args[-1])}" if len(args) % 2 else ""
    return ",".join(texts) + result, [args[2 * i] for i in range(pairs)]


def _letters(numbers: Iterable[SupportsIndex | EllipsisType]) -> str:
    return "".join("..." if number is Ellipsis else _letter(index(number)) for number in numbers)


def _letter(number: int) -> str:
    if not 0 <= number < len(_LETTERS):
        raise ValueError(
            "einsum(): subscript in subscript list is not within the valid range [0, 52)"
        )
    return _LETTERS[number]


def summed(tensors: Sequence[Array], labels: Sequence[Labels], result: Labels) -> Array:
    """The sum of products of tensors whose dimensions carry labels."""
    if len(tensors) == 2 and _is_product(labels, result) and tensors[0].shape[-1]:
        return _product(matmul, tensors[0], tensors[1])
    if len(tensors) == 1 and len({*labels[0]}) == len(labels[0]) > len(result):
        return _summed_alone(tensors[0], labels[0], result)
    every = {label for each in labels for label in each}
    order = [*result, *sorted(every.difference(result), key=lambda label: (label < 52, label))]
    first, *others = [_aligned(*each, order) for each in zip(tensors, labels, strict=True)]
    counts = [sum(t.shape[dim] != 1 for t in (first, *others)) for dim in range(len(order))]
    if not others and len(order) > len(result):
        return sum_over(first, [*range(len(result), len(order))], False, None)
    for other in others:
        first = _contracted(first, other, counts, len(result))
    return _without_summed(first, len(result))


def _summed_alone(tensor: Array, labels: Labels, result: Labels) -> Array:
    """The sums of one tensor, in the order of the result."""
    kept = [label for label in labels if label in result]
    dims = [place for place, label in enumerate(labels) if label not in result]
    total = sum_over(tensor, dims, False, None)
    return in_order(total.transpose([kept.index(label) for label in result]))


def _is_product(labels: Sequence[Labels], result: Labels) -> bool:
    """Whether it is the plain product of two matrices."""
    a, b = labels
    return len(a) == len(b) == 2 and a[1] == b[0] and result == [a[0], b[1]] and len({*a, *b}) == 3


def _aligned(tensor: Array, labels: Labels, order: Labels) -> Array:
    """A view with a dimension for each label in order; of size 1 where the tensor has none."""
    here = list(labels)
    for label in dict.fromkeys(labels):
        while here.count(label) > 1:
            one = here.index(label)
            two = here.index(label, one + 1)
            tensor = diagonal(tensor, 0, one, two)
            here = [each for place, each in enumerate(here) if place not in (one, two)] + [label]
    moved = tensor.transpose([here.index(label) for label in order if label in here])
    place: Key = (*(slice(None) if label in here else None for label in order), ...)
    return as_array(moved[place])


def _contracted(left: Array, right: Array, counts: list[int], first: int) -> Array:
    """The product of two aligned tensors, summed over what no tensor after them has."""
    both, one, two = dims_to_sum(left.shape, right.shape, counts, first)
    left = sum_over(left, one, True, None) if one else left
    right = sum_over(right, two, True, None) if two else right
    if not both:
        return _multiplied(left, right)
    way = contraction(left.shape, right.shape, both)
    a = _joined(left, way.left, way.left_shape)
    b = _joined(right, way.right, way.right_shape)
    product = _product(bmm, *((b, a) if way.swapped else (a, b)))
    return product.reshape(way.shape).transpose(way.back)


def _joined(tensor: Array, order: list[int], shape: tuple[int, ...]) -> Array:
    """The tensor with its dimensions in an order and joined, copied by a kernel if need be."""
    moved = tensor.transpose(order)
    try:
        return moved.reshape(shape, copy=False)
    except ValueError:
        return in_order(moved).reshape(shape)


def _multiplied(left: Array, right: Array) -> Array:
    """The product of elements, of floats by native code."""
    if left.size and right.size and left.dtype == right.dtype and left.dtype.kind == "f":
        arrays = family("elementwise.arrays")
        found: Array | None = arrays and arrays.apply("multiply", (left, right))
        if found is not None:
            return found
    return mul(left, right)


def _product(multiply: Callable[[Array, Array], Array], one: Array, two: Array) -> Array:
    """The product of matrices of one dtype; where nothing is summed over, dtypes may differ."""
    if one.dtype != two.dtype:
        raise scalar_types_differ(one, two)
    return multiply(one, two)


def _without_summed(array: Array, count: int) -> Array:
    """The first dimensions of a sum, as a view; the others have size 1.

    A size of 1 gets the stride that stepping over all behind it takes, the last one that of the
    last dimension summed over.
    """
    place: Key = (*(slice(None),) * count, *(0,) * (array.ndim - count), ...)
    if array.ndim == count or 1 not in array.shape[:count] or not array.size:
        return as_array(array[place])
    steps = list(array.strides)
    step = steps[-1]
    for dim in reversed(range(count)):
        if array.shape[dim] == 1:
            steps[dim] = step
        else:
            step = array.shape[dim] * steps[dim]
    return view_of(array, array.shape[:count], steps[:count])
