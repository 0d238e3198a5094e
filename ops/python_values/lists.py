"""Operators over lists, which are changed in place where the schema says so."""

from __future__ import annotations

import operator as python
from functools import cmp_to_key
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange, OperatorError
from ..table.inline import Inline, inline, native
from ..table.table import operator
from .hashing import type_in_graphs, type_name
from .long_texts import are_long, order_of, where_equal, would_be_equal

__all__ = ["List", "check_step", "get_element", "slice_of"]

List = list[Any]


# --------------------------------------------------------------------------- lists

operator(
    "aten::len.t(t[] a) -> int",
    "aten::len.any(Any[] a) -> int",
    native=native("len({0})"),
    instruction="length",
    order="t Tensor str Dict_str Dict_int Dict_bool Dict_float Dict_complex Dict_Tensor any",
)(len)


def _no_index(values: List, index: int) -> IndexOutOfRange:
    count = f"{len(values)} element{'' if len(values) == 1 else 's'}"
    return IndexOutOfRange(
        "list index out of range", headline=f"index {index} is out of range for a list of {count}"
    )


@operator(
    "aten::__getitem__.t(t[](a) list, int idx) -> t(*)",
    "aten::select.t(t[](a) list, int idx) -> t(*)",
    order="str Dict_str Dict_int Dict_bool Dict_float Dict_complex Dict_Tensor",
    inline=inline("{0}[{1}]"),
    native=native("{0}[{1}]"),
)
def get_element(values: List, index: int) -> object:
    try:
        return values[index]
    except IndexError:
        raise _no_index(values, index) from None


@operator(
    "aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)",
    inline=inline("{0}[{1}] = {2}", writes=True),
    native=native("{0}[{1}] = {2}", writes=True),
)
def set_element(values: List, index: int, element: object) -> List:
    try:
        values[index] = element
    except IndexError:
        raise _no_index(values, index) from None
    return values


@operator(
    "aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)",
    instruction="append",
    native=native("{0}.append({1})", writes=True),
)
def append(values: List, element: object) -> List:
    values.append(element)
    return values


@operator(
    "aten::pop.t(t[](a!) self, int idx=-1) -> t(*)",
    inline=inline("{0}.pop({1})"),
    native=native("{0}.pop({1})"),
    order=(
        "Dict_default_str Dict_int Dict_default_int Dict_bool Dict_default_bool Dict_float "
        "Dict_default_float Dict_complex Dict_default_complex Dict_Tensor"
    ),
)
def pop(values: List, index: int) -> Any:
    if not values:
        raise IndexOutOfRange("pop from empty list", headline="`pop` from an empty list")
    try:
        return values.pop(index)
    except IndexError:
        raise _no_index(values, index) from None


@operator(
    "aten::insert.t(t[](a!) self, int idx, t(b -> *) el) -> ()",
    inline=inline("{0}.insert({1}, {2})", writes=True),
    native=native("{0}.insert({1}, {2})", writes=True),
)
def insert(values: List, index: int, element: object) -> None:
    values.insert(index, element)


@operator(
    "aten::Delete.t(t[](a!) self, int idx) -> ()",
    inline=inline("del {0}[{1}]", writes=True),
    native=native("{0}.delete({1})", writes=True),
)
def delete(values: List, index: int) -> None:
    try:
        del values[index]
    except IndexError:
        if not values:
            raise IndexOutOfRange("pop index out of range") from None
        raise _no_index(values, index) from None


operator(
    "aten::extend.t(t[](a!) self, t[] other) -> ()",
    native=native("{0}.extend({1})", writes=True),
)(list.extend)
operator("aten::reverse.t(t[](a!) self) -> ()", native=native("{0}.reverse()", writes=True))(
    list.reverse
)
operator("aten::clear.t(t[](a!) self) -> ()", native=native("{0}.clear()", writes=True))(list.clear)
operator(
    "aten::copy.t(t[](a) self) -> t[]",
    "aten::list.t(t[] l) -> t[]",
    native=native("{0}.copy()"),
)(list)
operator("aten::add.t(t[] a, t[] b) -> t[]", native=native("{0} + {1}"), instruction="add")(
    python.add
)
operator("aten::add_.t(t[](a!) self, t[] b) -> t[]", native=native("{0}.extended({1})"))(
    python.iadd
)


