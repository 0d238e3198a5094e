"""Displays, comprehensions and calls that make containers, each form that there is."""

from collections import OrderedDict, namedtuple
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import rushlight as torch
from rushlight import Tensor


class Point(NamedTuple):
    x: int
    y: float = 0.5


Old = namedtuple("Old", ["a", "b"])


class Color(Enum):
    RED = 1
    BLUE = 2


def dict_of_pairs(a: List[str]):
    return {x: len(x) for x in a}


def dict_of_zipped(a: List[str], b: List[int]):
    return {x: y for x, y in zip(a, b)}


def dict_of_items(d: Dict[str, int]):
    return {k: v + 1 for k, v in d.items()}


def dict_empty() -> Dict[str, Tensor]:
    return dict()


def dict_by_keywords(x: int):
    return dict(a=x, b=2)


def dict_of_rows(x: Tensor):
    return dict([("a", x), ("b", x)])


def dict_of_rows_and_more(x: int):
    return dict([("a", x)], b=3)


def dict_of_dict(d: Dict[str, int]):
    return dict(d)


def dict_of_dict_and_more(d: Dict[str, int]):
    return dict(d, z=1)


def dict_of_list(a: List[Tuple[str, int]]):
    return dict(a)


def dict_of_comprehension(a: List[int]):
    return dict([(i, i * 2) for i in a])


def dict_empty_rows() -> Dict[str, Tensor]:
    return dict([])


def dict_hinted(x: int):
    d: Dict[str, Optional[int]] = {"a": x, "b": None}
    return d


def dict_of_wrong_keys(x: int):
    return {"a": x, 1: x}


def dict_of_wrong_values(x: int):
    return {"a": x, "b": "c"}


def dict_of_bad_keys(x: Tuple[int, int]):
    return {x: 1}


def dict_hint_is_list(x: int):
    d: List[int] = {"a": x}
    return d


def dict_comprehension_of_tuple(t: Tuple[int, int]):
    return {x: 1 for x in t}


def dict_comprehension_hint(a: List[int]):
    d: Dict[int, float] = {x: 1 for x in a}
    return d


def list_if(a: List[int]):
    return [x for x in a if x > 1]


def list_of_tuple(t: Tuple[int, int]):
    return [x + 1 for x in t]


def list_hint_is_dict(a: List[int]):
    d: Dict[int, int] = [x for x in a]
    return d


def list_hint_is_optional(a: List[int]):
    d: Optional[List[int]] = [x for x in a]
    return d


def list_hint_element(a: List[int]):
    d: List[float] = [x for x in a]
    return d


def list_hint_is_any(a: int):
    d: List[Any] = [a, "b"]
    return d


def list_mixed(a: int):
    return [a, "b"]


def list_mixed_hinted(a: int):
    d: List[Union[int, str]] = [a, "b"]
    return d


def list_of_optional(a: int):
    d: List[Optional[int]] = [a, None]
    return d


def list_of_none():
    return [None, None]


def list_plus_none(a: int):
    return [a, None]


def list_wrong_hint(a: int):
    d: int = [a]
    return d


def list_two_ifs(a: List[int]):
    return [x for x in a if x > 1 if x < 5]


def list_two_fors(a: List[int]):
    return [x + y for x in a for y in a]


def list_call(a: str):
    return list(a)


def list_call_empty() -> List[int]:
    return list()


def list_call_range(n: int):
    return list(range(n))


def list_call_dict(d: Dict[str, int]):
    return list(d)


def list_call_zip(a: List[int], b: List[str]):
    return list(zip(a, b))


def list_call_enumerate(a: List[str]):
    return list(enumerate(a))


def list_call_tensor(x: Tensor):
    return list(x)


def list_call_tuple(t: Tuple[int, int]):
    return list(t)


def tuple_call(a: List[int]):
    return tuple(a)


def tuple_sliced(t: Tuple[int, str, float, int]):
    return t[1:], t[:-1], t[::2], t[::-1], t[-1]


