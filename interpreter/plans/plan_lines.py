"""How a plan writes operators in Python."""

from __future__ import annotations

from ...ops.kernels.blas import ALONE, LONGEST
from ..code.reuse import LARGE

__all__ = [
    "ABOVE",
    "BELOW",
    "ON_ARRAYS",
    "ON_FLOAT32",
    "ON_LISTS",
    "OPERATORS",
    "OUTSIDE",
    "OVER_OPERAND",
    "SHAPED",
    "SHORT",
    "TYPED",
    "UNITS",
    "WRAPPING",
]

_SMALL = 2**30 - 1
ABOVE = (
    f"if {{0}} > {_SMALL}:",
    f" if {{0}} > {2**63 - 1}: {{0}} -= {2**64}",
)
BELOW = (
    f"if {{0}} < -{_SMALL}:",
    f" if {{0}} < {-(2**63)}: {{0}} += {2**64}",
)
OUTSIDE = (
    f"if {{0}} > {_SMALL} or {{0}} < -{_SMALL}:",
    f" if {{0}} > {2**63 - 1} or {{0}} < {-(2**63)}: {{0}} = wrap({{0}})",
)
"""How a whole number is kept in 64 bits: one that may be too large or too small by less than 2**64,
and any.  Numbers of one digit, as CPython counts, are compared fast; nearly all are."""

_KEYS = ("str", "int", "bool")  # as a key, a number that may be NaN needs the operator's care
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

_BOTH_FLOAT32 = " if {0}.dtype is float32 is {1}.dtype and {0}.ndim else {o}({all})"
_ON_FLOAT32 = " if {0}.dtype is float32 and {0}.ndim else {o}({all})"

_DOT = (
    f"({{0}}.dot({{1}}) if len({{0}}) * {{1}}.size < {LONGEST} or len({{1}}) < {LONGEST} "
    f"and len({{0}}) * {{1}}.size < {ALONE} else dot({{0}}, {{1}}))"
)

ON_FLOAT32 = "{a} = {p}({0}) if {0}.dtype is float32 and {0}.ndim else {o}({all})"
ON_LISTS = "{a} = {p}({all}) if type({0}[0]) is ndarray else {o}({all})"
"""Likewise, of a list that is not empty."""

ON_ARRAYS = "{a} = {p}({all}) if type({0}) is ndarray else {o}({all})"
"""Any operator that has a form for such arrays; `{p}` is that form."""

