"""Operators over lists and dicts, which are changed in place where the schema says so."""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable
from types import MethodDescriptorType
from typing import Any, Final, cast

import numpy as np

from ..memory.dtype import Array
from ..memory.errors import IndexOutOfRange, OperatorError
from ..table.inline import Inline, inline, native
from ..table.table import operator
from .display_aten import format_for_print
from .hashing import type_name
from .tensor_dict import TensorDict

__all__ = ["KEYS", "get_element", "key_error", "slice_of"]

KEYS: Final = ("str", "int", "bool", "float", "complex")
"""The key types of dicts whose keys are looked up by their value; tensors are by identity."""

List = list[Any]
Dict = dict[Any, Any]


_MAYBE_NAN: Final = ("float", "complex")


def for_keys(
    *templates: str, written: tuple[Inline, ...] = ()
) -> Callable[[Callable[..., Any]], Callable[..., object]]:
    """Declare a forward for every key type; `KEY` in the schemas stands for it.

    It is written out for keys that are never NaN.
    """

    def declare(forward: Callable[..., object]) -> Callable[..., object]:
        takes_key = ", KEY" in templates[0].partition("->")[0]
        for key in KEYS:
            careful = takes_key and key in _MAYBE_NAN
            made, forms = (_for_numbers(forward), ()) if careful else (forward, written)
            operator(*(text.replace("KEY", key) for text in templates), inline=forms)(made)
        operator(*(text.replace("KEY", "Tensor") for text in templates))(_for_tensors(forward))
        return forward

    return declare


def _for_numbers(forward: Callable[..., object]) -> Callable[..., object]:
    """The same where a key may be NaN, which equals no key, not even itself.

    Python finds a NaN by its identity; one made anew is never found.
    """

    def call(mapping: Dict, key: Any, *rest: object) -> Any:
        return forward(mapping, key if key == key else key + 0.0, *rest)

    return call


def _for_tensors(forward: Callable[..., object]) -> Callable[..., object]:
    """The same with `TensorDict` in the place of `dict`, whose methods know nothing of arrays."""
    if forward is dict:
        return TensorDict
    if isinstance(forward, MethodDescriptorType):
        return cast("Callable[..., Any]", getattr(TensorDict, forward.__name__))
    return forward


# --------------------------------------------------------------------------- lists

operator(
    "aten::len.t(t[] a) -> int",
    "aten::len.any(Any[] a) -> int",
    native=native("len({0})", lists="flat") + native("len({0}[1]) - 1", lists="rows"),
    order="t Tensor str Dict_str Dict_int Dict_bool Dict_float Dict_complex Dict_Tensor any",
)(len)


def _no_index(values: List, index: int) -> IndexOutOfRange:
    count = f"{len(values)} element{'' if len(values) == 1 else 's'}"
    return IndexOutOfRange(
        "list index out of range", headline=f"index {index} is out of range for a list of {count}"
    )


_INDEX: Final = ("-len({0}) <= {1} < len({0})",)


def native_row(values: Any, number: int) -> object:
    """A row of `rows`, for numba."""
    starts = values[1]
    if number < 0:
        number += len(starts) - 1
    return values[0][starts[number] : starts[number + 1]]


@operator(
    "aten::__getitem__.t(t[](a) list, int idx) -> t(*)",
    "aten::select.t(t[](a) list, int idx) -> t(*)",
    order="str Dict_str Dict_int Dict_bool Dict_float Dict_complex Dict_Tensor",
    inline=inline("{0}[{1}]"),
    native=native("{0}[{1}]", _INDEX, lists="flat")
    + native(
        "native_row({0}, {1})",
        ("1 - len({0}[1]) <= {1} < len({0}[1]) - 1",),
        functions=(native_row,),
        lists="rows",
    ),
)
def get_element(values: List, index: int) -> object:
    try:
        return values[index]
    except IndexError:
        raise _no_index(values, index) from None