def _repeated(values: List, times: int) -> List:
    if times < 0 and values:  # as C++, which asks for that much room
        raise OperatorError("vector::reserve", headline=f"a list cannot be there {times} times")
    return values * times


operator(
    "aten::mul.left_t(t[] l, int n) -> t[]",
    inline=inline("{0} * {1}", "0 <= {1} < 1000000"),
    native=native("{0} * {1}", ("{1} >= 0",)),
)(_repeated)
operator(
    "aten::mul.right_(int n, t[] l) -> t[]",
    inline=inline("{1} * {0}", "0 <= {0} < 1000000"),
    native=native("{1} * {0}", ("{0} >= 0",)),
)(lambda times, values: _repeated(values, times))
operator("aten::mul_.t(t[](a!) l, int n) -> t[](a!)")(python.imul)


@operator(
    "aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]",
    inline=inline("{0}[{1}:{2}]", at={3: "1"}),
    native=native("{0}.slice({1}, {2}, {3})"),
)
def slice_of(values: List, start: int | None, end: int | None, step: int) -> List:
    check_step(step)
    return values[start:end:step]


def check_step(step: int) -> None:
    """Whether a list or string can be read in such steps.

    Raises:
        OperatorError: it cannot.
    """
    if not step:
        raise OperatorError("List slice should have non-zero step")
    if step == -(1 << 63):
        raise OperatorError("List slice step is out of bounds")


operator("prim::rangelist(int n) -> int[]", native=native("range_list({0})"))(
    lambda n: list(range(n))
)

_NOT_THERE: Final = object()


def _sought(element: object) -> object:
    """What to seek in Python's list, which takes a NaN to equal itself; here it never does."""
    return element if element == element else _NOT_THERE


def contains(values: List, element: object) -> bool:
    if are_long(values):
        return True in where_equal(values, element)
    return _sought(element) in values


def count(values: List, element: object) -> int:
    if are_long(values):
        return where_equal(values, element).count(True)
    return values.count(_sought(element))


def _equal_lists(a: List, b: List) -> bool:
    """Python takes a NaN to equal itself inside a list; here it never does."""
    if len(a) == len(b) and are_long(a):
        return would_be_equal(a, b)
    return len(a) == len(b) and all(map(python.eq, a, b))


def _unequal_lists(a: List, b: List) -> bool:
    return not _equal_lists(a, b)


_NEVER_NAN: Final = ("int", "bool")
"""Elements that equal themselves, and are compared at once."""
_FEW: Final = "len({0}) <= 16"
"""Lists whose strings may all be compared, however long they are."""


def _of_elements(type: str, text: str) -> tuple[Inline, ...]:
    """The form of an operator that compares elements as Python does, where torch does so too."""
    return inline(text) if type in _NEVER_NAN else inline(text, _FEW) if type == "str" else ()


for _type in ("int", "float", "bool", "str"):
    operator(
        f"aten::eq.{_type}_list({_type}[] a, {_type}[] b) -> bool",
        inline=_of_elements(_type, "{0} == {1}"),
        native=native("{0} == {1}"),
        order=(
            "Scalar_out Tensor_out int_list device bool enum int complex float int_float "
            "float_int float_complex complex_float - str float_list Tensor_list"
        ),
    )(_equal_lists)
    operator(
        f"aten::ne.{_type}_list({_type}[] a, {_type}[] b) -> bool",
        inline=_of_elements(_type, "{0} != {1}"),
        native=native("{0} != {1}"),
        order=(
            "Scalar_out Tensor_out int_list device bool enum int complex float int_float "
            "float_int float_complex complex_float - str float_list Tensor_list"
        ),
    )(_unequal_lists)
    operator(
        f"aten::count.{_type}({_type}[] self, {_type} el) -> int",
        inline=_of_elements(_type, "{0}.count({1})"),
        native=native("{0}.times({1})"),
        order="- int float bool Tensor str",
    )(count)
