"""`torch.utils._python_dispatch`: modes that see every operator, below gradients.

A mode sees the operators that eager calls, and the formulas of gradients, come down to, each as an
overload of `torch.ops`; what scripted code runs it does not see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NoReturn, Self

from ..ops.dispatching.modes import modes

__all__ = [
    *("TorchDispatchMode", "is_traceable_wrapper_subclass"),
    *("is_traceable_wrapper_subclass_type", "return_and_correct_aliasing", "transform_subclass"),
]


class TorchDispatchMode:
    """A block in which `__torch_dispatch__` of this object is called in the place of operators.

    While it answers the mode is left, and no gradients are recorded, so it can call `func` itself.
    """

    def __init__(self, _dispatch_key: object = None) -> None:
        del _dispatch_key

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[object, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        """What an operator, an overload such as `torch.ops.aten.add.Tensor`, gives.

        Raises:
            NotImplementedError: always; subclasses say it.
        """
        raise NotImplementedError

    def __enter__(self) -> Self:
        modes.push(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        modes.pop()

    @classmethod
    def push(cls, *args: object, **kwargs: object) -> Self:
        """A mode of this class."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether it belongs to torch itself."""
        return False


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether a value is a tensor made of others by `__torch_dispatch__`: never."""
    del t
    return False


is_traceable_wrapper_subclass_type = is_traceable_wrapper_subclass


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The mode that is asked first; None outside of all."""
    return modes.stack[-1] if modes.stack else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """The modes that are entered, the last one last."""
    return list(modes.stack)


@contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """A block without modes; gives those that were entered."""
    with modes.apart(len(modes.stack)) as kept:
        yield kept


@contextmanager
def _pop_mode_temporarily(k: object = None) -> Iterator[TorchDispatchMode]:
    """A block without the last mode, which it gives."""
    del k
    with modes.apart() as (mode,):
        yield mode


def return_and_correct_aliasing(func: object, args: object, kwargs: object, out: object) -> Any:
    """The result itself: what is a view of what is seen to by operators."""
    del func, args, kwargs
    return out


def transform_subclass(t: object, callback: object, **options: object) -> NoReturn:
    """Change the parts of a wrapper, which no tensor is.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("rushlight has no tensors made by __torch_dispatch__")
