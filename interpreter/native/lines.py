"""How native code writes instructions and operators: Python that numba compiles.

Kinds of values are texts: `i` a whole number of 64 bits, `f` a float, `b` a truth value, `L` and a
kind a list made inside, `A` and a kind a list from outside, which is only read.
"""

from __future__ import annotations

__all__ = [
    *("CHECKS", "COMPARISONS", "FUNCTIONS", "LINES", "LISTS", "MATHS", "ROWS", "ROW_CHECKS"),
]

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

_FLOATS = ("ff", "fi", "if")

# Sums and products wrap as unsigned ones do: numba tells the compiler that signed ones never do.

LINES: dict[tuple[str, str], tuple[str, str]] = {
    ("add_int", "ii"): ("i", "int64(uint64({0}) + uint64({1}))"),
    ("sub_int", "ii"): ("i", "int64(uint64({0}) - uint64({1}))"),
    ("mul_int", "ii"): ("i", "int64(uint64({0}) * uint64({1}))"),
    **{("add", kinds): ("f", "{0} + {1}") for kinds in _FLOATS},
    **{("sub", kinds): ("f", "{0} - {1}") for kinds in _FLOATS},
    **{("mul", kinds): ("f", "{0} * {1}") for kinds in _FLOATS},
    **{(name, "ii"): ("b", f"{{0}} {sign} {{1}}") for name, sign in COMPARISONS.items()},
    **{(name, "ff"): ("b", f"{{0}} {sign} {{1}}") for name, sign in COMPARISONS.items()},
    **{
        (f"aten::{name}.int_float", "if"): ("b", f"float({{0}}) {sign} {{1}}")
        for name, sign in COMPARISONS.items()
    },
    **{
        (f"aten::{name}.float_int", "fi"): ("b", f"{{0}} {sign} float({{1}})")
        for name, sign in COMPARISONS.items()
    },
    ("eq", "bb"): ("b", "{0} == {1}"),
    ("ne", "bb"): ("b", "{0} != {1}"),
    ("not", "b"): ("b", "not {0}"),
    ("and", "bb"): ("b", "{0} and {1}"),
    ("or", "bb"): ("b", "{0} or {1}"),
    ("and", "ii"): ("i", "{0} & {1}"),
    ("or", "ii"): ("i", "{0} | {1}"),
    ("aten::__xor__.int", "ii"): ("i", "{0} ^ {1}"),
    ("aten::__xor__.bool", "bb"): ("b", "{0} != {1}"),
    ("aten::__lshift__.int", "ii"): ("i", "{0} << ({1} & 63)"),
    ("aten::__rshift__.int", "ii"): ("i", "{0} >> ({1} & 63)"),
    ("aten::neg.int", "i"): ("i", "int64(uint64(0) - uint64({0}))"),
    ("aten::neg.float", "f"): ("f", "-{0}"),
    ("aten::remainder.int", "ii"): ("i", "{0} % {1}"),
    ("aten::floordiv.int", "ii"): ("i", "{0} // {1}"),
    **{
        (f"aten::div.{name}", f"{k}{k}"): ("f", "float({0}) / float({1})")
        for name, k in (("int", "i"), ("float", "f"))
    },
    **{("aten::div", kinds): ("f", "float({0}) / float({1})") for kinds in _FLOATS},
    ("aten::pow.int_to_int", "ii"): ("i", "power_of_ints({0}, {1})"),
    ("aten::Float.int", "i"): ("f", "float({0})"),
    ("aten::Float.bool", "b"): ("f", "float({0})"),
    ("aten::Float.Scalar", "i"): ("f", "float({0})"),
    ("aten::Float.Scalar", "f"): ("f", "{0}"),
    ("aten::Int.bool", "b"): ("i", "int({0})"),
    ("aten::Int.Scalar", "i"): ("i", "{0}"),
    ("aten::Int.float", "f"): ("i", "int({0})"),
    ("aten::Bool.int", "i"): ("b", "{0} != 0"),
    ("aten::Bool.float", "f"): ("b", "{0} != 0.0"),
    ("aten::floor.int", "i"): ("i", "int(float({0}))"),
    ("aten::ceil.int", "i"): ("i", "{0}"),
    ("aten::floor.float", "f"): ("i", "int(math.floor({0}))"),
    ("aten::ceil.float", "f"): ("i", "int(math.ceil({0}))"),
    ("aten::isnan.float", "f"): ("b", "{0} != {0}"),
    ("aten::isinf.float", "f"): ("b", "math.isinf({0})"),
    ("aten::isfinite.float", "f"): ("b", "math.isfinite({0})"),
    ("prim::abs.int", "i"): ("i", "int64(uint64(0) - uint64({0})) if {0} < 0 else {0}"),
    ("prim::abs.float", "f"): ("f", "math.fabs({0})"),
    **{
        ("prim::max." + name, f"{k}{k}"): ("" + k, "{0} if {0} > {1} else {1}")
        for name, k in (("int", "i"), ("float", "f"))
    },
    **{
        ("prim::min." + name, f"{k}{k}"): ("" + k, "{0} if {0} < {1} else {1}")
        for name, k in (("int", "i"), ("float", "f"))
    },
    ("aten::__derive_index", "iii"): ("i", "int64(uint64({0}) * uint64({2}) + uint64({1}))"),
    ("aten::__range_length", "iii"): ("i", "range_length({0}, {1}, {2})"),
    ("aten::sqrt.float", "f"): ("f", "math.sqrt({0})"),
    ("aten::sqrt.int", "i"): ("f", "math.sqrt(float({0}))"),
}
"""By instruction or operator and the kinds of what it reads: the kind of the result, and the
expression."""

