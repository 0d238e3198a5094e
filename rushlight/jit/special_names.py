"""Functions and classes of the public face that script knows in terms of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.dispatch import eager_function
from ..ops.namespace import tensordot
from ..ops.tensor import Size, Tensor
from ..typecheck.names import OperatorName
from .resolver import register_special

__all__ = ["_assert", "unwrap_optional"]


def _assert_tensor(condition: Tensor, message: str) -> None:
    assert condition, message


def _assert_int(condition: int, message: str) -> None:
    assert condition, message


def _assert_bool(condition: bool, message: str) -> None:
    assert condition, message


def _assert(condition: Any, message: str) -> None:
    """`assert` as a function."""
    assert condition, message


_assert._in_script = (_assert_tensor, _assert_bool, _assert_int)  # type: ignore[attr-defined]


def _tensordot_numbers(a: Tensor, b: Tensor, dims: int = 2) -> Tensor:
    return _tensordot(a, b, list(range(-dims, 0)), list(range(dims)))


def _tensordot_pair(a: Tensor, b: Tensor, dims: tuple[list[int], list[int]]) -> Tensor:
    return _tensordot(a, b, dims[0], dims[1])


def _tensordot_lists(a: Tensor, b: Tensor, dims: list[list[int]]) -> Tensor:
    return _tensordot(a, b, dims[0], dims[1])


def _tensordot_tensor(a: Tensor, b: Tensor, dims: Tensor) -> Tensor:
    if dims.numel() == 1:
        return _tensordot_numbers(a, b, int(dims.item()))
    first: list[int] = dims[0].tolist()
    second: list[int] = dims[1].tolist()
    return _tensordot(a, b, first, second)


_tensordot: Callable[..., Tensor] = eager_function("aten::tensordot")
tensordot._in_script = (  # type: ignore[attr-defined]
    *(_tensordot_tensor, _tensordot_numbers, _tensordot_pair, _tensordot_lists),
)


def unwrap_optional(x: Any) -> Any:
    """The value, which must not be None.

    Raises:
        AssertionError: it is None.
    """
    assert x is not None, "Unwrapping null optional"
    return x


register_special(Size, OperatorName("aten::Size"))
register_special(unwrap_optional, OperatorName("aten::_unwrap_optional"))
