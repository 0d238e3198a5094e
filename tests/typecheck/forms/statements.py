"""Assignments, branches and loops, what they do to types, and annotations of every kind."""

from typing import Any, Dict, Final, List, NamedTuple, Optional, Tuple, Union

import rushlight as torch
from rushlight import Tensor


class Pair(NamedTuple):
    a: int
    b: Optional[Tensor] = None


@torch.jit.interface
class Scorer:
    def score(self, n: int) -> int:
        pass


@torch.jit.script
class Double:
    def __init__(self):
        self.factor = 2

    def score(self, n: int) -> int:
        return self.factor * n


@torch.jit.script
class Silent:
    def __init__(self):
        self.factor = 2


def old_comment(a, b):
    # type: (int, Optional[Tensor]) -> int
    return a


def old_comment_of_each(
    a,  # type: int
    b,  # type: List[int]
):
    # type: (...) -> int
    return a


def old_comment_too_few(a, b):
    # type: (int) -> int
    return a


def new_unions(a: int | None, b: int | str, c: "Optional[int]"):
    return a, b, c


def builtin_generics(a: list[int], b: dict[str, int], c: tuple[int, str], d: tuple[int, ...]):
    return a


def builtin_generics_two(a: list[int], b: dict[str, int], c: tuple[int, str]):
    return a, b, c


def bare_list(a: list):
    return a


def bare_dict(a: Dict):
    return a


def bare_tuple(a: tuple):
    return a


def empty_tuple(a: Tuple[()]):
    return a


def dict_by_lists(a: Dict[List[int], int]):
    return a


def unknown_name(a: "Nothing"):
    return a


def futures(a: torch.jit.Future[int]):
    return a.wait()


def interface_taken(s: Scorer, n: int):
    return s.score(n)


def interface_given(n: int):
    d: Scorer = Double()
    return d.score(n)


def interface_not_met(n: int):
    d: Scorer = Silent()
    return d.score(n)


def default_of_wrong_type(a: int = 1.5):
    return a


def default_none(a: int = None):
    return a


def defaults(
    a: float = 1,
    b: List[int] = (1, 2),
    c: Tuple[int, int] = (1, 2),
    d: Optional[int] = 3,
    e: bool = False,
):
    return a, b, c, d, e


def default_of_list(a: List[int] = [1]):
    return a


def default_too_large(a: int = 1 << 70):
    return a


def assigned_other_type(n: int):
    a = 1
    a = "x"
    return a


def assigned_other_type_in_branch(n: int):
    a = 1
    if n > 1:
        a = 1.5
    return a


def assigned_in_one_branch(n: int):
    if n > 1:
        a = 1.5
    return a


def assigned_in_both(n: int):
    if n > 1:
        a = 1.5
    else:
        a = 2.5
    return a


def assigned_none_in_other(n: int):
    if n > 1:
        a = torch.ones(2)
    else:
        a = None
    return a


def assigned_other_in_loop(n: int):
    a = 1
    for i in range(n):
        a = a + 0.5
    return a


def annotated_in_loop(n: int):
    a: Optional[int] = None
    for i in range(n):
        a = i
    return a


def annotated_twice(n: int):
    a: int = 1
    a: int = 2
    return a


def annotated_otherwise(n: int):
    a: int = 1
    a: str = "x"
    return a


def annotated_wrong(n: int):
    a: str = n
    return a


def annotated_only(n: int):
    a: int
    return n


def chained(n: int):
    a = b = n
    return a + b


def swapped(a: int, b: int):
    a, b = b, a
    (c, d), e = (a, b), 3
    [f, g] = c, d
    return a, b, c, d, e, f, g


def augmented(n: int, x: Tensor, s: str, a: List[int]):
    n += 1
    n -= 1
    n *= 2
    n //= 3
    n %= 5
    n **= 2
    n <<= 1
    n |= 4
    n &= 7
    n ^= 1
    x /= 2
    x @= x
    s += "t"
    a += [1]
    return n, x, s, a


def augmented_other_type(n: int):
    n /= 2
    return n


def augmented_unknown(n: int):
    q += 1
    return n


def undefined(n: int):
    return q + 1


def early(n: int) -> int:
    if n > 3:
        return 1
    for i in range(n):
        if i > 2:
            return i
    while n < 0:
        n += 1
        if n == -1:
            continue
        if n == -2:
            break
    return n


def without_return(n: int) -> int:
    if n > 3:
        return 1


def returns_two_types(n: int):
    if n > 3:
        return 1
    return "x"


def returns_wrong(n: int) -> str:
    return n


def returns_nothing(n: int) -> None:
    n += 1


def returns_bare(n: int):
    if n > 1:
        return
    n += 1


def refined(o: Optional[int], p: Optional[int]):
    if o is None:
        return 0
    if p is not None and p > o:
        return p
    q = o + 1
    if not (p is None):
        q += p
    if p is None or p > 3:
        return q
    return p


def refined_in_while(o: Optional[int]):
    n = 0
    while o is not None and o > n:
        n += 1
    return n


