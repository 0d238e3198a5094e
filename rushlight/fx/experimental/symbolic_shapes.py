"""`torch.fx.experimental.symbolic_shapes`: questions about sizes, which are numbers here.

What asks whether a size is left open is answered for numbers; what makes such sizes is refused.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...module_names import names_of
from ...ops.tensors.tensor import Tensor
from ...utils._ordered_set import OrderedSet

__all__ = [
    "GuardOnDataDependentSymNode",
    "expect_true",
    "free_symbols",
    "free_unbacked_symbols",
    "guard_bool",
    "guard_float",
    "guard_int",
    "guard_or_false",
    "guard_or_true",
    "guard_scalar",
    "guard_size_oblivious",
    "guarding_hint_or_throw",
    "has_free_symbols",
    "has_free_unbacked_symbols",
    "has_static_value",
    "has_symbolic_sizes_strides",
    "is_concrete_bool",
    "is_concrete_float",
    "is_concrete_int",
    "is_nested_int",
    "is_symbolic",
    "optimization_hint",
    "statically_known_false",
    "statically_known_true",
    "sym_and",
    "sym_eq",
    "sym_or",
]

__getattr__ = names_of(__name__)


class GuardOnDataDependentSymNode(RuntimeError):
    """Where a size that data decide is asked for; sizes are numbers here, so nothing raises it."""

    def __init__(self, cond: object, *args: object) -> None:
        super().__init__(*args)
        self.cond = cond


def _known(value: object, *kinds: type, said: str = "") -> Any:
    """The value itself, whose class must be one of the kinds.

    Raises:
        AssertionError: It is not.
    """
    if type(value) not in kinds:
        raise AssertionError(f"Expected {said or kinds[0].__name__}, got {type(value)}")
    return value


def _exactly(value: object, kind: type) -> Any:
    """The value itself, which must be of the class.

    Raises:
        AssertionError: It is not.
    """
    if type(value) is not kind:
        raise AssertionError(f"Expected {kind.__name__}, got {value}")
    return value


def guard_bool(a: bool) -> bool:
    """The truth itself."""
    return bool(_exactly(a, bool))


def guard_int(a: int) -> int:
    """The number itself."""
    return int(_exactly(a, int))


def guard_float(a: float) -> float:
    """The number itself."""
    return float(_exactly(a, float))


def guard_scalar(a: bool | int | float) -> bool | int | float:
    """The number itself.

    Raises:
        AssertionError: It is none.
    """
    if not isinstance(a, (bool, int, float)):
        raise AssertionError(f"unrecognized scalar {a}")
    return a


def expect_true(a: bool, skip: int = 0) -> bool:
    """The truth itself."""
    del skip
    return bool(_exactly(a, bool))


def guard_or_false(a: bool) -> bool:
    """The truth itself, which is known."""
    return bool(_known(a, bool))


def guard_or_true(a: bool) -> bool:
    """The truth itself, which is known."""
    return bool(_known(a, bool))


def guard_size_oblivious(expr: bool) -> bool:
    """The truth itself, which is known."""
    warnings.warn(
        "guard_size_oblivious will be removed. Consider using explicit unbacked handling "
        "    potentially utilizing guard_or_false, guard_or_true, or statically_known_true",
        FutureWarning,
        stacklevel=2,
    )
    return bool(_known(expr, bool))


def statically_known_true(x: bool) -> bool:
    """Whether it is so."""
    return bool(_known(x, bool))


def statically_known_false(x: bool) -> bool:
    """Whether it is not so."""
    return not _known(x, bool)


def optimization_hint(a: int, fallback: int | None = None) -> int:
    """The number itself."""
    del fallback
    return int(_known(a, int))


def guarding_hint_or_throw(a: int | bool) -> int | bool:
    """The number or the truth itself."""
    found: int | bool = _known(a, int, bool)
    return found


def is_concrete_bool(a: bool) -> bool:
    """Whether a truth is known: each is."""
    _known(a, bool, said="SymBool or bool")
    return True


def is_concrete_int(a: int) -> bool:
    """Whether a number is known: each is."""
    _known(a, int, bool, said="SymInt or int")
    return True


def is_concrete_float(a: float) -> bool:
    """Whether a number is known: each is."""
    _known(a, float, said="SymFloat or float")
    return True


def has_static_value(a: bool | int | float) -> bool:
    """Whether a number is known: each is."""
    _known(a, bool, int, float, said="BoolLike/FloatLike/IntLike")
    return True


def is_symbolic(val: bool | int | float) -> bool:
    """Whether a number is left open: none is.

    Raises:
        AttributeError: It is no number.
    """
    if not isinstance(val, (bool, int, float)):
        raise AttributeError(f"'{type(val).__name__}' object has no attribute 'node'")
    return False


def is_nested_int(s: int | float) -> bool:
    """Whether a size stands for those of a nested tensor's parts: none does."""
    del s
    return False


def free_symbols(val: object) -> OrderedSet[Any]:
    """What is left open in a value: nothing."""
    del val
    return OrderedSet()


def free_unbacked_symbols(x: object) -> OrderedSet[Any]:
    """What data decide in a value's sizes: nothing."""
    del x
    return OrderedSet()


def has_free_symbols(val: object) -> bool:
    """Whether anything is left open in a value: nothing is."""
    del val
    return False


def has_free_unbacked_symbols(x: object) -> bool:
    """Whether data decide anything in a value's sizes: they do not."""
    del x
    return False


def has_symbolic_sizes_strides(elem: object) -> bool:
    """Whether sizes of a tensor are left open: none are.

    Raises:
        AttributeError: It is no tensor.
    """
    if not isinstance(elem, Tensor):
        name = type(elem).__name__
        raise AttributeError(f"'{name}' object has no attribute '_has_symbolic_sizes_strides'")
    return False


def sym_and(x: Any, *others: Any) -> Any:
    """What is so if all are."""
    for other in others:
        x = x & other
    return x


def sym_or(x: Any, *others: Any) -> Any:
    """What is so if one is."""
    for other in others:
        x = x | other
    return x


def sym_eq(x: Any, y: Any) -> bool:
    """Whether two numbers are equal, or two lists of them.

    Raises:
        AssertionError: One is a number and the other none.
    """
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        return len(x) == len(y) and all(map(sym_eq, x, y))
    if isinstance(x, int) and isinstance(y, int):
        return x == y
    raise AssertionError(f"unexpected sym_eq between {type(x)} {type(y)}")
