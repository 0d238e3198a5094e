"""How operators are written out: in plans, in place of a call, and in native code.

    @operator(
        "aten::neg.int(int a) -> int",
        inline=inline("-{0}", wraps=True),
        native=native("-{0}"),
    )
    def neg_int(a: int) -> int:
        return wrap64(-a)

A form stands for the forward where its conditions hold, and gives the same bits there.  Where its
text raises, the forward raises too, and the forward's error is the one that is told.  An operator
may have several, tried in their order; they are added: `inline(...) + inline(...)`.

In texts `{0}`, `{1}` ... are the operands.  `tests/interpreter/test_written_out.py` compares every
form with its forward.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from ..kernels import LARGE
from ..memory.dtype import Array

__all__ = [
    "BOTH_FLOAT32",
    "NAMES",
    "ON_FLOAT32",
    "ORDINARY",
    "SHORT",
    "STORED_ALIKE",
    "Inline",
    "Native",
    "inline",
    "inline_kernel",
    "into_first",
    "is_constant",
    "native",
    "small",
    "small_with_number",
]

NAMES: Final[Mapping[str, object]] = MappingProxyType(
    {
        **{"type": type, "len": len, "ndarray": np.ndarray},
        **{each.__name__: each for each in (int, float, bool, str, complex)},
        **{name: np.dtype(name) for name in ("float32", "int64")},
        "bool_": np.dtype(np.bool_),
    }
)
"""What every text for plans may name."""

ORDINARY: Final = "type({0}) is ndarray"
ON_FLOAT32: Final = "{0}.dtype is float32 and {0}.ndim"
STORED_ALIKE: Final = (
    "{0}.ndim and ({0}.flags.c_contiguous and {1}.flags.c_contiguous or {0}.strides == {1}.strides)"
)
BOTH_FLOAT32: Final = f"{{0}}.dtype is float32 is {{1}}.dtype and {STORED_ALIKE}"
"""Conditions on operands that are arrays; results of those `STORED_ALIKE` lie as torch's do."""

_NOTHING: Final[Mapping[int, str]] = MappingProxyType({})
_NO_NAMES: Final[Mapping[str, object]] = MappingProxyType({})


SHORT: Final = "a whole number of up to 18 digits"
"""Any such constant, where the text of one is wanted."""


def is_constant(text: str, wanted: str) -> bool:
    """Whether an operand's text is that of a constant, or of any `SHORT` one."""
    return text == wanted or (wanted is SHORT and text.strip("(-)").isdigit() and len(text) <= 18)


class Inline(NamedTuple):
    """An expression of Python that stands for a call of the forward in a plan.

    It stands there if the operands at the places `at` are the constants written there, or `SHORT`,
    all operands are of the types `of` (as their texts, with blanks between; empty for any), and,
    looked at in each run, `given` holds.  `{k}` in the text is operand 1, which must be a constant
    number, as an array of float32; `{p}` is what the forward calls for ordinary arrays, `{all}` all
    operands.

    The result of one that `wraps` may be beyond 64 bits, and is taken back into them.  One that
    `writes` is a statement, for where the result is not used.  `over` is the function of NumPy that
    the text comes to, if its result may take the memory of operand 0.  `names` are what the text
    names beside `NAMES`; a name means the same in all forms.
    """

    text: str
    given: str
    at: Mapping[int, str]
    of: str
    wraps: bool
    writes: bool
    over: np.ufunc | None
    names: Mapping[str, object]


def inline(
    text: str,
    given: str = "",
    *,
    at: Mapping[int, str] = _NOTHING,
    of: str = "",
    wraps: bool = False,
    writes: bool = False,
    over: np.ufunc | None = None,
    names: Mapping[str, object] = _NO_NAMES,
) -> tuple[Inline, ...]:
    """One form for plans: see `Inline`."""
    return (Inline(text, given, at, of, wraps, writes, over, names),)


def inline_kernel(name: str, kernel: Callable[[Array], object]) -> tuple[Inline, ...]:
    """The form of an operator that is nothing but a kernel for arrays of float32 with dimensions;
    `name` is the operator's own."""
    called, forms = f"kernel_{name}", tuple[Inline, ...]()
    for_small = getattr(kernel, "for_small", None)
    if for_small is not None:
        given = f"{ON_FLOAT32} and {{0}}.size < {LARGE}"
        forms = inline(f"small_{name}({{0}})", given, names={f"small_{name}": for_small})
    return forms + inline(f"{called}({{0}})", ON_FLOAT32, names={called: kernel})


class Native(NamedTuple):
    """An expression that stands for the operator in native code.

    It is in the small language that native code is written in, and may call what the library of
    native code has, and functions of the C library as `m_<name>`.  Whole numbers have 64 bits
    there, floats too; nothing is checked by itself.  It stands there for operands as the schema has
    them; where that does not say enough (`Scalar`), `of` are the types of the operands, one text
    for each combination.  The constants `at`, and `{all}`, are as in `Inline`.

    The conditions `given` must hold before and `then` after, where `{result}` is the result; where
    one does not, the plan does the whole call again.  One that `writes` is a statement; one that
    `orders` compares the elements of its first operand.  Where the schema says that it gives a
    tensor or any number, it `gives` a truth value, or a tensor (`array`) whose number nobody has
    read yet, or one that is `made` here, or the `written` one, which has few numbers; what the
    program itself says (`told`) is called `{kind}`.
    """

    text: str
    given: Sequence[str]
    then: str
    at: Mapping[int, str]
    of: Sequence[str]
    writes: bool
    orders: bool
    gives: str


def native(
    text: str,
    given: Sequence[str] = (),
    *,
    then: str = "",
    at: Mapping[int, str] = _NOTHING,
    of: Sequence[str] = (),
    writes: bool = False,
    orders: bool = False,
    gives: str = "",
) -> tuple[Native, ...]:
    """One form for native code: see `Native`."""
    return (Native(text, given, then, at, of, writes, orders, gives),)


def small(how: str, operands: int = 2, at: Mapping[int, str] = _NOTHING) -> tuple[Native, ...]:
    """What native code does with the numbers of one tensor, or of two, one by one, if they are few:
    an operation of `library/small.native`; the constants `at` behind them are whole numbers."""
    rest = ", ".join(f"{{{place}}}" for place in range(operands))
    text = f'small_{"one" if operands == 1 else "both"}(known("{how}"), {rest})'
    of = (f"{'array ' * operands}{'int ' * len(at)}".strip(),)
    return native(text, at=at, of=of, gives="made")


def small_with_number(how: str, at: Mapping[int, str] = _NOTHING) -> tuple[Native, ...]:
    """The same of a tensor and a number, the constants `at` behind them being whole numbers."""
    rest = " int" * len(at)
    of = (f"array int{rest}", f"array float{rest}")
    return native(f'small_with(known("{how}"), {{0}}, {{1}})', at=at, of=of, gives="made")


def into_first(forms: Sequence[Native]) -> tuple[Native, ...]:
    """What stands for the in-place twin of an operator whose forms make tensors of few numbers:
    these are written to the first operand."""
    return tuple(
        form._replace(text=f"array_copy({{0}}, {form.text})", gives="written")
        for form in forms
        if form.gives == "made"
    )