@operator(
    "aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)",
    inline=inline("{0}[{1}] = {2}", writes=True),
    native=native("{0}[{1}] = {2}", _INDEX, writes=True),
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
    native=native("{0}.pop()", ("len({0}) > 0",), at={1: "(-1)"}),
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


@operator("aten::insert.t(t[](a!) self, int idx, t(b -> *) el) -> ()")
def insert(values: List, index: int, element: object) -> None:
    values.insert(index, element)


@operator("aten::Delete.t(t[](a!) self, int idx) -> ()")
def delete(values: List, index: int) -> None:
    try:
        del values[index]
    except IndexError:
        if not values:
            raise IndexOutOfRange("pop index out of range") from None
        raise _no_index(values, index) from None


operator("aten::extend.t(t[](a!) self, t[] other) -> ()")(list.extend)
operator("aten::reverse.t(t[](a!) self) -> ()", native=native("{0}.reverse()", writes=True))(
    list.reverse
)
operator("aten::clear.t(t[](a!) self) -> ()", native=native("{0}.clear()", writes=True))(list.clear)
operator("aten::copy.t(t[](a) self) -> t[]", "aten::list.t(t[] l) -> t[]")(list)
operator("aten::add.t(t[] a, t[] b) -> t[]")(python.add)
operator("aten::add_.t(t[](a!) self, t[] b) -> t[]")(python.iadd)


def _repeated(values: List, times: int) -> List:
    if times < 0 and values:  # as C++, which asks for that much room
        raise OperatorError("vector::reserve", headline=f"a list cannot be there {times} times")
    return values * times


operator("aten::mul.left_t(t[] l, int n) -> t[]", native=native("{0} * {1}", ("{1} >= 0",)))(
    _repeated
)
operator("aten::mul.right_(int n, t[] l) -> t[]")(lambda times, values: _repeated(values, times))
operator("aten::mul_.t(t[](a!) l, int n) -> t[](a!)")(python.imul)


@operator("aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]")
def slice_of(values: List, start: int | None, end: int | None, step: int) -> List:
    if not step:
        raise OperatorError("List slice should have non-zero step")
    return values[start:end:step]


operator("prim::rangelist(int n) -> int[]")(lambda n: list(range(n)))

_NOT_THERE: Final = object()


def _sought(element: object) -> object:
    """What to seek in Python's list, which takes a NaN to equal itself; here it never does."""
    return element if element == element else _NOT_THERE


def contains(values: List, element: object) -> bool:
    return _sought(element) in values


def count(values: List, element: object) -> int:
    return values.count(_sought(element))


def _equal_lists(a: List, b: List) -> bool:
    """Python takes a NaN to equal itself inside a list; here it never does."""
    return len(a) == len(b) and all(map(python.eq, a, b))


def _unequal_lists(a: List, b: List) -> bool:
    return not _equal_lists(a, b)


for _type in ("int", "float", "bool", "str"):
    operator(
        f"aten::eq.{_type}_list({_type}[] a, {_type}[] b) -> bool",
        order=(
            "Scalar_out Tensor_out int_list device bool enum int complex float int_float "
            "float_int float_complex complex_float - str float_list Tensor_list"
        ),
    )(_equal_lists)
    operator(
        f"aten::ne.{_type}_list({_type}[] a, {_type}[] b) -> bool",
        order=(
            "Scalar_out Tensor_out int_list device bool enum int complex float int_float "
            "float_int float_complex complex_float - str float_list Tensor_list"
        ),
    )(_unequal_lists)
    operator(
        f"aten::count.{_type}({_type}[] self, {_type} el) -> int",
        order="- int float bool Tensor str",
    )(count)
for _type in ("int", "float", "str"):
    operator(
        f"aten::__contains__.{_type}_list({_type}[] l, {_type} item) -> bool",
        order="str_list str int bool float complex Tensor float_list",
    )(contains)


def same_tensor(a: Array, b: Array) -> bool:
    """Whether two tensors of a list count as equal.

    Raises:
        OperatorError: they have several elements.
    """
    equal = np.asarray(a == b)
    if equal.size != 1:
        raise OperatorError(
            "Boolean value of Tensor with more than one value is ambiguous",
            code="ambiguous-condition",
            headline=f"one truth value is needed, but this comparison has {equal.size}",
        )
    return bool(equal.reshape(-1)[0])


@operator("aten::eq.Tensor_list(Tensor[] a, Tensor[] b) -> bool")
def equal_tensor_lists(a: list[Array], b: list[Array]) -> bool:
    return len(a) == len(b) and all(map(same_tensor, a, b))


@operator("aten::ne.Tensor_list(Tensor[] a, Tensor[] b) -> bool")
def unequal_tensor_lists(a: list[Array], b: list[Array]) -> bool:
    return not equal_tensor_lists(a, b)


@operator("aten::count.Tensor(Tensor[] self, Tensor el) -> int", face="operator")
def count_tensor(values: list[Array], element: Array) -> int:
    return sum(same_tensor(value, element) for value in values)


@operator(
    *(f"aten::index.list_{t}({t}[] self, {t} el) -> int" for t in ("int", "float", "bool", "str")),
    order="Tensor_out Tensor_hacked_twin str list_int list_float list_bool list_Tensor list_str",
)
def index_of(values: List, element: object) -> int:
    try:
        return values.index(_sought(element))
    except ValueError:
        shown = f"{element:g}" if isinstance(element, float) else element
        shown = int(element) if isinstance(element, bool) else shown
        raise OperatorError(f"'{shown}' is not in list") from None


@operator("aten::index.list_Tensor(Tensor[] self, Tensor el) -> int", face="operator")
def index_of_tensor(values: list[Array], element: Array) -> int:
    for position, value in enumerate(values):
        if same_tensor(value, element):
            return position
    raise OperatorError("'tensor' is not in list")


@operator(
    *(f"aten::remove.{t}({t}[](a!) self, {t} el) -> ()" for t in ("int", "float", "bool", "str")),
    order="int float bool Tensor",
)
def remove(values: List, element: object) -> None:
    try:
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


_SORTED: Final = ("int", "float", "bool", "str")


def native_sort_ints(values: Any) -> None:
    """Sort a list of whole numbers where it lies, for numba: the heap sort."""
    count = len(values)
    for step in range(count // 2 + count - 1):
        root, end = count // 2 - 1 - step, count
        if root < 0:  # all are in the heap: its largest goes to its place
            root, end = 0, count + root
            values[0], values[end] = values[end], values[0]
        value = values[root]
        child = 2 * root + 1
        while child < end:
            if child + 1 < end and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[root] = values[child]
            root = child
            child = 2 * root + 1
        values[root] = value


@operator(
    *(f"aten::sort.{t}({t}[](a!) self, bool reverse=False) -> ()" for t in _SORTED),
    native=native(
        "native_sort_ints({0})",
        at={1: "False"},
        of=("int[] bool",),
        writes=True,
        functions=(native_sort_ints,),
    ),
)
def sort(values: List, reverse: bool) -> None:
    if 1 < len(values) <= 16 and type(values[0]) is float and any(v != v for v in values):
        _insert_in_order(values, reverse)
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


@operator("aten::sort.any(t[](a!) self, bool reverse=False) -> ()")
def sort_any(values: List, reverse: bool) -> None:
    _check_sortable(values)
    values.sort(reverse=reverse)


@operator(*(f"aten::sorted.{t}({t}[](a) input) -> {t}[]" for t in _SORTED))
def sorted_list(values: List) -> List:
    made = list(values)
    sort(made, False)
    return made


@operator("aten::sorted.any(t[](a) self) -> t[]")
def sorted_any(values: List) -> List:
    _check_sortable(values)
    return sorted(values)


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
    if kinds and all(issubclass(kind, tuple) for kind in kinds):
        _check_comparable(values)
    check = getattr(first, "check_sortable", None)
    if check is not None:
        check()
    elif isinstance(first, list | dict | complex):
        raise OperatorError(
            f"Only list of {_SORTABLE} method or Tuples of aforementioned types can be sorted, got "
            f"list of {type_name(first)}"
        )
    elif isinstance(first, tuple) and any(isinstance(p, list | dict | complex) for p in first):
        parts = ", ".join(map(type_name, first))
        raise OperatorError(
            f"Contained elements in ({parts}) are not sortable. Only Int, Bool, Float, String, "
            "Tensor, a User Defined Class with __lt__ method defined or Tuples of aforementioned "
            "types can be sorted."
        )


def _check_comparable(values: List) -> None:
    """Whether tuples hold values of the same types.

    Raises:
        OperatorError: they do not.
    """
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
    order="dim_IntList - IntList_out out int float complex bool",
)
def sum_of_ints(values: list[int]) -> int:
    """The sum in C's `int` of 32 bits, in which torch adds."""
    return ((sum(values) + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


@operator("aten::sum.float(float[] self) -> float", autocast_in_graphs="full-unless-dtype")
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
    order="out dims_out all_out str int float bool",
)(any)
operator(
    *(f"aten::all.{t}({t}[] self) -> bool" for t in ("int", "float", "bool")),
    order="out dims_out all_out",
)(all)


# --------------------------------------------------------------------------- dicts

for_keys("aten::len.Dict_KEY(Dict(KEY, t) self) -> int")(len)
for_keys(
    "aten::__contains__.KEY(Dict(KEY, t) dict, KEY key) -> bool",
    written=inline("{1} in {0}"),
)(python.contains)
for_keys("aten::keys.KEY(Dict(KEY, t) self) -> KEY[](*)")(list)
for_keys("aten::clear.KEY(Dict(KEY, t)(a!) self) -> ()")(dict.clear)
for_keys(
    "aten::get.KEY(Dict(KEY, t) self, KEY key) -> t(*)?",
    "aten::get.default_KEY(Dict(KEY, t) self, KEY key, t default_value) -> t(*)",
)(dict.get)
for_keys(
    "aten::copy.Dict_KEY(Dict(KEY, t)(a) self) -> Dict(KEY, t)",
    "aten::dict.Dict_KEY(Dict(KEY, t)(a) self) -> Dict(KEY, t)",
    "aten::dict.KEY((KEY, tVal)[] inputs) -> Dict(KEY, tVal)",
)(dict)
for_keys("aten::update.KEY(Dict(KEY, t)(a!) self, Dict(KEY, t)(a!) to_add) -> ()")(dict.update)
for_keys(
    "aten::setdefault.KEY(Dict(KEY, t)(a!) self, KEY(b -> *) key, t(c -> *) default_value) -> t(*)"
)(dict.setdefault)
operator(
    "aten::dict() -> Dict(str, Tensor)",
    face="operator",
    order=(
        "- str Dict_str int Dict_int bool Dict_bool float Dict_float complex Dict_complex "
        "Tensor Dict_Tensor"
    ),
)(dict)


@for_keys("aten::values.KEY(Dict(KEY, t) self) -> t[](*)")
def values_of(mapping: Dict) -> List:
    return list(mapping.values())


@for_keys("aten::items.KEY(Dict(KEY, t) self) -> ((KEY, t)[])")
def items_of(mapping: Dict) -> list[tuple[object, object]]:
    return list(mapping.items())


def key_error(key: object) -> OperatorError:
    """The error of a key that a dict does not have."""
    text = format_for_print(key) if isinstance(key, np.ndarray) else key
    shown = "this tensor" if isinstance(key, np.ndarray) else f"key {key!r}"
    return OperatorError(
        f"KeyError: {text}", code="key-missing", headline=f"the dict has no {shown}"
    )


@for_keys(
    "aten::__getitem__.Dict_KEY(Dict(KEY, t) self, KEY key) -> t(*)",
    written=inline("{0}[{1}]"),
)
def get_value(mapping: Dict, key: object) -> object:
    try:
        return mapping[key]
    except KeyError:
        raise key_error(key) from None


@for_keys(
    "aten::_set_item.KEY(Dict(KEY, t)(a!) l, KEY(b -> *) idx, t(c -> *) v) -> ()",
    written=inline("{0}[{1}] = {2}", writes=True),
)
def set_value(mapping: Dict, key: object, value: object) -> None:
    mapping[key] = value


@for_keys("aten::Delete.Dict_KEY(Dict(KEY, t)(a!) self, KEY key) -> ()")
def delete_key(mapping: Dict, key: object) -> None:
    try:
        del mapping[key]
    except KeyError:
        raise key_error(key) from None


@for_keys("aten::pop.Dict_KEY(Dict(KEY, t)(a!) self, KEY key) -> t(*)")
def pop_value(mapping: Dict, key: object) -> object:
    try:
        return mapping.pop(key)
    except KeyError:
        raise key_error(key) from None


for_keys("aten::pop.Dict_default_KEY(Dict(KEY, t)(a!) self, KEY key, t default_value) -> t(*)")(
    dict.pop
)


@for_keys("aten::popitem.KEY(Dict(KEY, t)(a!) self) -> ((KEY, t))")
def popitem(mapping: Dict) -> tuple[object, object]:
    """Take out the first item, unlike Python, which takes the last."""
    if not mapping:
        raise OperatorError("popitem(): dictionary is empty", code="key-missing")
    if not len(mapping) % (1 + math.isqrt(len(mapping))):  # the search passes what was taken before
        items = list(mapping.items())
        mapping.clear()
        mapping.update(items)
    key = next(iter(mapping))
    if isinstance(key, float | complex) and key != key:  # a NaN, which torch does not find again
        raise OperatorError("Expected to erase 1 item, found 0", code="key-missing")
    return key, mapping.pop(key)