_CUT = ("math.fabs({0}) < 9.2e18",)
_DIVISOR = ("{1} != 0", "{1} != -1 or {0} > -9223372036854775807")  # else the processor traps
_INDEX = ("-len({0}) <= {1} < len({0})",)

CHECKS: dict[str, tuple[str, ...]] = {
    "aten::remainder.int": (*_DIVISOR, f"{-(2**62)} <= {{1}} <= {2**62}"),
    "aten::floordiv.int": _DIVISOR,
    "aten::Int.float": _CUT,
    "aten::floor.int": _CUT,
    "aten::floor.float": _CUT,
    "aten::ceil.float": _CUT,
    "aten::sqrt.float": ("{0} >= 0.0",),
    "aten::sqrt.int": ("{0} >= 0",),
    "aten::__getitem__.t": _INDEX,
    "aten::_set_item.t": _INDEX,
    "aten::pop.t": ("len({0}) > 0",),
    "aten::mul.left_t": ("{1} >= 0",),
    "aten::__range_length": ("{2} != 0", "math.fabs({0}) < 2**62", "math.fabs({1}) < 2**62"),
}
"""What must hold before; where it does not, the plan does the whole call again."""

LISTS: dict[str, tuple[str, str]] = {
    "length": ("i", "len({0})"),
    "append": ("", "{0}.append({1})"),
    "aten::__getitem__.t": ("element", "{0}[{1}]"),
    "aten::_set_item.t": ("", "{0}[{1}] = {2}"),
    "aten::pop.t": ("element", "{0}.pop()"),
    "aten::clear.t": ("", "{0}.clear()"),
    "aten::reverse.t": ("", "{0}.reverse()"),
    "aten::mul.left_t": ("same", "{0} * {1}"),
    "aten::sort.int": ("", "sort_ints({0})"),
}
"""Operators on lists: the kind of the result (that of an element, or of the list itself), and the
expression, or the statement if there is no result."""

MATHS = frozenset(
    {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "pow"}
)
"""Functions of the C library, called as Python calls them: compilers compute some of them
otherwise."""

ROWS = {
    "length": ("i", "len({0}[1]) - 1"),
    "aten::__getitem__.t": ("element", "row_of({0}, {1})"),
}
"""The same on lists of lists from outside: all elements in one array, and where rows begin."""

ROW_CHECKS = {"aten::__getitem__.t": ("1 - len({0}[1]) <= {1} < len({0}[1]) - 1",)}

FUNCTIONS = {
    "row_of": """
def row_of(values, number):
    starts = values[1]
    if number < 0:
        number += len(starts) - 1
    return values[0][starts[number] : starts[number + 1]]
""",
    "power_of_ints": """
def power_of_ints(a, b):
    if b < 0:
        if a == 1:
            return 1
        return (1 - 2 * (b & 1)) if a == -1 else 0
    result = 1
    while b:
        if b & 1:
            result = int64(uint64(result) * uint64(a))
        a = int64(uint64(a) * uint64(a))
        b = b >> 1
    return result
""",
    "range_length": """
def range_length(low, high, step):
    if step > 0:
        return (high - low - 1) // step + 1 if high > low else 0
    if step < 0:
        return (low - high - 1) // -step + 1 if low > high else 0
    return 0
""",
    "sort_ints": """
def sort_ints(values):
    for start in range(len(values) // 2 - 1, -1, -1):
        sift(values, start, len(values))
    for end in range(len(values) - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        sift(values, 0, end)
""",
    "sift": """
def sift(values, root, end):
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
""",
}
"""Functions that native code calls, compiled along when they are needed."""
