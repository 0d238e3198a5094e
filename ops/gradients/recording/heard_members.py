"""Members of tensors by operators that modes see, where the members themselves take short ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...eager.dispatch import eager_function
from ...eager.methods import sign_methods
from ...tensors.tape_port import tape
from ...tensors.tensor import Tensor

__all__ = ["MEMBERS"]


def _get_item(self: Tensor, key: object) -> Tensor:
    return tape().get_item(self, key)


def _set_item(self: Tensor, key: object, value: object) -> None:
    tape().set_item(self, key, value)


def _transposed(name: str) -> Callable[[Tensor], object]:
    return lambda self: eager_function(f"aten::{name}")(self)


def _number(name: str) -> Callable[[Tensor], object]:
    """A member that reads the one element: for modes that is an operator of its own."""
    plain = getattr(Tensor, name)

    def method(self: Tensor) -> object:
        if self.numel() == 1:
            eager_function("aten::_local_scalar_dense")(self)
        return plain(self)

    return method


MEMBERS: Final[dict[str, Callable[..., Any]]] = {
    **dict(sign_methods(fast=False)),
    "__getitem__": _get_item,
    "__setitem__": _set_item,
    "T": _transposed("numpy_T"),
    "mT": _transposed("mT"),
    **{name: _number(name) for name in ("item", "__bool__", "__int__", "__float__")},
}
"""The members, by name."""