def tuple_index_outside(t: Tuple[int, str]):
    return t[2]


def tuple_index_variable(t: Tuple[int, str], i: int):
    return t[i]


def tuple_slice_variable(t: Tuple[int, str], i: int):
    return t[i:]


def tuple_index_variable_same(t: Tuple[int, int], i: int):
    return t[i]


def tuple_added(t: Tuple[int, str]):
    return t + (1.5,)


def tuple_length(t: Tuple[int, str]):
    return len(t)


def tuple_unrolled(t: Tuple[int, float]):
    s = 0.0
    for x in t:
        s += x
    return s


def tuple_unrolled_with_index(t: Tuple[int, float, int]):
    s = 0.0
    for i, x in enumerate(t):
        s += i * x
    return s


def tuple_unrolled_in_pairs(t: Tuple[int, float], u: Tuple[int, int]):
    s = 0.0
    for x, y in zip(t, u):
        s += x * y
    return s


def break_in_unrolled(t: Tuple[int, int]):
    s = 0
    for x in t:
        if x > 1:
            break
        s += x
    return s


def named_made(x: int):
    p = Point(x)
    q = Point(y=2.0, x=x)
    return p.x, q.y, p[0], len(q)


def named_wrong_name(x: int):
    return Point(x, z=1.0)


def named_too_many(x: int):
    return Point(x, 1.0, 2.0)


def named_wrong_type(x: str):
    return Point(x)


def named_no_such_field(p: Point):
    return p.z


def old_named(x: Tensor):
    o = Old(x, x + 1)
    return o.a + o.b


def enum_members(c: Color):
    return c == Color.RED, c.name, c.value


def enum_looped():
    s = 0
    for c in Color:
        s += c.value
    return s


def enum_no_such_member(c: Color):
    return Color.GREEN


def ordered_dict(d: Dict[str, int]):
    return OrderedDict([("a", 1)])


def deleted(a: List[int], d: Dict[str, int]):
    del a[0], d["x"]
    return a, d


def deleted_slice(a: List[int]):
    del a[1:]
    return a


def deleted_name(a: int):
    b = a
    del b
    return a


def deleted_twice(a: int):
    b = a
    del b
    return b


def two_dimensions_of_a_list(a: List[List[int]]):
    return a[0, 1]


def element_of_tuple_set(t: Tuple[int, int]):
    t[0] = 1
    return t


def slice_of_list_set(a: List[int]):
    a[1:] = [1, 2]
    return a


def element_augmented(a: List[int], d: Dict[str, float], x: Tensor):
    a[0] += 1
    d["k"] *= 2
    x[0] -= 1
    x[:, 1] += x[:, 0]
    return a, d, x


def element_of_int(a: int):
    return a[0]


def element_of_none(a: None):
    return a[0]


def element_by_string(a: List[int]):
    return a["x"]


def key_of_wrong_type(d: Dict[str, int]):
    return d[1]


def starred_call(a: Tuple[int, float]):
    return Point(*a)


def starred_list(a: List[int]):
    b = [*a, 1]
    return b


def starred_target(a: List[int]):
    x, *y = a
    return x, y


def unpacked_list(a: List[int]):
    x, y = a
    return x + y


def unpacked_wrong_number(t: Tuple[int, int]):
    x, y, z = t
    return x


def unpacked_tensor(x: Tensor):
    a, b = x
    return a + b


def unpacked_int(n: int):
    a, b = n
    return a


def sums(a: List[int], b: List[float], c: List[bool]):
    return sum(a), sum(b), sum(c), min(a), max(b), any(c), all(c)


def minimum_of_several(a: int, b: float):
    return min(a, b), max(a, b), min(a, 3), max([1, 2])


def looked_in(a: List[int], d: Dict[str, int], s: str, t: Tuple[int, int]):
    return 1 in a, "k" in d, "x" not in s, 2 in a


def looked_in_tuple(t: Tuple[int, int]):
    return 1 in t