OPERATORS = {
    # numbers
    "aten::neg.float": "{a} = -{0}",
    "aten::neg.int": "{a} = -{0}",
    "aten::floordiv.int": "{a} = {0} // {1}",
    "aten::__xor__.int": "{a} = {0} ^ {1}",
    "aten::div.float": "{a} = {0} / {1} if {1} else {o}({all})",
    "aten::div.int": "{a} = float({0}) / {1} if {1} else {o}({all})",
    **{
        f"aten::{name}.int_float": f"{{a}} = float({{0}}) {sign} {{1}}"
        for name, sign in _COMPARISONS.items()
    },
    **{
        f"aten::{name}.float_int": f"{{a}} = {{0}} {sign} float({{1}})"
        for name, sign in _COMPARISONS.items()
    },
    "prim::max.int": "{a} = {0} if {0} >= {1} else {1}",
    "prim::min.int": "{a} = {0} if {0} <= {1} else {1}",
    # strings: their characters are bytes, which makes a difference beyond ASCII
    "aten::len.str": "{a} = len({0}) if {0}.isascii() else {o}({all})",
    "aten::__getitem__.str": "{a} = {0}[{1}] if {0}.isascii() else {o}({all})",
    "aten::add.str": "{a} = {0} + {1} if {0}.isascii() and {1}.isascii() else {o}({all})",
    # lists and dicts
    "aten::__getitem__.t": "{a} = {0}[{1}]",
    "aten::_set_item.t": "{0}[{1}] = {2}",
    **{f"aten::__contains__.{key}": "{a} = {1} in {0}" for key in _KEYS},
    **{f"aten::__getitem__.Dict_{key}": "{a} = {0}[{1}]" for key in _KEYS},
    **{f"aten::_set_item.{key}": "{0}[{1}] = {2}" for key in _KEYS},
    # tensors: under the condition, this is what the operator's forward does
    "aten::size.int": "{a} = {0}.shape[{1}]",
    "aten::select.int": (
        "{a} = {0}[{2}] if {0}.ndim > 1 else {0}[{2}, ...] if type({0}) is ndarray else {o}({all})"
    ),
    "aten::add.Tensor": "{a} = {0} + {1} if {0}.dtype is {1}.dtype and {0}.ndim else {o}({all})",
    "aten::mul.Tensor": "{a} = {0} * {1} if {0}.dtype is {1}.dtype and {0}.ndim else {o}({all})",
    "aten::sub.Tensor": "{a} = {0} - {1}" + _BOTH_FLOAT32,
    "aten::div.Tensor": "{a} = {0} / {1}" + _BOTH_FLOAT32,
    "aten::eq.Tensor": "{a} = {0} == {1}" + _BOTH_FLOAT32,
    "aten::ne.Tensor": "{a} = {0} != {1}" + _BOTH_FLOAT32,
    "aten::lt.Tensor": "{a} = {0} < {1}" + _BOTH_FLOAT32,
    "aten::le.Tensor": "{a} = {0} <= {1}" + _BOTH_FLOAT32,
    "aten::gt.Tensor": "{a} = {0} > {1}" + _BOTH_FLOAT32,
    "aten::ge.Tensor": "{a} = {0} >= {1}" + _BOTH_FLOAT32,
    "aten::eq.Scalar": "{a} = {0} == {k}" + _ON_FLOAT32,
    "aten::ne.Scalar": "{a} = {0} != {k}" + _ON_FLOAT32,
    "aten::lt.Scalar": "{a} = {0} < {k}" + _ON_FLOAT32,
    "aten::le.Scalar": "{a} = {0} <= {k}" + _ON_FLOAT32,
    "aten::gt.Scalar": "{a} = {0} > {k}" + _ON_FLOAT32,
    "aten::ge.Scalar": "{a} = {0} >= {k}" + _ON_FLOAT32,
    "aten::add.Scalar": "{a} = {0} + {k}" + _ON_FLOAT32,
    "aten::sub.Scalar": "{a} = {0} - {k}" + _ON_FLOAT32,
    "aten::rsub.Scalar": "{a} = {k} - {0}" + _ON_FLOAT32,
    "aten::mul.Scalar": "{a} = {0} * {k}" + _ON_FLOAT32,
    "aten::div.Scalar": "{a} = {0} / {k}" + _ON_FLOAT32,
    "aten::neg": "{a} = -{0}" + _ON_FLOAT32,
    "aten::relu": "{a} = maximum(zero, {0})" + _ON_FLOAT32,
    "aten::item": (
        "{a} = {0}.item() if ({0}.dtype is float32 or {0}.dtype is int64) and {0}.size == 1 "
        "else {o}({all})"
    ),
    "aten::Int.Tensor": (
        "{a} = {0}.item() if {0}.dtype is int64 and {0}.size == 1 else {o}({all})"
    ),
    "aten::Float.Tensor": (
        "{a} = {0}.item() if {0}.dtype is float32 and {0}.size == 1 else {o}({all})"
    ),
    "aten::Bool.Tensor": (
        "{a} = {0}.item() if {0}.dtype is bool_ and {0}.size == 1 else {o}({all})"
    ),
    "aten::tanh": "{a} = tanh({0})" + _ON_FLOAT32,
    "aten::t": "{a} = {0}.T if {0}.ndim == 2 and type({0}) is ndarray else {o}({all})",
    "aten::mm": (
        "{a} = " + _DOT + " if {0}.dtype is float32 is {1}.dtype and {1}.ndim == {0}.ndim == 2 "
        "else {o}({all})"
    ),
    "aten::matmul": (
        "{a} = " + _DOT + " if {0}.dtype is float32 is {1}.dtype and {1}.ndim == 2 and "
        "0 < {0}.ndim < 3 else {o}({all})"
    ),
}
"""Operators written out; where a line raises, the operator's forward would have raised too, and
its error is the one that is told (`errors` asks it).

`{0}`, `{1}` ... are the operands, `{all}` all of them, `{o}` is the operator itself; `{k}` is
operand 1, a constant number, as a float32 array.
"""