def refined_by_assert(o: Optional[Tensor]):
    assert o is not None
    return o.sum()


def refined_attribute(p: Pair):
    if p.b is not None:
        return p.b.sum()
    return torch.zeros(1)


def refined_by_name(p: Pair):
    b = p.b
    if b is not None:
        return b.sum()
    return torch.zeros(1)


def refined_by_expression(o: Optional[int]):
    return o if o is not None else 3


def refined_by_isinstance_of_both(a: Any, b: Any):
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, str) or isinstance(b, str):
        return 1
    return 0


def refined_union(u: Union[int, str, None]):
    if u is None:
        return 0
    if isinstance(u, int):
        return u
    return len(u)


def not_refined(o: Optional[int]):
    return o + 1


def compared_with_none(n: int, x: Tensor):
    return n is None, x is not None, None is None


def condition_of_int(n: int):
    if n:
        return 1
    return 0


def condition_of_tensor(x: Tensor):
    while x:
        x = x - 1
    return x if x > 0 else -x


def condition_of_list(a: List[int]):
    if a:
        return 1
    return 0


def condition_of_string(s: str):
    return 1 if s else 0


def condition_of_optional(o: Optional[int]):
    if o:
        return 1
    return 0


def and_of_ints(a: int, b: int):
    return a and b


def and_or(a: bool, b: bool, n: int):
    return a and b or not a and n > 1, not n


def comparisons(a: int, b: float, s: str, x: Tensor):
    return a < b, a == b, s == "x", s < "y", x < a, a != 3, x == x, 1 < a < 3


def compared_types(a: int, s: str):
    return a < s


def is_of_numbers(a: int, b: int):
    return a is b


def in_of_int(a: int):
    return 1 in a


def arithmetic(a: int, b: float, c: complex, x: Tensor):
    return (
        a + b,
        a / a,
        a // 2,
        a % 3,
        a**2,
        a**-1,
        b // 1,
        -a,
        +a,
        ~a,
        a << 1,
        a >> 1,
        a | 1,
        c * a,
        x @ x,
        2 - x,
        2**x,
    )


def arithmetic_of_string(s: str, n: int):
    return s - n


def string_plus_int(s: str, n: int):
    return s + n


def list_arithmetic(a: List[int]):
    return a + [1], a * 2


def slices(a: List[int], s: str, x: Tensor):
    return (
        a[1:3],
        a[::2],
        s[1:],
        s[-1],
        x[0],
        x[:, 1:3],
        x[..., None, 0],
        x[x > 0],
        x[[0, 1]],
        a[-1],
    )


def slice_by_float(a: List[int]):
    return a[1.5]


def shadowed(n: int):
    for n in range(3):
        pass
    return n


def loop_variable_after(n: int):
    i = -1
    for i in range(n):
        pass
    return i


def loop_with_else(n: int):
    for i in range(n):
        pass
    else:
        n = 1
    return n


def loop_while_with_else(n: int):
    while n > 1:
        n -= 1
    else:
        n = 1
    return n


def with_block(x: Tensor):
    with torch.no_grad():
        y = x * 2
    with torch.autograd.profiler.record_function("part"):
        y = y + 1
    return y


def tried(n: int):
    try:
        return n
    except ValueError:
        return 0


def inner_function(n: int):
    def add(a: int) -> int:
        return a + n

    return add(n)


def global_statement(n: int):
    global Q
    return n


def walrus(n: int):
    if (m := n) > 1:
        return m
    return 0


def yields(n: int):
    yield n


def class_inside(n: int):
    class A:
        pass

    return n


def imports(n: int):
    import math

    return n


def sets(n: int):
    return {n, 1}


def ellipsis_statement(n: int):
    ...
    return n


def passes(n: int):
    pass


def huge(n: int):
    return n + 9223372036854775808


def largest(n: int):
    return n + 9223372036854775807 - 9223372036854775807


def docstring_only(n: int):
    """Nothing."""


def final(n: int):
    a: Final[int] = 3
    return a + n


def matched(n: int):
    match n:
        case 1:
            return 2
    return 0


def ternary_types(n: int):
    return 1 if n > 0 else 2.0


def ternary_with_none(n: int):
    return n if n > 0 else None


def called_for_effect(a: List[int], x: Tensor):
    a.append(1)
    x.add_(1)
    a.pop()
    a.extend([1])
    a.insert(0, 2)
    a.reverse()
    a.clear()
    return a, x


def dict_methods(d: Dict[str, int]):
    d.update({"a": 1})
    v = d.get("x")
    w = d.get("x", 2)
    d.setdefault("y", 3)
    return v, w, d.pop("a"), list(d.keys()), len(d), d.copy()


def appended_wrong(a: List[int]):
    a.append("x")
    return a


def starts_empty(n: int):
    a = []
    a.append(torch.ones(n))
    return a


def starts_empty_wrong(n: int):
    a = []
    a.append(n)
    return a


def slices_of_dimensions(x: Tensor):
    return x[..., 0:3], x[..., 3:], x[:, 2:], x[1:3], x[..., :3, 1:]
