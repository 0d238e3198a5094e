"""`torch.utils._python_dispatch`: modes that see every operator, below gradients, and what classes
with a `__torch_dispatch__` use.

A mode sees the operators that eager calls, scripts and the formulas of gradients come down to, each
as an overload of `torch.ops`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from ..ops.dispatching.modes import modes
from ..ops.tensors.tensor import Tensor

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
        func: Callable[..., object],
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
    """Whether a value is a tensor of a subclass that tells what it is made of, and is made anew of
    that: by `__tensor_flatten__` and `__tensor_unflatten__`."""
    return isinstance(t, Tensor) and is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether a class is one of such tensors."""
    is_own = issubclass(t, Tensor) and t is not Tensor
    return is_own and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


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


def return_and_correct_aliasing(
    func: Any, args: Sequence[object], kwargs: Mapping[str, object] | None, out: Any
) -> Any:
    """What a class gives for an operator: what the operator writes, if it does, else the result.

    Wrappers share no memory by themselves, so views need nothing else.

    Args:
        func: the overload that the class was asked for.
        args: its arguments by place.
        kwargs: its arguments by name.
        out: what was found for it.
    """
    entry = func.entry
    given = dict(zip((a.name for a in entry.signature.arguments), args, strict=False))
    given |= kwargs or {}
    written = {
        argument.alias.sets: given.get(argument.name)
        for argument in entry.signature.arguments
        if argument.alias is not None and argument.alias.is_write
    }
    results = [each.alias and written.get(each.alias.sets) for each in entry.signature.returns]
    if len(results) == 1:
        return out if results[0] is None else results[0]
    if not any(each is not None for each in results):
        return out
    return type(out)(
        own if own is not None else made for own, made in zip(results, out, strict=True)
    )


def transform_subclass(
    t: Any,
    callback: Callable[[str, Tensor], object],
    outer_size: Sequence[int] | None = None,
    outer_stride: Sequence[int] | None = None,
) -> Any:
    """A wrapper with what `callback` makes of each tensor that it is made of, by name.

    Args:
        t: a tensor whose class has `__tensor_flatten__` and `__tensor_unflatten__`.
        callback: called with the name and the value.
        outer_size: the sizes of the new wrapper; those of the given one if there are none.
        outer_stride: its strides.

    Raises:
        AssertionError: the class has made one of other sizes.
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(parts, context, size, stride)
    for told, wanted, found in (("size", size, made.size()), ("stride", stride, made.stride())):
        if tuple(wanted) != tuple(found):
            raise AssertionError(f"Expected {type(made).__name__} to have {told} {tuple(wanted)}")
    return made