for _type in ("int", "float", "str"):
    operator(
        f"aten::__contains__.{_type}_list({_type}[] l, {_type} item) -> bool",
        inline=_of_elements(_type, "{1} in {0}"),
        native=native("{1} in {0}"),
        order="str_list str int bool float complex Tensor float_list",
    )(contains)


def same_tensor(a: Array, b: Array) -> bool:
    """Whether two tensors of a list count as equal.

    Raises:
        OperatorError: they have several elements.
    """
    return _truth(a == b)


def _truth(compared: object) -> bool:
    """What two tensors of a list compare to.

    Raises:
        OperatorError: they have several elements, or none.
    """
    found = np.asarray(compared)
    if found.size != 1:
        several = "more than one value" if found.size else "no values"
        raise OperatorError(
            f"Boolean value of Tensor with {several} is ambiguous",
            code="ambiguous-condition",
            headline=f"one truth value is needed, but this comparison has {found.size}",
        )
    return bool(found.reshape(-1)[0])


@operator("aten::eq.Tensor_list(Tensor[] a, Tensor[] b) -> bool")
def equal_tensor_lists(a: list[Array], b: list[Array]) -> bool:
    return len(a) == len(b) and all(map(same_tensor, a, b))


@operator("aten::ne.Tensor_list(Tensor[] a, Tensor[] b) -> bool")
def unequal_tensor_lists(a: list[Array], b: list[Array]) -> bool:
    return not equal_tensor_lists(a, b)


@operator("aten::count.Tensor(Tensor[] self, Tensor el) -> int", face="operator")
def count_tensor(values: list[Array], element: Array) -> int:
    return sum(same_tensor(value, element) for value in values)


def index_of(values: List, element: object) -> int:
    try:
        if are_long(values):
            return where_equal(values, element).index(True)
        return values.index(_sought(element))
    except ValueError:
        shown = f"{element:g}" if isinstance(element, float) else element
        shown = int(element) if isinstance(element, bool) else shown
        raise OperatorError(f"'{shown}' is not in list") from None


_INDEX_ORDER: Final = (
    "Tensor_out Tensor_hacked_twin str list_int list_float list_bool list_Tensor list_str"
)
for _type in ("int", "float", "bool", "str"):
    operator(
        f"aten::index.list_{_type}({_type}[] self, {_type} el) -> int",
        inline=_of_elements(_type, "{0}.index({1})"),
        native=native("{0}.index({1})"),
        order=_INDEX_ORDER,
    )(index_of)


@operator("aten::index.list_Tensor(Tensor[] self, Tensor el) -> int", face="operator")
def index_of_tensor(values: list[Array], element: Array) -> int:
    for position, value in enumerate(values):
        if same_tensor(value, element):
            return position
    raise OperatorError("'tensor' is not in list")


@operator(
    *(f"aten::remove.{t}({t}[](a!) self, {t} el) -> ()" for t in ("int", "float", "bool", "str")),
    native=native("{0}.remove({1})", writes=True),
    order="int float bool Tensor",
)
def remove(values: List, element: object) -> None:
    try:
        if are_long(values):
            del values[where_equal(values, element).index(True)]
        else:
            values.remove(_sought(element))
    except ValueError:
        raise OperatorError("list.remove(x): x not in list") from None


@operator("aten::remove.Tensor(Tensor[](a!) self, Tensor el) -> ()", face="operator")
def remove_tensor(values: list[Array], element: Array) -> None:
    for position, value in enumerate(values):
        if same_tensor(value, element):
            del values[position]
            return
    raise OperatorError("list.remove(x): x not in list")


