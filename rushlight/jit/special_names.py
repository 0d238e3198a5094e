"""Functions and classes of the public face that script knows in terms of its own."""

from __future__ import annotations

from typing import Any

from ..ops.tensors.overriding import handle_torch_function, has_torch_function
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.names import OperatorName
from .resolver import register_special

__all__ = ["_assert", "unwrap_optional"]


def _assert_tensor(condition: Tensor, message: str) -> None:
    assert condition, message


def _assert_int(condition: int, message: str) -> None:
    assert condition, message


def _assert_bool(condition: bool, message: str) -> None:
    assert condition, message


def _assert(condition: object, message: str) -> None:
    """`assert` as a function."""
    if type(condition) not in (bool, Tensor) and has_torch_function((condition,)):
        handle_torch_function(_assert, (condition,), condition, message)
        return
    assert condition, message


_assert._in_script = (_assert_tensor, _assert_bool, _assert_int)  # type: ignore[attr-defined]


def unwrap_optional(x: object) -> Any:
    """The value, which must not be None.

    Raises:
        AssertionError: it is None.
    """
    assert x is not None, "Unwrapping null optional"
    return x


register_special(Size, OperatorName("aten::Size"))
register_special(unwrap_optional, OperatorName("aten::_unwrap_optional"))