_ELEMENTS = " if type({0}) is ndarray and {0}.size else {o}({all})"
_DIMS = " if type({0}) is ndarray and {0}.size and {0}.ndim > "

SHORT = "a whole number of up to 18 digits"

SHAPED: dict[str, tuple[tuple[dict[int, str], str], ...]] = {
    "aten::remainder.int": (
        ({1: SHORT}, "{a} = {0} % {1}"),
        ({}, f"{{a}} = {{0}} % {{1}} if {-(2**62)} <= {{1}} <= {2**62} else {{o}}({{all}})"),
    ),
    "aten::unsqueeze": (
        ({1: "0"}, "{a} = {0}[None]" + _ELEMENTS),
        ({1: "1"}, "{a} = {0}[:, None]" + _DIMS + "0 else {o}({all})"),
        ({1: "(-1)"}, "{a} = {0}[..., None]" + _ELEMENTS),
    ),
    "aten::select.int": (
        ({1: "1"}, "{a} = {0}[:, {2}]" + _DIMS + "1 else {o}({all})"),
        ({1: "(-1)"}, "{a} = {0}[..., {2}]" + _DIMS + "0 else {o}({all})"),
    ),
    "aten::slice.Tensor": (
        ({1: "0", 4: "1"}, "{a} = {0}[{2}:{3}]" + _DIMS + "0 else {o}({all})"),
        ({1: "1", 4: "1"}, "{a} = {0}[:, {2}:{3}]" + _DIMS + "1 else {o}({all})"),
        ({1: "(-1)", 4: "1"}, "{a} = {0}[..., {2}:{3}]" + _DIMS + "0 else {o}({all})"),
    ),
    "aten::__derive_index": (
        ({1: "0", 2: "1"}, "{a} = {0}"),
        ({2: "1"}, "{a} = {1} + {0}"),
    ),
}
"""Operators written out where certain operands are certain constants, or `SHORT` ones: those, and
the line."""

_KERNELS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
_ARITHMETIC = (
    *("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor"),
    *("add.Scalar", "sub.Scalar", "mul.Scalar", "div.Scalar"),
)


def _over_operand(template: str) -> str:
    """The template of arithmetic whose result takes the register of the first operand."""
    before, _, after = template.partition(" = ")
    expression, condition, rest = after.partition(" if ")
    first, sign, second = expression.split()
    call = f"reuse({_KERNELS[sign]}, {first}, {second})"
    return f"{before} = ({expression} if {{0}}.size < {LARGE} else {call}){condition}{rest}"


OVER_OPERAND = {f"aten::{name}": _over_operand(OPERATORS[f"aten::{name}"]) for name in _ARITHMETIC}
"""Operators that may write over an operand which is not needed any more (see `reuse`)."""

TYPED = {
    ("aten::Float.Scalar", "int"): "{a} = float({0})",
    ("aten::Float.Scalar", "float"): "{a} = {0}",
    ("aten::Int.Scalar", "int"): "{a} = {0}",
    ("aten::Int.Scalar", "Scalar"): "{a} = {0} if type({0}) is int else {o}({0})",
    ("aten::Float.Scalar", "Scalar"): "{a} = {0} if type({0}) is float else {o}({0})",
}
"""Operators written out for a first operand of a certain type."""

UNITS = {
    "aten::select.int": (1, "0"),
    "aten::add.Tensor": (2, "1"),
    "aten::sub.Tensor": (2, "1"),
    "aten::rsub.Scalar": (2, "1"),
    "aten::add.Scalar": (2, "1"),
    "aten::sub.Scalar": (2, "1"),
}
"""Operators that are written out only if an operand is a certain constant: `alpha` is 1."""

WRAPPING = frozenset({"aten::floordiv.int", "aten::neg.int"})
"""Operators whose result may need wrapping."""