_SORTED: Final = ("int", "float", "Tensor", "bool", "str")


def sort(values: List, reverse: bool) -> None:
    if 1 < len(values) <= 16 and type(values[0]) is float and any(v != v for v in values):
        _insert_in_order(values, reverse)
    elif values and type(values[0]) is str:
        values.sort(key=order_of(values), reverse=reverse)
    else:
        values.sort(reverse=reverse)


def _insert_in_order(values: List, reverse: bool) -> None:
    """Sort floats, some of them NaN, one after the other, as torch does with up to 16 elements.
    NaNs have no order, so what comes out depends on what is compared."""
    for number in range(1, len(values)):
        value, place = values[number], number
        while place and _is_before(value, values[place - 1], reverse):
            place -= 1
        place = 0 if _is_before(value, values[0], reverse) else place
        values.insert(place, values.pop(number))


def _is_before(one: float, other: float, reverse: bool) -> bool:
    return one != other and (one < other) != reverse


def sort_any(values: List, reverse: bool) -> None:
    values[:] = _in_order(values, reverse)


def sorted_list(values: List) -> List:
    made = list(values)
    sort(made, False)
    return made


def sorted_any(values: List) -> List:
    return _in_order(values, False)


for _type in _SORTED:
    _of_tensors = _type == "Tensor"
    operator(
        f"aten::sort.{_type}({_type}[](a!) self, bool reverse=False) -> ()",
        inline=inline("{0}.sort(reverse={1})", writes=True) if _type in _NEVER_NAN else (),
        native=native("{0}.sort({1})", writes=True, orders=_of_tensors),
    )(sort_any if _of_tensors else sort)
    operator(
        f"aten::sorted.{_type}({_type}[](a) input) -> {_type}[]",
        native=native("{0}.sorted()", orders=_of_tensors),
        face="operator",
    )(sorted_any if _of_tensors else sorted_list)
operator(
    "aten::sort.any(t[](a!) self, bool reverse=False) -> ()",
    native=native("{0}.sort({1})", writes=True, orders=True),
    order="- stable values_stable values int float Tensor bool str any",
)(sort_any)
operator(
    "aten::sorted.any(t[](a) self) -> t[]",
    native=native("{0}.sorted()", orders=True),
    order="int float Tensor bool str any",
)(sorted_any)


def _in_order(values: List, reverse: bool) -> List:
    """The values in order.

    Raises:
        OperatorError: they have none.
    """
    _check_sortable(values)
    if values and hasattr(values[0], "check_sortable"):
        return _in_own_order(values, reverse)
    if len(values) > 1 and isinstance(values[0], np.ndarray):
        return _tensors_in_order(values, reverse)
    return sorted(values, reverse=reverse)


_RUN: Final = 8
"""Values that are put in order by insertion."""


def _in_own_order(values: List, reverse: bool) -> List:
    """Objects in order, by runs that are merged.

    Native code (`list_sort`) compares the same ones, one after the other: a program's `__lt__` may
    print, or say of two objects that each comes first.
    """
    made, count = list(values), len(values)
    for start in range(0, count, _RUN):
        for number in range(start + 1, min(start + _RUN, count)):
            value, place = made[number], number
            while place > start and _comes_before(value, made[place - 1], reverse):
                place -= 1
            made.insert(place, made.pop(number))
    width = _RUN
    while width < count:
        halves = [made[start : start + width] for start in range(0, count, width)]
        if len(halves) % 2:
            halves.append([])
        pairs = zip(halves[::2], halves[1::2], strict=True)
        made = [value for one, other in pairs for value in _merged(one, other, reverse)]
        width *= 2
    return made


def _merged(one: List, other: List, reverse: bool) -> List:
    """Two lists in order as one; of equal values those of the first come first."""
    made, at = [], 0
    for value in other:
        while at < len(one) and not _comes_before(value, one[at], reverse):
            made.append(one[at])
            at += 1
        made.append(value)
    return made + one[at:]


