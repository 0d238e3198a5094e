"""`torch.utils._python_dispatch`: catching operators below gradients, which is not supported.

Operators run on NumPy arrays here; there is no second dispatch that could be caught.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

__all__ = [
    *("TorchDispatchMode", "is_traceable_wrapper_subclass"),
    *("is_traceable_wrapper_subclass_type", "return_and_correct_aliasing", "transform_subclass"),
]


class TorchDispatchMode:
    """The base of classes whose `__torch_dispatch__` would see each operator.

    They can be defined and made; entering one raises NotImplementedError.
    """

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__qualname__}: rushlight has no __torch_dispatch__; operators cannot be "
            "caught so"
        )

    def __exit__(self, *raised: object) -> None:
        return None

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether it belongs to torch itself."""
        return False


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether a value is a tensor made of others by `__torch_dispatch__`: never."""
    del t
    return False


is_traceable_wrapper_subclass_type = is_traceable_wrapper_subclass


def _get_current_dispatch_mode() -> None:
    """The innermost mode, of which there are none."""


def _get_current_dispatch_mode_stack() -> list[Any]:
    """All modes, of which there are none."""
    return []


@contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """A block without modes."""
    yield []


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """The result itself: what is a view of what is seen to by operators."""
    del func, args, kwargs
    return out


def transform_subclass(t: Any, callback: Any, **options: object) -> NoReturn:
    """Change the parts of a wrapper, which no tensor is.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("rushlight has no tensors made by __torch_dispatch__")