def _comes_before(one: Any, other: Any, reverse: bool) -> bool:
    return bool(other < one) if reverse else bool(one < other)


def _tensors_in_order(values: List, reverse: bool) -> List:
    """Tensors in order; in the reverse one the last of equal ones is the first, as in torch."""
    made = sorted(values, key=_BY_TRUTH)
    return made[::-1] if reverse else made


def _compare_tensors(one: Array, other: Array) -> int:
    return -1 if _truth(one < other) else 0


_BY_TRUTH: Final = cmp_to_key(_compare_tensors)


_SORTABLE = (
    "Tensors, ints, floats, bools, strs, a User Defined Class that defines the __lt__ compare"
)


def _check_sortable(values: List) -> None:
    """Whether the values of a list can be put in order, by the first of them.

    Raises:
        OperatorError: they cannot.
    """
    first = values[0] if values else 0
    kinds = {type(value) for value in values}
    if type(None) in kinds and len(kinds) > 1:
        other = next(kind.__name__ for kind in kinds if kind is not type(None))
        raise OperatorError(f"Only values of same type can be compared. Found {other} and NoneType")
    check = getattr(first, "check_sortable", None)
    if check is not None:
        check()
    elif isinstance(first, list | dict | complex):
        raise OperatorError(
            f"Only list of {_SORTABLE} method or Tuples of aforementioned types can be sorted, got "
            f"list of {type_name(first)}"
        )
    elif isinstance(first, tuple) and any(isinstance(p, list | dict | complex) for p in first):
        parts = ", ".join(map(type_in_graphs, first))
        raise OperatorError(
            f"Contained elements in ({parts}) are not sortable. Only Int, Bool, Float, String, "
            "Tensor, a User Defined Class with __lt__ method defined or Tuples of aforementioned "
            "types can be sorted."
        )
    if kinds and all(issubclass(kind, tuple) for kind in kinds):
        _check_comparable(values)


_PLAIN: Final = frozenset((int, float, bool, str))


def _check_comparable(values: List) -> None:
    """Whether tuples hold values of the same types.

    Raises:
        OperatorError: they do not.
    """
    shapes = {tuple(map(type, value)) for value in values}
    if len(shapes) == 1 and _PLAIN.issuperset(*shapes):
        return
    first = type_name(values[0])
    for other in map(type_name, values):
        if other != first:
            raise OperatorError(
                f"Only values of same type can be compared. Found {first} and {other}"
            )


@operator(
    "aten::sum.int(int[] self) -> int",
    "aten::sum.bool(bool[] self) -> int",
    autocast_in_graphs="full-unless-dtype",
    native=native("sum_of_ints({0})"),
    order="dim_IntList - IntList_out out int float complex bool",
)
def sum_of_ints(values: list[int]) -> int:
    """The sum in C's `int` of 32 bits, in which torch adds."""
    return ((sum(values) + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


@operator(
    "aten::sum.float(float[] self) -> float",
    autocast_in_graphs="full-unless-dtype",
    native=native("sum_of_floats({0})"),
)
def sum_of_floats(values: list[float]) -> float:
    total = 0.0  # not sum(), which compensates from Python 3.12 on
    for value in values:
        total += value
    return total


@operator("aten::sum.complex(complex[] self) -> complex", autocast_in_graphs="full-unless-dtype")
def sum_of_complex(values: list[complex]) -> complex:
    total = 0j
    for value in values:
        total += value
    return total


operator(
    *(f"aten::any.{t}({t}[] self) -> bool" for t in ("int", "float", "bool", "str")),
    native=native("any_of({0})"),
    order="out dims_out all_out str int float bool",
)(any)
operator(
    *(f"aten::all.{t}({t}[] self) -> bool" for t in ("int", "float", "bool")),
    native=native("all_of({0})"),
    order="out dims_out all_out",
)(all)
